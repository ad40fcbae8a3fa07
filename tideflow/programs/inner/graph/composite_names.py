"""`tensorflow.python.framework.composite_tensor`: values that are made of several tensors."""

from __future__ import annotations

import abc
from typing import Any

from tideflow.graph import nest
from tideflow.graph.composite import IndexedSlices, SparseTensor
from tideflow.ragged.tensor import RaggedTensor


class CompositeTensor(abc.ABC):
    """A base class for values that are made of several tensors, as their `_type_spec` says."""

    @property
    @abc.abstractmethod
    def _type_spec(self) -> Any:
        """The spec of the value."""

    def _components(self) -> list[Any]:
        """The tensors, by which functions and control flow take the value."""
        return nest.flatten(self._type_spec._to_components(self))

    def _from_components(self, tensors: list[Any]) -> Any:
        """A value of the same spec, made of other tensors."""
        spec = self._type_spec
        return spec._from_components(nest.pack_sequence_as(spec._component_specs, tensors))


for kind in (IndexedSlices, RaggedTensor, SparseTensor):
    CompositeTensor.register(kind)
