"""`CrossShardOptimizer`, which sums gradients over replicas: over one, it is the optimizer it is given."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.contrib.tpu.computations import cross_replica_sum
from tideflow.contrib.tpu.replicas import number_of_shards
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.platform import logging
from tideflow.train.optimizer import Optimizer


@export("tpu.CrossShardOptimizer", "contrib.tpu.CrossShardOptimizer")
class CrossShardOptimizer(Optimizer):
    """An optimizer that applies gradients summed over replicas.

    Args:
      opt: The optimizer that applies them.
      reduction: Whether gradients are averaged (`tf.losses.Reduction.MEAN`) or summed (`SUM`).
      name: A name for the optimizer.
      group_assignment: The groups of replicas within which gradients are summed; all together if None.

    Raises:
      TypeError: If `opt` is an optimizer of Keras.
      ValueError: If the reduction is another one.
    """

    def __init__(
        self,
        opt: Optimizer,
        reduction: str = tf.losses.Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: list[list[int]] | None = None,
    ):
        if reduction not in (tf.losses.Reduction.SUM, tf.losses.Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        if not isinstance(opt, Optimizer):
            raise TypeError(
                "CrossShardOptimizer does not work with OptimizerV2. Give it an optimizer of tf.train, not "
                f"a {type(opt).__name__}."
            )
        super().__init__(False, name)
        self._opt = opt
        self._reduction = reduction
        self._group_assignment = group_assignment

    def _group_size(self, shards: int) -> int:
        groups = self._group_assignment
        if not groups:
            return shards
        if not (isinstance(groups, list) and all(isinstance(group, list) for group in groups)):
            raise ValueError(f"group_assignment must be a list of list. Got {groups}")
        if {replica for group in groups for replica in group} != set(range(shards)):
            raise ValueError(
                f"group_assignment must be a permutation of range({shards}). Got group_assignment={groups}"
            )
        if len({len(group) for group in groups}) > 1:
            raise ValueError(
                f"The size of each subgroup in group_assignment must be equal. Got group_assignment={groups}"
            )
        return len(groups[0])

    def compute_gradients(self, loss: Tensor, var_list: Any = None, **kwargs: Any) -> list[Any]:
        """Computes gradients, of the loss's share of each replica where they are averaged.

        Args:
          loss: The loss.
          var_list: The variables; all that can be trained if None.
          **kwargs: Further arguments of the optimizer's `compute_gradients`.

        Returns:
          A list of pairs of gradient and variable.
        """
        shards = number_of_shards()
        if shards is None:
            logging.warning(
                "CrossShardOptimizer should be used within a tpu_shard_context, but got unset "
                "number_of_shards. Assuming 1."
            )
            shards = 1
        size = self._group_size(shards)
        if shards > 1 and self._reduction == tf.losses.Reduction.MEAN:
            loss *= 1.0 / size
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Any = None) -> Operation:
        """Applies gradients, summed over the replicas.

        Args:
          grads_and_vars: Pairs of gradient and variable.
          global_step: A variable to count up.
          name: A name for the operation.

        Returns:
          The operation that applies them.
        """
        summed = [
            (None if gradient is None else self._summed(gradient), variable)
            for gradient, variable in grads_and_vars
        ]
        return self._opt.apply_gradients(summed, global_step, name)

    def _summed(self, gradient: Any) -> Any:
        if isinstance(gradient, tf.IndexedSlices):
            values = cross_replica_sum(gradient.values, self._group_assignment)
            return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
        return cross_replica_sum(gradient, self._group_assignment)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        return self._opt.variables()
