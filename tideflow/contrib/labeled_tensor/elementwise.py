"""Functions of each element, and the operators of labeled tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.layout import align
from tideflow.contrib.labeled_tensor.tensors import LABELED, LabeledTensor, convert_to_labeled_tensor
from tideflow.export import export, expose

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_PLACE = "contrib.labeled_tensor"


@export(f"{_PLACE}.define_unary_op")
@checks.accepts(checks.STRING, checks.FUNCTION)
def define_unary_op(op_name: str, elementwise_function: Callable) -> Callable[..., LabeledTensor]:
    """Makes a function of labeled tensors of one of tensors.

    Args:
      op_name: The name of the function.
      elementwise_function: Called as `elementwise_function(tensor, name=scope)`; its result has the shape of
        the tensor.

    Returns:
      A function of a labeled tensor and a name, which keeps the axes.
    """

    @checks.accepts(LABELED, checks.NAME)
    def op(labeled_tensor: LabeledTensor | TensorLike, name: str | None = None) -> LabeledTensor:
        with tf.name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            result = elementwise_function(labeled_tensor.tensor, name=scope)
            return LabeledTensor(result, labeled_tensor.axes)

    op.__doc__ = f"""Computes `{op_name}` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes.
    """
    op.__name__ = op_name
    return op


@export(f"{_PLACE}.define_binary_op")
@checks.accepts(checks.STRING, checks.FUNCTION)
def define_binary_op(op_name: str, elementwise_function: Callable) -> Callable[..., LabeledTensor]:
    """Makes a function of two labeled tensors of one of two tensors.

    Args:
      op_name: The name of the function.
      elementwise_function: Called as `elementwise_function(first, second, name=scope)`; its result has the
        shape that both are broadcast to.

    Returns:
      A function of two labeled tensors and a name; its result has the axes of both.
    """

    @checks.accepts(LABELED, LABELED, checks.NAME)
    def op(
        labeled_tensor_0: LabeledTensor | TensorLike,
        labeled_tensor_1: LabeledTensor | TensorLike,
        name: str | None = None,
    ) -> LabeledTensor:
        with tf.name_scope(name, f"lt_{op_name}", [labeled_tensor_0, labeled_tensor_1]) as scope:
            first, second, axes = align(labeled_tensor_0, labeled_tensor_1)
            return LabeledTensor(elementwise_function(first.tensor, second.tensor, name=scope), axes)

    op.__doc__ = f"""Computes `{op_name}` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both.
    """
    op.__name__ = op_name
    return op


_UNARY: dict[str, Callable] = {
    "abs": tf.abs,
    "neg": tf.negative,
    "sign": tf.sign,
    "reciprocal": tf.reciprocal,
    "square": tf.square,
    "round": tf.round,
    "sqrt": tf.sqrt,
    "rsqrt": tf.rsqrt,
    "exp": tf.exp,
    "log": tf.log,
    "ceil": tf.ceil,
    "floor": tf.floor,
    "cos": tf.cos,
    "sin": tf.sin,
    "tan": tf.tan,
    "acos": tf.acos,
    "asin": tf.asin,
    "atan": tf.atan,
    "lgamma": tf.lgamma,
    "digamma": tf.digamma,
    "erf": tf.erf,
    "erfc": tf.erfc,
    "logical_not": tf.logical_not,
    "tanh": tf.tanh,
    "sigmoid": tf.sigmoid,
}

_BINARY: dict[str, Callable] = {
    "add": tf.add,
    "sub": tf.subtract,
    "mul": tf.multiply,
    "div": tf.div,
    "mod": tf.mod,
    "pow": tf.pow,
    "equal": tf.equal,
    "greater": tf.greater,
    "greater_equal": tf.greater_equal,
    "not_equal": tf.not_equal,
    "less": tf.less,
    "less_equal": tf.less_equal,
    "logical_and": tf.logical_and,
    "logical_or": tf.logical_or,
    "logical_xor": tf.logical_xor,
    "maximum": tf.maximum,
    "minimum": tf.minimum,
    "squared_difference": tf.squared_difference,
    "igamma": tf.igamma,
    "igammac": tf.igammac,
    "zeta": tf.zeta,
    "polygamma": tf.polygamma,
}

functions: dict[str, Callable[..., LabeledTensor]] = {
    **{name: define_unary_op(name, function) for name, function in _UNARY.items()},
    **{name: define_binary_op(name, function) for name, function in _BINARY.items()},
}
for _name, _function in functions.items():
    expose(_function, f"{_PLACE}.{_name}")


# Python's operators by the functions that they are; those of the second row are reflected too.
_OPERATORS = {
    "abs": "abs",
    "neg": "neg",
    "invert": "logical_not",
    "and": "logical_and",
    "or": "logical_or",
    "xor": "logical_xor",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
_REFLECTED = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "mod": "mod", "pow": "pow"}


def _reflected(function: Callable[..., LabeledTensor]) -> Callable[..., LabeledTensor]:
    return lambda self, other: function(other, self)


for _operator, _name in {**_OPERATORS, **_REFLECTED}.items():
    setattr(LabeledTensor, f"__{_operator}__", functions[_name])
for _operator, _name in _REFLECTED.items():
    setattr(LabeledTensor, f"__r{_operator}__", _reflected(functions[_name]))
