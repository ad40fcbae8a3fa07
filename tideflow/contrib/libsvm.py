"""tf.contrib.libsvm: rows of LIBSVM's text files as sparse features with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.ops.strings.libsvm import decode_libsvm_op

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


@export("contrib.libsvm.decode_libsvm")
def decode_libsvm(
    content: TensorLike,
    num_features: int,
    dtype: DTypeLike | None = None,
    label_dtype: DTypeLike | None = None,
) -> tuple[SparseTensor, Tensor]:
    """Reads rows like `1 3:0.5 7:2`: a label, then the features that are not zero.

    Args:
      content: A string tensor; each element is a row.
      num_features: The size of the features' last axis. Indices are not checked against it.
      dtype: The type of the features: tf.float32 (None means it), tf.float64, tf.int32 or tf.int64.
      label_dtype: The type of the labels, of the same four; None means tf.int64.

    Returns:
      A SparseTensor of the features, [shape of content, num_features], and the labels, like `content`.

    Raises:
      InvalidArgumentError: In a step with a row that has another form.
    """
    given = {"dtype": dtype, "label_dtype": label_dtype}
    labels, indices, values, shape = decode_libsvm_op(
        content,
        num_features=num_features,
        **{name: value for name, value in given.items() if value is not None},
    )
    return SparseTensor(indices, values, shape), labels
