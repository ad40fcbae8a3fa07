"""Names that the stand-alone package keras takes from inside TensorFlow's Keras."""

from __future__ import annotations

from typing import Any

from tideflow.eager.tensor import EagerTensor
from tideflow.graph import nest
from tideflow.graph.composite import IndexedSlices, SparseTensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.layers.keras_graph import get_graph  # noqa: F401 - looked up by programs
from tideflow.ragged.tensor import RaggedTensor
from tideflow.variables.base import Variable

_TensorLike = (Tensor, SparseTensor, IndexedSlices, RaggedTensor)


_dense_tensor_likes: list[type] = [Tensor, Variable]


def is_dense_tensor_like(value: Any) -> bool:
    """Whether a value is a tensor, or a variable, which operations take like one."""
    return isinstance(value, tuple(_dense_tensor_likes))


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Says of a class that its objects stand for tensors.

    Args:
      tensor_type: The class, which has properties `name` and `dtype`.

    Raises:
      TypeError: If it lacks one of them.
    """
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{name}` property")
    _dense_tensor_likes.append(tensor_type)


def _as_graph_element(value: Any) -> Any:
    """What a session fetches for a value; None where it says nothing of that."""
    convert = getattr(value, "_as_graph_element", None)
    return None if convert is None else convert()


def get_reachable_from_inputs(inputs: Any, targets: Any = None) -> set[Any]:
    """The tensors and operations that are computed from inputs, until all targets are met."""
    wanted = set(nest.flatten(targets)) if targets is not None else None
    reached: set[Any] = set(nest.flatten(inputs))
    queue = list(reached)
    while queue and not (wanted is not None and wanted <= reached):
        item = queue.pop()
        if isinstance(item, Operation):
            found: list[Any] = list(item.outputs)
        elif isinstance(item, Tensor):
            found = list(item.consumers())
        else:
            found = []
        new = [each for each in found if each not in reached]
        reached.update(new)
        queue += new
    return reached


_symbolic_types: list[type] = [*_TensorLike, Variable]


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether a value stands for one that a graph computes."""
    if isinstance(tensor, EagerTensor):
        return False
    return isinstance(tensor, tuple(_symbolic_types))


def register_symbolic_tensor_type(cls: type) -> None:
    """Says of a class that its objects stand for values that a graph computes.

    Args:
      cls: The class.
    """
    _symbolic_types.append(cls)
