"""TensorSignature: of which type and shape the inputs of a model are, so that later ones can be compared."""

from __future__ import annotations

import collections
from typing import Any

import tideflow as tf
from tideflow.graph.composite import SparseTensor


class TensorSignature(collections.namedtuple("TensorSignature", ["dtype", "shape", "is_sparse"])):
    """The type of an input, and its shape unless it is sparse.

    Args:
      tensor: The input.
    """

    __slots__ = ()

    def __new__(cls, tensor: Any) -> TensorSignature:
        if isinstance(tensor, SparseTensor):
            return super().__new__(cls, tensor.values.dtype, None, True)
        return super().__new__(cls, tensor.dtype, tensor.get_shape(), False)

    def is_compatible_with(self, other: TensorSignature) -> bool:
        """Whether an input fits, however many examples there are in it."""
        if self.is_sparse != other.is_sparse or not self.dtype.is_compatible_with(other.dtype):
            return False
        if self.shape is None or other.shape is None or None in (self.shape.ndims, other.shape.ndims):
            return True
        return self.shape.ndims == other.shape.ndims and (
            self.shape.ndims == 0 or self.shape[1:].is_compatible_with(other.shape[1:])
        )

    def get_placeholder(self) -> Any:
        if self.is_sparse:
            return tf.sparse_placeholder(self.dtype)
        return tf.placeholder(self.dtype, [None, *self.shape[1:]])

    def get_feature_spec(self) -> Any:
        """How the input stands in an Example, which knows no other numbers than int64 and float."""
        dtype = {tf.int32: tf.int64, tf.float64: tf.float32}.get(self.dtype, self.dtype)
        if self.is_sparse:
            return tf.VarLenFeature(dtype)
        return tf.FixedLenFeature(self.shape[1:], dtype)


def create_signatures(tensors: Any) -> Any:
    if tensors is None:
        return None
    if isinstance(tensors, dict):
        return {key: TensorSignature(tensor) for key, tensor in tensors.items()}
    return TensorSignature(tensors)


def tensors_compatible(tensors: Any, signatures: Any) -> bool:
    """Whether there is a tensor that fits for each signature."""
    if tensors is None or signatures is None:
        return tensors is signatures
    if isinstance(tensors, dict) != isinstance(signatures, dict):
        return False
    if not isinstance(tensors, dict):
        return TensorSignature(tensors).is_compatible_with(signatures)
    return all(
        key in tensors and TensorSignature(tensors[key]).is_compatible_with(signature)
        for key, signature in signatures.items()
    )


def create_placeholders_from_signatures(signatures: Any) -> Any:
    if signatures is None:
        return None
    if isinstance(signatures, dict):
        return {key: signature.get_placeholder() for key, signature in signatures.items()}
    return signatures.get_placeholder()


def create_example_parser_from_signatures(
    signatures: Any, examples_batch: Any, single_feature_name: str = "feature"
) -> Any:
    """The inputs that serialized Examples hold, of the types of the signatures."""
    named = signatures if isinstance(signatures, dict) else {single_feature_name: signatures}
    specs = {key: signature.get_feature_spec() for key, signature in named.items()}
    parsed = tf.parse_example(examples_batch, specs)
    for key, found in parsed.items():
        if not named[key].dtype.is_compatible_with(found.dtype):
            parsed[key] = tf.cast(found, named[key].dtype)
    return parsed if isinstance(signatures, dict) else parsed[single_feature_name]
