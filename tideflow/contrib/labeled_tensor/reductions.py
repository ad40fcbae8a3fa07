"""Labeled tensors with fewer axes: reductions and products of matrices."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.axes import Axis
from tideflow.contrib.labeled_tensor.layout import get_axis_order
from tideflow.contrib.labeled_tensor.rearranged import squeeze
from tideflow.contrib.labeled_tensor.tensors import LABELED, LabeledTensor, convert_to_labeled_tensor
from tideflow.export import export, expose
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_AXIS = checks.either(checks.STRING, checks.pair(checks.STRING, checks.instance("Hashable", Hashable)))
_AXES = checks.optional(checks.either(_AXIS, checks.collection(_AXIS)))


@export("contrib.labeled_tensor.define_reduce_op")
@checks.accepts(checks.STRING, checks.FUNCTION)
def define_reduce_op(op_name: str, reduce_fn: Callable) -> Callable[..., LabeledTensor]:
    """Makes a reduction of labeled tensors of one of tensors.

    Args:
      op_name: The name of the function.
      reduce_fn: Called as `reduce_fn(tensor, positions_of_axes, keepdims=True)`.

    Returns:
      A function of a labeled tensor, of axes and of a name.
    """

    @checks.accepts(LABELED, _AXES, checks.NAME)
    def op(
        labeled_tensor: LabeledTensor | TensorLike, axes: Any = None, name: str | None = None
    ) -> LabeledTensor:
        with tf.name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            if axes is None:
                axes = list(labeled_tensor.axes)
            reduced = dict(map(_reduced_axis, [axes] if isinstance(axes, (str, tuple)) else axes))
            for each in reduced:
                if each not in labeled_tensor.axes:
                    raise ValueError(f"Axis {each} not in axes {labeled_tensor.axes}")
            positions = [i for i, each in enumerate(labeled_tensor.axes) if each in reduced]
            kept = [reduced.get(axis.name, axis) for axis in labeled_tensor.axes.values()]
            result = LabeledTensor(reduce_fn(labeled_tensor.tensor, positions, keepdims=True), kept)
            gone = [each for each, replaced in reduced.items() if isinstance(replaced, str)]
            return squeeze(result, gone, name=scope)

    op.__doc__ = f"""Computes `{op_name}` along axes.

    Args:
      labeled_tensor: The labeled tensor.
      axes: The name of an axis, or of several; all if None. A tuple of a name and a label keeps the axis,
        with one position of that label.
      name: A name for the operations.

    Returns:
      The results.
    """
    op.__name__ = op_name
    return op


def _reduced_axis(axis: Any) -> tuple[str, Any]:
    """The name of an axis, and what becomes of it: the name again where it goes away."""
    if isinstance(axis, str):
        return axis, axis
    name, label = axis
    return name, (name, None if label is None else [label])


for _name, _function in {
    "reduce_all": tf.reduce_all,
    "reduce_any": tf.reduce_any,
    "reduce_logsumexp": tf.reduce_logsumexp,
    "reduce_max": tf.reduce_max,
    "reduce_mean": tf.reduce_mean,
    "reduce_min": tf.reduce_min,
    "reduce_prod": tf.reduce_prod,
    "reduce_sum": tf.reduce_sum,
}.items():
    expose(define_reduce_op(_name, _function), f"contrib.labeled_tensor.{_name}")


@export("contrib.labeled_tensor.matmul")
@checks.accepts(LABELED, LABELED, checks.NAME)
def matmul(
    a: LabeledTensor | TensorLike, b: LabeledTensor | TensorLike, name: str | None = None
) -> LabeledTensor:
    """Multiplies matrices or vectors along the axis that they share.

    Args:
      a: One labeled tensor, of one or two axes.
      b: The other.
      name: A name for the operations.

    Returns:
      The product, with the axes that are not shared, in the order of the `axis_order_scope` around.

    Raises:
      NotImplementedError: If one has more than two axes, or if they share more than one.
      ValueError: If one has no axes, or if they share none.
    """
    with tf.name_scope(name, "lt_matmul", [a, b]) as scope:
        a, b = convert_to_labeled_tensor(a), convert_to_labeled_tensor(b)
        shared = _shared_axis(a, b)
        axes: list[Axis] = [axis for each in (a, b) for axis in each.axes.values() if axis.name != shared]
        order = get_axis_order()
        names = [axis.name for axis in axes]
        if order is not None and [each for each in order if each in names] != names:
            a, b, axes = b, a, axes[::-1]
        left, transpose_a = _factor(a, shared, (1, -1), 0)
        right, transpose_b = _factor(b, shared, (-1, 1), 1)
        product = tf.matmul(left, right, transpose_a=transpose_a, transpose_b=transpose_b)
        vectors = [i for i, each in enumerate((a, b)) if len(each.axes) == 1]
        if vectors:
            product = tf.squeeze(product, vectors)
        return LabeledTensor(tf.identity(product, name=scope), axes)


def _shared_axis(a: LabeledTensor, b: LabeledTensor) -> str:
    ranks = f"{len(a.axes)!r} and {len(b.axes)!r}"
    if len(a.axes) > 2 or len(b.axes) > 2:
        raise NotImplementedError(
            f"matmul currently requires inputs with rank 2 or less, but inputs have ranks {ranks}"
        )
    if not a.axes or not b.axes:
        raise ValueError(
            f"matmul currently requires inputs with at least rank 1, but inputs have ranks {ranks}"
        )
    shared = set(a.axes) & set(b.axes)
    if len(shared) > 1:
        raise NotImplementedError(
            f"matmul does not yet support summing over multiple shared axes: {shared!r}. Use transpose and "
            "reshape to create a single shared axis to sum over."
        )
    if not shared:
        raise ValueError(
            "there must have exactly one axis in common between input to matmul: "
            f"{list(a.axes)!r}, {list(b.axes)!r}"
        )
    (name,) = shared
    if a.axes[name] != b.axes[name]:
        raise ValueError(
            f"axis {name!r} does not match on input arguments: {a.axes[name].value!r} vs "
            f"{b.axes[name].value!r}"
        )
    return name


def _factor(
    labeled_tensor: LabeledTensor, shared: str, shape: tuple[int, int], transposed_at: int
) -> tuple[Tensor, bool]:
    """A matrix, a vector being one with `shape`, and whether it has to be transposed."""
    if len(labeled_tensor.axes) == 1:
        return tf.reshape(labeled_tensor.tensor, shape), False
    return labeled_tensor.tensor, list(labeled_tensor.axes).index(shared) == transposed_at
