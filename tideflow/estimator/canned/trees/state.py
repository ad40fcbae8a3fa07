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
      is_local: Whether it is a task's own copy, which checkpoints do not keep.
    """

    def __init__(self, name: str, is_local: bool = False):
        with tf.name_scope(name, "TreeEnsemble") as scope:
            self.handle = ensembles.ensemble_handle_op(shared_name=scope, name=scope)
            create = ensembles.create_ensemble_op(self.handle, 0, "")
            is_created = ensembles.is_ensemble_initialized_op(self.handle)
            if not is_local:
                stamp, serialized = self.serialize()
                tensors = {"_stamp": stamp, "_serialized": serialized}
                saveable = _Saveable(self.handle, create, tensors, self.deserialize)
                add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)
            register_resource(self.handle, create, is_created, is_shared=not is_local)

    def states(self) -> list[Tensor]:
        """Stamp, trees, finished trees, layers that were tried, and the nodes of the last layer."""
        names = ("stamp_token", "num_trees", "num_finalized_trees", "num_attempted_layers")
        names += ("last_layer_nodes_range",)
        states = ensembles.ensemble_states_op(self.handle)
        return [tf.identity(state, name=name) for state, name in zip(states, names, strict=True)]

    def serialize(self) -> tuple[Tensor, Tensor]:
        """The stamp and the serialized message."""
        return tuple(ensembles.serialize_ensemble_op(self.handle))

    def deserialize(self, stamp: Tensor, serialized: Tensor) -> Operation:
        """Replaces the trees."""
        return ensembles.deserialize_ensemble_op(self.handle, stamp, serialized)


class QuantileAccumulator:
    """The quantiles of the numeric features of a model: collected first, then the boundaries of buckets.

    Args:
      epsilon: By which fraction a quantile may be off.
      num_streams: The number of features.
      num_quantiles: The number of buckets.
      name: The name under which sessions share it.
    """

    def __init__(self, epsilon: float, num_streams: int, num_quantiles: int, name: str):
        self._epsilon, self._count, self._num_quantiles = epsilon, num_streams, num_quantiles
        with tf.name_scope(name, "QuantileAccumulator") as scope:
            self._handle = quantiles.quantile_stream_handle_op(shared_name=scope, name=scope)
            create = quantiles.create_quantile_stream_op(self._handle, epsilon, num_streams)
            is_created = quantiles.is_quantile_stream_initialized_op(self._handle)
        register_resource(self._handle, create, is_created)
        boundaries = self.bucket_boundaries()
        tensors = {f"_bucket_boundaries_{i}": each for i, each in enumerate(boundaries)}
        saveable = _Saveable(self._handle, create, tensors, self._restored)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)

    def _restored(self, *boundaries: Tensor) -> Operation:
        return quantiles.deserialize_streams_op(self._handle, boundaries)

    def bucket_boundaries(self) -> list[Tensor]:
        """The boundaries of the buckets of each feature."""
        return list(quantiles.bucket_boundaries_op(self._handle, num_features=self._count))

    def add_summaries(self, features: list[Tensor], weights: Tensor) -> Operation:
        """Adds the values of a batch."""
        summaries = quantiles.make_quantile_summaries_op(features, weights, self._epsilon)
        return quantiles.add_summaries_op(self._handle, summaries)

    def flush(self) -> Operation:
        """Makes the boundaries from what was collected."""
        return quantiles.flush_op(self._handle, self._num_quantiles)
