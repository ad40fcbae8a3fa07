"""The calls of layers as a graph: which layer made a tensor, and from which tensors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tideflow.graph import nest
from tideflow.graph.composite import is_composite
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike


def as_tensors(inputs: Any, dtype: DTypeLike | None) -> Any:
    """A layer's inputs with tensors, of the layer's dtype where that fits, in the place of other values."""
    return nest.map_structure(
        lambda x: x if _is_given_as_it_is(x) else convert_to_tensor(x, preferred_dtype=dtype), inputs
    )


def _is_given_as_it_is(x: Any) -> bool:
    """Whether a value is no Python value or array: in eager mode, composites of tensors have no `op`."""
    return is_composite(x) or hasattr(x, "op")


class KerasHistory(NamedTuple):
    """Where a tensor comes from: an output of a call (a node) of a layer."""

    layer: Any
    node_index: int
    tensor_index: int


class Node:
    """One call of a layer: what it took and what it gave."""

    def __init__(
        self, layer: Any, inputs: Any, outputs: Any, arguments: dict[str, Any] | None = None
    ) -> None:
        self.outbound_layer = layer
        self._is_input = inputs is None
        self.input_tensors = outputs if inputs is None else inputs
        self.output_tensors = outputs
        self.arguments = arguments or {}
        histories = [tensor._keras_history for tensor in self.inputs]

        def packed(values: list[Any]) -> Any:
            return nest.pack_sequence_as(inputs, values) if nest.is_nested(inputs) else values[0]

        if inputs is None:
            self.inbound_layers = self.node_indices = self.tensor_indices = []
        else:
            self.inbound_layers = packed([history.layer for history in histories])
            self.node_indices = packed([history.node_index for history in histories])
            self.tensor_indices = packed([history.tensor_index for history in histories])
        for history in histories:
            history.layer._outbound_nodes.append(self)
        layer._inbound_nodes.append(self)

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors of the layer's first argument, in order."""
        return [] if self._is_input else nest.flatten(self.input_tensors)

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that the call gave, in order."""
        return nest.flatten(self.output_tensors)

    @property
    def sources(self) -> list[KerasHistory]:
        """Where the inputs come from."""
        return [tensor._keras_history for tensor in self.inputs]

    @property
    def input_shapes(self) -> Any:
        """The static shapes of the inputs, as tuples."""
        return nest.map_structure(static_shape, self.input_tensors)

    @property
    def output_shapes(self) -> Any:
        """The static shapes of the outputs, as tuples."""
        return nest.map_structure(static_shape, self.output_tensors)

    def serialized_arguments(self) -> dict[str, Any]:
        """The further arguments of the call, without those that JSON cannot hold."""
        kept = {}
        for name, value in self.arguments.items():
            try:
                json.dumps(value, default=_plain)
                kept[name] = value
            except TypeError:
                continue
        return kept


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} is not of a config")


def static_shape(tensor: Any) -> Any:
    """The static shape as a tuple; None where even the rank is open."""
    shape = TensorShape(tensor.shape)
    return None if shape.ndims is None else tuple(shape.as_list())


def is_keras_tensor(tensor: Any) -> bool:
    """Whether a tensor is the output of a layer that knows its inputs."""
    return getattr(tensor, "_keras_history", None) is not None


def comes_from_keras(tensors: Any) -> bool:
    """Whether one of the tensors is computed from the output of such a layer."""
    of_graph = [t for t in nest.flatten(tensors) if isinstance(t, Tensor) and not t.is_eager]
    stack, seen = list(of_graph), set()
    while stack:
        tensor = stack.pop()
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        if is_keras_tensor(tensor):
            return True
        if not getattr(tensor, "_keras_history_checked", False):
            stack += tensor.op.inputs
    for tensor in of_graph:
        tensor._keras_history_checked = True
    return False


def masks_of(inputs: Any) -> Any:
    """The masks of inputs; None where none has one."""
    masks = nest.map_structure(lambda tensor: getattr(tensor, "_keras_mask", None), inputs)
    return None if all(mask is None for mask in nest.flatten(masks)) else masks


def behind(items: list[Any], inputs: Any) -> list[Any]:
    """Of tensors and operations, those that are computed from the inputs."""
    sources = {tensor.op for tensor in nest.flatten(inputs, expand_composites=True)}
    return [item for item in items if _is_behind(item, sources)]


def _is_behind(item: Any, sources: set[Operation]) -> bool:
    """Whether a tensor or an operation is computed from the outputs of one of `sources`."""
    stack, seen = [item if isinstance(item, Operation) else item.op], set()
    while stack:
        op = stack.pop()
        if op in sources:
            return True
        if op not in seen:
            seen.add(op)
            stack += [*(tensor.op for tensor in op.inputs), *op.control_inputs]
    return False


def own_operation(output: Any) -> Any:
    """An output of a layer in the graph beside eager mode, where each is an operation of its own."""
    if type(output) is not Tensor:
        return output
    made = constants.identity(output)
    made._keras_mask = getattr(output, "_keras_mask", None)
    return made
