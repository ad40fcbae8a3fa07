"""What layers share: outputs that are collected under a name, sizes, and conditions that may be constants."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tideflow.export import export, expose
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import add_to_collections, get_collection, get_collection_ref
from tideflow.graph.shapes import TensorShape
from tideflow.graph.typing import TensorLike
from tideflow.ops.control_flow import conditionals
from tideflow.variables.base import Variable

NCHW, NHWC, NCDHW, NDHWC = "NCHW", "NHWC", "NCDHW", "NDHWC"

expose(conditionals.smart_cond, "contrib.layers.utils.smart_cond")


@export("contrib.layers.utils.constant_value")
def constant_value(pred: Variable | TensorLike) -> bool | None:
    """Whether a condition is true, where that is known without running a step.

    Args:
      pred: A variable, a bool tensor, a Python bool, 0 or 1.

    Returns:
      A Python bool; None for a variable, and for a tensor that is not a constant.

    Raises:
      TypeError: If `pred` is something else.
    """
    return None if isinstance(pred, Variable) else conditionals.smart_constant_value(pred)


@export("contrib.layers.utils.collect_named_outputs")
def collect_named_outputs(collections: str | Sequence[str] | None, alias: str, outputs: Tensor) -> Tensor:
    """Adds outputs to collections under a name.

    Args:
      collections: The collections; none if None.
      alias: The name by which the outputs go there.
      outputs: The outputs.

    Returns:
      The outputs.
    """
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(collections, outputs)
    return outputs


@export("contrib.layers.utils.append_tensor_alias")
def append_tensor_alias(tensor: Tensor, alias: str) -> Tensor:
    """Gives a tensor one name more.

    Args:
      tensor: The tensor.
      alias: The name.

    Returns:
      The tensor.
    """
    tensor.aliases = [*getattr(tensor, "aliases", ()), alias.removesuffix("/")]
    return tensor


@export("contrib.layers.utils.get_tensor_aliases")
def get_tensor_aliases(tensor: Tensor) -> list[str]:
    """Finds the names by which a tensor goes.

    Args:
      tensor: The tensor.

    Returns:
      Its aliases or, without any, its own name.
    """
    return getattr(tensor, "aliases", None) or [tensor.name.removesuffix(":0")]


@export("contrib.layers.utils.gather_tensors_aliases")
def gather_tensors_aliases(tensors: Sequence[Tensor]) -> list[str]:
    """Finds all names of all tensors.

    Args:
      tensors: The tensors.

    Returns:
      A list of names.
    """
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


@export("contrib.layers.utils.convert_collection_to_dict")
def convert_collection_to_dict(collection: str, clear_collection: bool = False) -> OrderedDict[str, Tensor]:
    """Finds what a collection holds, by alias.

    Args:
      collection: The collection.
      clear_collection: Whether the collection is emptied.

    Returns:
      A dictionary from names to tensors.
    """
    found = OrderedDict(
        (a, tensor) for tensor in get_collection(collection) for a in get_tensor_aliases(tensor)
    )
    if clear_collection:
        get_collection_ref(collection).clear()
    return found


@export("contrib.layers.utils.static_cond")
def static_cond(pred: bool, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """Calls one of two functions.

    Args:
      pred: Whether the first one is called.
      fn1: A function without arguments.
      fn2: Another one.

    Returns:
      What the function returns.

    Raises:
      TypeError: If one of them is no function.
    """
    for name, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return fn1() if pred else fn2()


@export("contrib.layers.utils.get_variable_collections")
def get_variable_collections(
    variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None, name: str
) -> Any:
    """Finds the collections for one of a layer's variables: those of its name, or the same for all.

    Args:
      variables_collections: Collections that the variables are added to, or a dictionary of them by the
        variable's name.
      name: The name of the variable.

    Returns:
      The collections.
    """
    if isinstance(variables_collections, Mapping):
        return variables_collections.get(name)
    return variables_collections


@export("contrib.layers.utils.channel_dimension")
def channel_dimension(shape: TensorShape, data_format: str, min_rank: int = 1) -> int:
    """Finds the number of channels.

    Args:
      shape: The shape of the inputs.
      data_format: `"channels_first"` or `"channels_last"`.
      min_rank: The rank that the shape has at least.

    Returns:
      The number of channels.

    Raises:
      ValueError: If it is not known, or the rank is too small.
    """
    return _known_size(shape, 1 if data_format == "channels_first" else -1, min_rank)


@export("contrib.layers.utils.last_dimension")
def last_dimension(shape: TensorShape, min_rank: int = 1) -> int:
    """Finds the size of the last axis.

    Args:
      shape: The shape.
      min_rank: The rank that the shape has at least.

    Returns:
      The size of the last axis.

    Raises:
      ValueError: If it is not known, or the rank is too small.
    """
    return _known_size(shape, -1, min_rank)


def _known_size(shape: Any, axis: int, min_rank: int) -> int:
    if shape.ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.ndims}")
    size = shape.as_list()[axis]
    if size is None:
        raise ValueError(f"dimension {axis} of shape {shape} must be known but is None")
    return size


@export("contrib.layers.utils.two_element_tuple")
def two_element_tuple(int_or_tuple: int | Sequence[int]) -> tuple[int, int]:
    """Finds a size for each of two axes.

    Args:
      int_or_tuple: A size for both axes, or a size for each.

    Returns:
      A pair of sizes.

    Raises:
      ValueError: If there are not two.
    """
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    if isinstance(int_or_tuple, (list, tuple)) and len(int_or_tuple) != 2:
        raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
    if not isinstance(int_or_tuple, (list, tuple, TensorShape)) or len(int_or_tuple) != 2:
        raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")
    first, second = int_or_tuple
    return int(first), int(second)


@export("contrib.layers.utils.n_positive_integers")
def n_positive_integers(n: int, value: int | Sequence[int]) -> tuple[int, ...]:
    """Finds a positive size for each of n axes.

    Args:
      n: The number of axes.
      value: A size for all axes, or a size for each.

    Returns:
      A tuple of n sizes.

    Raises:
      ValueError: If the sizes are not n positive integers.
    """
    if int(n) < 1 or int(n) != n:
        raise ValueError("n must be a positive integer")
    try:
        sizes = (int(value),) * n  # type: ignore[arg-type]
    except (TypeError, ValueError):
        sizes = _whole_numbers(n, value)  # type: ignore[arg-type]
    for size in sizes:
        if size < 1:
            raise ValueError(f"expected positive integer, but received {size}")
    return sizes


def _whole_numbers(n: int, values: Sequence[Any]) -> tuple[int, ...]:
    wrong = f"Expected sequence of {n} positive integers, but received {values!r}"
    if len(values) != n:
        raise ValueError(wrong)
    try:
        return tuple(int(value) for value in values)
    except (TypeError, ValueError):
        raise ValueError(wrong) from None


def check_data_format(data_format: str | None, *allowed: str) -> None:
    """ValueError unless the format is one of those."""
    if data_format not in allowed:
        raise ValueError(f"data_format has to be either {' or '.join(map(str, allowed))}.")


def layers_format(data_format: str | None) -> str:
    """The name that tf.layers has for a data format."""
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"
