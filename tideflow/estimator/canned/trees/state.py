"""The state of boosted trees: the ensemble, and the quantiles of numeric features. Checkpoints keep both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection
from tideflow.ops.boosted_trees import ensembles, quantiles
from tideflow.train.resource_registry import register_resource
from tideflow.train.saveables import SaveableObject, SaveSpec


class _Saveable(SaveableObject):
    """How a checkpoint keeps a resource; it is made before it is filled."""

    def __init__(self, handle: Tensor, create: Operation, tensors: dict[str, Tensor], restore_op: Any):
        specs = [SaveSpec(tensor, "", handle.name + suffix) for suffix, tensor in tensors.items()]
        super().__init__(handle, specs, handle.name)
        self._create, self._restore_op = create, restore_op

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any = None) -> Operation:
        with tf.control_dependencies([self._create]):
            return self._restore_op(*restored_tensors)


class TreeEnsemble:
    """The trees of a model.

    Args:
      name: The name under which sessions share it.
      stamp_token: The number of its state when it is made.
      is_local: Whether it is a task's own copy, which checkpoints do not keep.
      serialized_proto: The trees that it begins with, as a serialized message; none by default.
    """

    def __init__(
        self, name: str, stamp_token: int = 0, is_local: bool = False, serialized_proto: bytes | str = ""
    ):
        with tf.name_scope(name, "TreeEnsemble") as scope:
            self.resource_handle = ensembles.ensemble_handle_op(shared_name=scope, name=scope)
            self.initializer = ensembles.create_ensemble_op(
                self.resource_handle, stamp_token, serialized_proto
            )
            is_created = self.is_initialized()
            if not is_local:
                stamp, serialized = self.serialize()
                tensors = {"_stamp": stamp, "_serialized": serialized}
                saveable = _Saveable(self.resource_handle, self.initializer, tensors, self.deserialize)
                add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)
            register_resource(self.resource_handle, self.initializer, is_created, is_shared=not is_local)

    def is_initialized(self) -> Tensor:
        """Whether it is made."""
        return ensembles.is_ensemble_initialized_op(self.resource_handle)

    def get_stamp_token(self) -> Tensor:
        """The number of its state."""
        return ensembles.ensemble_states_op(self.resource_handle)[0]

    def get_states(self) -> tuple[Tensor, ...]:
        """Stamp, trees, finished trees, layers that were tried, and the nodes of the last layer."""
        names = ("stamp_token", "num_trees", "num_finalized_trees", "num_attempted_layers")
        names += ("last_layer_nodes_range",)
        states = ensembles.ensemble_states_op(self.resource_handle)
        return tuple(tf.identity(state, name=name) for state, name in zip(states, names, strict=True))

    def serialize(self) -> tuple[Tensor, Tensor]:
        """The stamp and the serialized message."""
        return tuple(ensembles.serialize_ensemble_op(self.resource_handle))

    def deserialize(self, stamp_token: Tensor, serialized_proto: Tensor) -> Operation:
        """Replaces the trees."""
        return ensembles.deserialize_ensemble_op(self.resource_handle, stamp_token, serialized_proto)


class QuantileAccumulator:
    """The quantiles of the numeric features of a model: collected first, then the boundaries of buckets.

    Args:
      epsilon: By which fraction a quantile may be off.
      num_streams: The number of features.
      num_quantiles: The number of buckets.
      name: The name under which sessions share it.
      max_elements: Kept for TensorFlow's programs; it has no effect there either.
    """

    def __init__(
        self,
        epsilon: float,
        num_streams: int,
        num_quantiles: int,
        name: str | None = None,
        max_elements: int | None = None,
    ):
        self._epsilon, self._count, self._num_quantiles = epsilon, num_streams, num_quantiles
        with tf.name_scope(name, "QuantileAccumulator") as scope:
            self.resource_handle = quantiles.quantile_stream_handle_op(shared_name=scope, name=scope)
            self.initializer = quantiles.create_quantile_stream_op(self.resource_handle, epsilon, num_streams)
            is_created = self.is_initialized()
        register_resource(self.resource_handle, self.initializer, is_created)
        boundaries = self.get_bucket_boundaries()
        tensors = {f"_bucket_boundaries_{i}": each for i, each in enumerate(boundaries)}
        self.saveable = _Saveable(self.resource_handle, self.initializer, tensors, self._restored)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self.saveable)

    def _restored(self, *boundaries: Tensor) -> Operation:
        return quantiles.deserialize_streams_op(self.resource_handle, boundaries)

    def is_initialized(self) -> Tensor:
        """Whether it is made."""
        return quantiles.is_quantile_stream_initialized_op(self.resource_handle)

    def get_bucket_boundaries(self) -> list[Tensor]:
        """The boundaries of the buckets of each feature."""
        return list(quantiles.bucket_boundaries_op(self.resource_handle, num_features=self._count))

    def add_summaries(self, float_columns: list[Tensor], example_weights: Tensor) -> Operation:
        """Adds the values of a batch."""
        summaries = quantiles.make_quantile_summaries_op(float_columns, example_weights, self._epsilon)
        return quantiles.add_summaries_op(self.resource_handle, summaries)

    def flush(self) -> Operation:
        """Makes the boundaries from what was collected."""
        return quantiles.flush_op(self.resource_handle, self._num_quantiles)
