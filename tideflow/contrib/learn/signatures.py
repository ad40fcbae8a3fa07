"""TensorSignature: of which type and shape the inputs of a model are, so that later ones can be compared."""

from __future__ import annotations

from typing import Any, NamedTuple

import tideflow as tf
from tideflow.graph.composite import SparseTensor
from tideflow.graph.dtypes import DType
from tideflow.graph.shapes import TensorShape


class TensorSignature(NamedTuple):
    """The type of an input, and its shape unless it is sparse."""

    dtype: DType
    shape: TensorShape | None
    is_sparse: bool

    @staticmethod
    def of(tensor: Any) -> TensorSignature:
        if isinstance(tensor, SparseTensor):
            return TensorSignature(tensor.values.dtype, None, True)
        return TensorSignature(tensor.dtype, tensor.get_shape(), False)

    def is_compatible_with(self, other: TensorSignature) -> bool:
        """Whether an input fits, however many examples there are in it."""
        if self.is_sparse != other.is_sparse or not self.dtype.is_compatible_with(other.dtype):
            return False
        if self.shape is None or other.shape is None or None in (self.shape.ndims, other.shape.ndims):
            return True
        return self.shape.ndims == other.shape.ndims and (
            self.shape.ndims == 0 or self.shape[1:].is_compatible_with(other.shape[1:])
        )

    def placeholder(self) -> Any:
        if self.is_sparse:
            return tf.sparse_placeholder(self.dtype)
        return tf.placeholder(self.dtype, [None, *self.shape[1:]])

    def feature_spec(self) -> Any:
        """How the input stands in an Example, which knows no other numbers than int64 and float."""
        dtype = {tf.int32: tf.int64, tf.float64: tf.float32}.get(self.dtype, self.dtype)
        if self.is_sparse:
            return tf.VarLenFeature(dtype)
        return tf.FixedLenFeature(self.shape[1:], dtype)


def signatures_of(tensors: Any) -> Any:
    if tensors is None:
        return None
    if isinstance(tensors, dict):
        return {key: TensorSignature.of(tensor) for key, tensor in tensors.items()}
    return TensorSignature.of(tensors)


def compatible(tensors: Any, signatures: Any) -> bool:
    """Whether there is a tensor that fits for each signature."""
    if tensors is None or signatures is None:
        return tensors is signatures
    if isinstance(tensors, dict) != isinstance(signatures, dict):
        return False
    if not isinstance(tensors, dict):
        return TensorSignature.of(tensors).is_compatible_with(signatures)
    return all(
        key in tensors and TensorSignature.of(tensors[key]).is_compatible_with(signature)
        for key, signature in signatures.items()
    )


def placeholders_of(signatures: Any) -> Any:
    if signatures is None:
        return None
    if isinstance(signatures, dict):
        return {key: signature.placeholder() for key, signature in signatures.items()}
    return signatures.placeholder()


def parsed_examples(signatures: Any, examples: Any, single_name: str = "feature") -> Any:
    """The inputs that serialized Examples hold, of the types of the signatures."""
    named = signatures if isinstance(signatures, dict) else {single_name: signatures}
    specs = {key: signature.feature_spec() for key, signature in named.items()}
    parsed = tf.parse_example(examples, specs)
    for key, signature in named.items():
        if not signature.dtype.is_compatible_with(parsed[key].dtype):
            parsed[key] = tf.cast(parsed[key], signature.dtype)
    return parsed if isinstance(signatures, dict) else parsed[single_name]
