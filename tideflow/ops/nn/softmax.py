"""Softmax and the cross entropies computed together with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import bfloat16, float16, float32
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import control_dependencies, executing_eagerly, name_scope
from tideflow.graph.shapes import brackets
from tideflow.ops.arrays import creation, joining, shapes, slicing
from tideflow.ops.arrays.constants import prevent_gradient_op, stop_gradient
from tideflow.ops.helpers import cpu_functions, cpu_softmax
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import of_rank, of_rank_at_least
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.flops import per_input_element
from tideflow.ops.helpers.samples import f32, i32, i64
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST, INDICES
from tideflow.ops.linalg import matmul
from tideflow.ops.math import binary, casting, checks, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _softmax_shape(logits):
    return of_rank_at_least(logits, 1, "logits must have >= 1 dimension, got []")


def _numpy_log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(-1, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


softmax_op = Op("Softmax", "logits: T -> softmax: T", T=FLOATS_HALF_FIRST)
softmax_op.shape(_softmax_shape)


@softmax_op.kernel
def _softmax_kernel(logits):
    return cpu_softmax.softmax(logits)


@softmax_op.specialize
def _softmax_specialized(node):
    return (torch.softmax, [node.inputs[0], -1]) if cpu_softmax.never_has_short_rows(node) else None


@softmax_op.gradient
def _softmax_gradient(op, grad):
    result = op.outputs[0]
    return (grad - reductions.reduce_sum(grad * result, -1, keepdims=True)) * result


softmax_op.flops(per_input_element(5))
softmax_op.samples(
    f32(2, 3), f32(3), f32(2, 2, 4), f32(0, 3), against=lambda x: np.exp(_numpy_log_softmax(x))
)
softmax_op.refuses((f32(),), "Shape must be at least rank 1 but is rank 0")


@export("nn.softmax", "math.softmax")
def softmax(
    logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """Computes exp(x) divided by its sum along an axis.

    Args:
      logits: A tensor of a floating-point type and of at least one dimension.
      axis: The axis along which the result adds up to 1; the last one by default.
      name: A name for the operation.
      dim: A deprecated name of `axis`.

    Returns:
      A tensor of the shape and type of `logits`.

    Raises:
      ValueError: Where `axis` is not the last one, and it or the rank of `logits` is not known.
      InvalidArgumentError: Where `logits` has no such axis.
    """
    axis = renamed("axis", axis, "dim", dim)
    return _along(logits, -1 if axis is None else axis, softmax_op, name)


def _swapped_with_last(tensor: Tensor, rank: Tensor, axis: int, name: str | None = None) -> Tensor:
    last = binary.subtract(rank, 1)
    between = creation.range(axis), [last], creation.range(axis + 1, last), [axis]
    return shapes.transpose(tensor, joining.concat(between, 0), name=name or "transpose")


def _along(logits: Any, axis: Any, op: Op, name: str | None) -> Tensor:
    """A softmax along any axis: it is swapped with the last one, and back."""
    logits = convert_to_tensor(logits)
    rank = logits.shape.ndims
    axis = axis if not isinstance(axis, Tensor) else partial_value(axis)
    if axis == -1 or axis is not None and axis == (rank or 0) - 1:
        return op(logits, name=name)
    if rank is None or axis is None:
        raise ValueError("The axis of a softmax other than -1 and the rank of its logits must be known.")
    if not -rank <= axis < rank:
        raise errors.invalid_argument(
            f"Dimension ({axis}) must be in the range [{-rank}, {rank}) where {rank} is the number of "
            "dimensions in the input.",
        )
    shapes.rank(logits)  # TensorFlow's graph has this node too, although nothing uses it
    axes = shapes.rank(logits)
    result = _swapped_with_last(op(_swapped_with_last(logits, axes, axis % rank)), axes, axis % rank, name)
    result.set_shape(logits.shape)
    return result


log_softmax_op = Op("LogSoftmax", "logits: T -> logsoftmax: T", T=FLOATS_HALF_FIRST)
log_softmax_op.shape(_softmax_shape)


@log_softmax_op.kernel
def _log_softmax_kernel(logits):
    return cpu_softmax.log_softmax(logits)


@log_softmax_op.specialize
def _log_softmax_specialized(node):
    return (torch.log_softmax, [node.inputs[0], -1]) if cpu_softmax.never_has_short_rows(node) else None


@log_softmax_op.gradient
def _log_softmax_gradient(op, grad):
    return grad - reductions.reduce_sum(grad, -1, keepdims=True) * unary.exp(op.outputs[0])


log_softmax_op.samples(f32(2, 3), f32(3), f32(2, 2, 4), f32(0, 3), against=_numpy_log_softmax)


@export("nn.log_softmax", "math.log_softmax")
def log_softmax(
    logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """Computes the logarithm of the softmax along an axis, x - log(sum(exp(x))).

    Args:
      logits: A tensor of a floating-point type and of at least one dimension.
      axis: The axis along which exp of the result adds up to 1; the last one by default.
      name: A name for the operation.
      dim: A deprecated name of `axis`.

    Returns:
      A tensor of the shape and type of `logits`.

    Raises:
      ValueError: Where `axis` is not the last one, and it or the rank of `logits` is not known.
      InvalidArgumentError: Where `logits` has no such axis.
    """
    axis = renamed("axis", axis, "dim", dim)
    return _along(logits, -1 if axis is None else axis, log_softmax_op, name)


# ---------------------------------------------------------------------------- cross entropies


def is_zero(tensor: Tensor) -> bool:
    """Whether a gradient is known to be 0: it stands for an output that nothing uses."""
    if tensor.is_eager:
        return getattr(tensor, "_stands_for_none", False)  # a tape says so
    value = partial_value(tensor)
    return tensor.op.type == "ZerosLike" or fully_known(value) and not np.any(value)


def _scaled_rows(scales: Tensor, rows: Tensor) -> Tensor:
    return shapes.expand_dims(scales, -1) * rows


def _through_softmax(logits: Tensor, grad: Tensor) -> Tensor:
    """The gradient by the logits of their softmax."""
    probabilities = softmax(logits)
    along = matmul.matmul(shapes.expand_dims(grad, 1), shapes.expand_dims(probabilities, 2))
    return (grad - shapes.squeeze(along, axis=1)) * probabilities


def _numpy_cross_entropy(features: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    logs = _numpy_log_softmax(features)
    return -(labels * logs).sum(-1), np.exp(logs) - labels


softmax_cross_entropy_with_logits_op = Op(
    "SoftmaxCrossEntropyWithLogits", "features: T, labels: T -> loss: T, backprop: T", T=FLOATS_HALF_FIRST
)


@softmax_cross_entropy_with_logits_op.shape
def _softmax_cross_entropy_with_logits_shape(features, labels):
    try:
        both = broadcast_shapes(features, labels)
    except ShapeError as error:
        shown = f"logits_size={brackets(features.tuple)} labels_size={brackets(labels.tuple)}"
        raise ShapeError(str(error), f"logits and labels must be broadcastable: {shown}") from None
    if both.ndims not in (None, 2):
        raise ShapeError(
            f"Shape must be broadcasted with rank 2, but is rank {both.ndims}",
            "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional",
        )
    rows, classes = both.with_rank(2).tuple
    return [[rows], [rows, classes]]


@softmax_cross_entropy_with_logits_op.kernel
def _softmax_cross_entropy_with_logits_kernel(features, labels):
    logs = cpu_softmax.log_softmax(features)
    loss = (labels * logs).sum(-1).neg_()
    return loss, cpu_functions.exp_(logs) - labels


def _of_shape(grad: Tensor, like: Tensor) -> Tensor:
    """The gradient summed over the rows that the loss broadcast, where the shapes show that it did."""
    repeated = like.shape.ndims == 2 and like.shape.tuple[0] == 1 and grad.shape.as_list()[0] != 1
    return reductions.reduce_sum(grad, 0, keepdims=True) if repeated else grad


@softmax_cross_entropy_with_logits_op.gradient
def _softmax_cross_entropy_with_logits_gradient(op, grad_loss, grad_backprop):
    logits, labels = op.inputs
    by_logits = _scaled_rows(grad_loss, op.outputs[1])
    if grad_backprop is not None and not is_zero(grad_backprop):
        by_logits += _through_softmax(logits, grad_backprop)
    by_labels = _scaled_rows(grad_loss, -log_softmax(logits))
    if grad_backprop is not None and not is_zero(grad_backprop):
        by_labels -= grad_backprop
    return _of_shape(by_logits, logits), _of_shape(by_labels, labels)


# The gradient is right for labels that add up to 1.
_DISTRIBUTIONS = np.array([[0.1, 0.7, 0.2], [0.0, 0.0, 1.0]], np.float32)
softmax_cross_entropy_with_logits_op.samples(
    (f32(2, 3), _DISTRIBUTIONS),
    (f32(1, 3), _DISTRIBUTIONS),
    (f32(0, 3), f32(0, 3)),
    against=_numpy_cross_entropy,
)
softmax_cross_entropy_with_logits_op.refuses(
    (f32(2, 4), f32(3, 4)), "Dimensions must be equal, but are 2 and 3"
)


@export("nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike,
    logits: TensorLike,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """Computes the cross entropy between distributions over classes and the softmax of logits.

    Gradients flow to both arguments.

    Args:
      labels: A tensor of the shape of `logits` whose rows along `axis` are probabilities that add up to 1.
      logits: A tensor of a floating-point type: unscaled logarithms of probabilities.
      axis: The axis of the classes; the last one by default.
      name: A name for the operation.
      dim: A deprecated name of `axis`.

    Returns:
      A tensor of the type of `logits` and of its shape without `axis`.
    """
    axis = renamed("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        given, shape = logits.dtype.base_dtype, logits.shape
        precise = casting.cast(logits, float32) if given in (float16, bfloat16) else logits
        labels = casting.cast(labels, precise.dtype.base_dtype)
        are_matrices = precise.shape.ndims == labels.shape.ndims == 2
        if axis == -1 and are_matrices and precise.is_eager and labels.is_eager:
            loss, _ = softmax_cross_entropy_with_logits_op(precise, labels, name=name)
            return casting.cast(loss, given)
        rank = shapes.rank(precise)
        if axis != -1:
            precise, labels = (_axis_moved_last(tensor, axis, rank) for tensor in (precise, labels))
        sizes = shapes.shape(precise)
        loss, _ = softmax_cross_entropy_with_logits_op(_flat_rows(precise), _flat_rows(labels), name=name)
        loss = shapes.reshape(loss, slicing.slice(sizes, [0], [binary.subtract(rank, 1)]))
        if shape.ndims is not None:
            loss.set_shape([size for i, size in enumerate(shape.as_list()) if i != axis % shape.ndims])
        return casting.cast(loss, given) if given in (float16, bfloat16) else loss


def _flat_rows(tensor: Tensor) -> Tensor:
    """All axes but the last made one."""
    rank = shapes.rank(tensor)
    last = slicing.slice(shapes.shape(tensor), [binary.subtract(rank, 1)], [1])
    return shapes.reshape(tensor, joining.concat([[-1], last], 0))


def _axis_moved_last(tensor: Tensor, axis: int, rank: Tensor) -> Tensor:
    order = joining.concat([creation.range(axis), creation.range(axis + 1, rank), [axis]], 0)
    return shapes.transpose(tensor, order)


def check_named(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    """Labels and logits are easily swapped: they must be given, and by name."""
    if sentinel is not None:
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


@export("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    _sentinel: None = None,
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    dim: int = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """Computes the cross entropy between distributions over classes and the softmax of logits.

    Deprecated: no gradient flows to the labels; `tf.nn.softmax_cross_entropy_with_logits_v2` lets it.

    Args:
      _sentinel: Not to be used: it makes sure that the others are given by name.
      labels: A tensor of the shape of `logits` whose rows along the axis are probabilities that add up to 1.
      logits: A tensor of a floating-point type: unscaled logarithms of probabilities.
      dim: A deprecated name of `axis`.
      name: A name for the operation.
      axis: The axis of the classes; the last one by default.

    Returns:
      A tensor of the type of `logits` and of its shape without the axis.

    Raises:
      ValueError: Where an argument is not given by name or is missing.
    """
    check_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as name:
        labels = stop_gradient(labels, name="labels_stop_gradient")
    axis = dim if axis is None else axis
    return softmax_cross_entropy_with_logits_v2(labels, logits, axis=axis, name=name)


sparse_softmax_cross_entropy_with_logits_op = Op(
    "SparseSoftmaxCrossEntropyWithLogits",
    "features: T, labels: Tlabels -> loss: T, backprop: T",
    T=FLOATS_HALF_FIRST,
    Tlabels=attr("type", "int64", allowed=INDICES),
)


@sparse_softmax_cross_entropy_with_logits_op.shape
def _sparse_softmax_cross_entropy_with_logits_shape(features, labels):
    shown = [brackets(shape.tuple or ()) for shape in (features, labels)]
    rows, classes = of_rank(features, 2, f"logits must be 2-D, but got shape {shown[0]}").tuple
    count = of_rank(labels, 1, f"labels must be 1-D, but got shape {shown[1]}").tuple[0]
    if None not in (rows, count) and rows != count:
        raise ShapeError(
            f"Dimensions must be equal, but are {rows} and {count}: rows of logits and labels",
            "logits and labels must have the same first dimension, got logits shape "
            f"{brackets(features.tuple)} and labels shape {brackets(labels.tuple)}",
        )
    rows = count if rows is None else rows
    return [[rows], [rows, classes]]


def _loss_and_backprop(
    logs: torch.Tensor, picked: torch.Tensor, places: torch.Tensor, axis: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Minus the logarithm of the label's probability, and the probabilities with 1 taken from the label's."""
    loss = picked.squeeze(axis).neg()
    return loss, cpu_functions.exp_(logs).scatter_(axis, places, picked.exp_().sub_(1))


def _check_classes(features: torch.Tensor) -> None:
    if not features.shape[1]:
        raise ShapeError(f"Must have at least one class, but got logits shape {list(features.shape)}")


def _bad_label(labels: torch.Tensor, classes: int) -> InvalidArgumentError:
    values = labels.tolist()
    first = next(label for label in values if not 0 <= label < classes)
    shown = " ".join(map(str, values[:20])) + (" ..." if len(values) > 20 else "")
    return errors.invalid_argument(
        f"Received a label value of {first} which is outside the valid range of [0, {classes}).  "
        f"Label values: {shown}",
    )


@sparse_softmax_cross_entropy_with_logits_op.kernel
def _sparse_softmax_cross_entropy_with_logits_kernel(features, labels):
    _check_classes(features)
    is_turned = cpu_softmax.has_short_rows(features)
    axis = 0 if is_turned else 1  # of the classes
    logs = torch.log_softmax(features.t().contiguous() if is_turned else features, axis)
    places = labels.long().unsqueeze(axis)
    try:
        picked = logs.gather(axis, places)
    except RuntimeError:  # gather checks the index itself
        raise _bad_label(labels, features.shape[1]) from None
    loss, backprop = _loss_and_backprop(logs, picked, places, axis)
    return loss, backprop.t().contiguous() if is_turned else backprop


@sparse_softmax_cross_entropy_with_logits_op.kernel("cuda")
def _sparse_softmax_cross_entropy_with_logits_cuda_kernel(features, labels):
    """A label that is no class makes its row NaN: raising an error would mean waiting for the device."""
    _check_classes(features)
    columns = labels.long().unsqueeze(1)
    valid = (columns >= 0) & (columns < features.shape[1])
    columns = torch.where(valid, columns, 0)
    logs = torch.where(valid, torch.log_softmax(features, -1), torch.nan)
    return _loss_and_backprop(logs, logs.gather(1, columns), columns)


@sparse_softmax_cross_entropy_with_logits_op.gradient
def _sparse_softmax_cross_entropy_with_logits_gradient(op, grad_loss, grad_backprop):
    backprop = prevent_gradient_op(
        op.outputs[1],
        message="Currently there is no way to take the second derivative of "
        "sparse_softmax_cross_entropy_with_logits due to the fused implementation's interaction with "
        "tf.gradients()",
    )
    by_logits = _scaled_rows(grad_loss, backprop)
    if grad_backprop is not None and not is_zero(grad_backprop):
        by_logits += _through_softmax(op.inputs[0], grad_backprop)
    return by_logits, None


def _numpy_sparse_cross_entropy(features: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _numpy_cross_entropy(features, np.eye(features.shape[1], dtype=features.dtype)[labels])


sparse_softmax_cross_entropy_with_logits_op.samples(
    (f32(3, 4), i32(3, low=0, high=4)),
    (f32(2, 5), i64(2, low=0, high=5)),
    (f32(0, 3), i32(0)),
    against=_numpy_sparse_cross_entropy,
)
sparse_softmax_cross_entropy_with_logits_op.refuses((f32(2, 4), i32(3, low=0, high=4)), "are 2 and 3")


@export("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(
    _sentinel: None = None,
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the cross entropy between the numbers of the right classes and the softmax of logits.

    Args:
      _sentinel: Not to be used: it makes sure that the others are given by name.
      labels: An int32 or int64 tensor of class numbers, of the shape of `logits` without its last axis.
      logits: A tensor of a floating-point type, whose last axis is that of the classes.
      name: A name for the operation.

    Returns:
      A tensor of the shape of `labels` and the type of `logits`.

    Raises:
      ValueError: Where an argument is not given by name or is missing, where `logits` is a scalar, or where
        the two shapes do not fit.
      InvalidArgumentError: In a step on the CPU whose labels are not all classes; on a GPU such rows are NaN.
    """
    check_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        half = logits.dtype.base_dtype is float16
        precise = casting.cast(logits, float32) if half else logits
        is_matrix = logits.shape.ndims == 2
        sizes = None if is_matrix and executing_eagerly() else shapes.shape(labels)
        _check_label_shape(labels, logits)
        if is_matrix:
            loss, _ = sparse_softmax_cross_entropy_with_logits_op(precise, labels, name=name)
            return casting.cast(loss, float16) if half else loss
        with control_dependencies(_label_shape_checks(labels, logits)):
            classes = shapes.shape(logits)[shapes.rank(logits) - 1]
            rows, flat = shapes.reshape(precise, [-1, classes]), shapes.reshape(labels, [-1])
            loss, _ = sparse_softmax_cross_entropy_with_logits_op(rows, flat, name=name)
            loss = shapes.reshape(loss, sizes)
            loss.set_shape(labels.shape)
            return casting.cast(loss, float16) if half else loss


def _label_shape_checks(labels: Tensor, logits: Tensor) -> list[Operation]:
    """Checks for the run, where the shapes are not known before."""
    if labels.shape.is_fully_defined() and logits.shape[:-1].is_fully_defined():
        return []
    return [checks.assert_equal(shapes.shape(labels), shapes.shape(logits)[:-1])]


def _check_label_shape(labels: Tensor, logits: Tensor) -> None:
    """Labels have the shape of logits without its last axis, as far as both are known."""
    given, expected = labels.shape, logits.shape
    if expected.ndims == 0:
        raise ValueError(f"Logits cannot be scalars - received shape {expected}.")
    if None not in (given.ndims, expected.ndims) and given.ndims != expected.ndims - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {given.ndims}) should equal rank of logits minus 1 "
            f"(received {expected.ndims})."
        )
    if not given.is_compatible_with(expected[:-1]):
        raise ValueError(
            f"Shape mismatch: The shape of labels (received {given}) should equal the shape of logits except "
            f"for the last dimension (received {expected})."
        )
