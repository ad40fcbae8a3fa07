"""How ensembles grow: at once from a batch that is all data, or from the means over many batches."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import tideflow as tf
from tideflow.estimator.canned.trees.state import QuantileAccumulator, TreeEnsemble
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.boosted_trees import ensembles, splits, statistics
from tideflow.queues.accumulators import ConditionalAccumulator
from tideflow.runtime.tree_ensembles import NO_PRUNING, POST_PRUNING, PRE_PRUNING

_PRUNING = {"none": NO_PRUNING, "pre": PRE_PRUNING, "post": POST_PRUNING}


class TreeSettings(NamedTuple):
    """The hyperparameters of an ensemble."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float

    @property
    def max_splits(self) -> int:
        """The most nodes that can be split: all but those of the last layer."""
        return (1 << self.max_depth) - 1

    @property
    def pruning(self) -> int:
        """The number of the pruning mode, which must go with the tree complexity."""
        if self.pruning_mode not in _PRUNING:
            raise ValueError(f"pruning_mode mode must be one of: {', '.join(sorted(_PRUNING))}")
        pruning = _PRUNING[self.pruning_mode]
        if self.tree_complexity > 0 and pruning == NO_PRUNING:
            raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
        if not self.tree_complexity > 0 and pruning != NO_PRUNING:
            raise ValueError("For pruning, tree_complexity must be positive.")
        return pruning


class Grower(abc.ABC):
    """What makes an ensemble larger, step by step.

    Args:
      ensemble: The ensemble.
      quantiles: The quantiles of numeric features; None without such.
      settings: The hyperparameters.
      groups: Numbers of buckets, and the features that have so many.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        quantiles: QuantileAccumulator | None,
        settings: TreeSettings,
        groups: Sequence[tuple[int, list[int]]],
    ):
        self._ensemble, self._quantiles, self._settings, self._groups = ensemble, quantiles, settings, groups
        self._pruning = settings.pruning
        self.chief_init_op: Operation = tf.no_op()

    @abc.abstractmethod
    def collect_quantiles(self, features: list[Tensor], weights: Tensor, is_ready: Any) -> Operation:
        """Adds the numbers of a batch; once there are enough, makes boundaries and sets a variable."""

    @abc.abstractmethod
    def center_bias(self, is_needed: Any, gradients: Tensor, hessians: Tensor) -> Operation:
        """Moves the bias, once there are enough batches; sets a variable to whether that is still needed."""

    @abc.abstractmethod
    def grow(self, summaries: list[list[Tensor]], last_layer: Tensor) -> Operation:
        """Adds a layer, once there are enough batches."""

    def summaries(
        self, nodes: Tensor, gradients: Tensor, hessians: Tensor, features: list[Tensor]
    ) -> list[list[Tensor]]:
        """The statistics of a batch for each feature, group by group."""

        def summary(feature: Tensor, buckets: int) -> Tensor:
            made = statistics.make_stats_summary_op(
                nodes,
                gradients,
                hessians,
                [feature],
                max_splits=self._settings.max_splits,
                num_buckets=buckets,
            )
            return tf.squeeze(made, axis=0)

        return [[summary(features[i], buckets) for i in ids] for buckets, ids in self._groups]

    def _center(self, is_needed: Any, mean_gradients: Tensor, mean_hessians: Tensor) -> Operation:
        settings = self._settings
        go_on = ensembles.center_bias_op(
            self._ensemble.resource_handle, mean_gradients, mean_hessians, settings.l1, settings.l2
        )
        return is_needed.assign(go_on).op

    def _add_layer(self, summaries: list[list[Tensor]], last_layer: Tensor) -> Operation:
        settings = self._settings
        found: list[list[Tensor]] = [[], [], [], [], []]
        for of_group in summaries:
            best = splits.best_gains_op(
                last_layer,
                of_group,
                settings.l1,
                settings.l2,
                settings.tree_complexity,
                settings.min_node_weight,
                max_splits=settings.max_splits,
            )
            for column, part in zip(found, best, strict=True):
                column += part
        return ensembles.update_ensemble_op(
            self._ensemble.resource_handle,
            [feature for _, ids in self._groups for feature in ids],
            *found,
            settings.max_depth,
            settings.learning_rate,
            pruning_mode=self._pruning,
        )


class InMemoryGrower(Grower):
    """Grows a layer in every step: a batch has all data."""

    def collect_quantiles(self, features: list[Tensor], weights: Tensor, is_ready: Any) -> Operation:
        with tf.control_dependencies([self._quantiles.add_summaries(features, weights)]):
            flush = self._quantiles.flush()
        with tf.control_dependencies([flush]):
            return is_ready.assign(True).op

    def center_bias(self, is_needed: Any, gradients: Tensor, hessians: Tensor) -> Operation:
        means = (tf.expand_dims(tf.reduce_mean(each, 0), 0) for each in (gradients, hessians))
        return self._center(is_needed, *means)

    def grow(self, summaries: list[list[Tensor]], last_layer: Tensor) -> Operation:
        return self._add_layer(summaries, last_layer)


class AccumulatingGrower(Grower):
    """Collects the statistics of several batches, also of several workers; the chief adds the layers.

    Args:
      stamp: The state of the ensemble for which the statistics of this step are.
      n_batches_per_layer: How many batches are collected for a layer.
      is_chief: Whether this task is the chief.
    """

    def __init__(
        self, *common: Any, stamp: Tensor, n_batches_per_layer: Any, is_chief: bool, centers_bias: bool
    ):
        super().__init__(*common)
        self._stamp, self._needed, self._is_chief = stamp, n_batches_per_layer, is_chief
        self._of_groups = [
            ConditionalAccumulator(
                tf.float32,
                [len(ids), self._settings.max_splits, buckets, 2],
                shared_name=f"numeric_stats_summary_accumulator_{i}",
            )
            for i, (buckets, ids) in enumerate(self._groups)
        ]
        made = [*self._of_groups]
        if centers_bias:
            self._of_bias = ConditionalAccumulator(tf.float32, [2, 1], shared_name="bias_accumulator")
            made.append(self._of_bias)
        if self._quantiles:
            self._batches = ConditionalAccumulator(tf.float32, [], shared_name="quantile_summary_accum")
        self.chief_init_op = tf.group([each.set_global_step(stamp) for each in made])

    def collect_quantiles(self, features: list[Tensor], weights: Tensor, is_ready: Any) -> Operation:
        added = tf.group(
            self._quantiles.add_summaries(features, weights),
            self._batches.set_global_step(self._stamp),
            self._batches.apply_grad(tf.constant(0.0), self._stamp),
        )

        def flush() -> Operation:
            taken = self._batches.take_grad(1)
            return tf.group(self._quantiles.flush(), taken, is_ready.assign(True).op)

        return self._when_enough(
            self._batches.num_accumulated, flush, [added], "wait_until_quaniles_accumulated"
        )

    def center_bias(self, is_needed: Any, gradients: Tensor, hessians: Tensor) -> Operation:
        means = tf.reduce_mean(tf.stack([gradients, hessians], axis=0), axis=1)
        added = self._of_bias.apply_grad(means, self._stamp)

        def center() -> Operation:
            mean_gradients, mean_hessians = tf.unstack(self._of_bias.take_grad(1), axis=0)
            centered = self._center(
                is_needed, tf.expand_dims(mean_gradients, 0), tf.expand_dims(mean_hessians, 0)
            )
            with tf.control_dependencies([centered]):
                return tf.cond(is_needed.read_value(), tf.no_op, advance)

        def advance() -> Operation:
            return tf.group([each.set_global_step(self._stamp + 1) for each in self._of_groups])

        return self._when_enough(
            self._of_bias.num_accumulated, center, [added], "wait_until_n_batches_for_bias_accumulated"
        )

    def grow(self, summaries: list[list[Tensor]], last_layer: Tensor) -> Operation:
        added = [
            accumulator.apply_grad(tf.stack(of_group, axis=0), self._stamp)
            for accumulator, of_group in zip(self._of_groups, summaries, strict=True)
        ]

        def fewest() -> Tensor:
            return tf.reduce_min(tf.stack([each.num_accumulated() for each in self._of_groups]))

        def add_layer() -> Operation:
            means = [tf.unstack(each.take_grad(1), axis=0) for each in self._of_groups]
            return self._add_layer(means, last_layer)

        return self._when_enough(fewest, add_layer, added, "wait_until_n_batches_accumulated")

    def _when_enough(self, count: Any, action: Any, after: list[Operation], name: str) -> Operation:
        """Has the chief do something, after a batch was added, where there are enough batches."""
        with tf.control_dependencies(after):
            if not self._is_chief:
                return tf.no_op()
            is_enough = tf.greater_equal(tf.cast(count(), tf.int64), tf.cast(self._needed, tf.int64))
            return tf.cond(is_enough, action, tf.no_op, name=name)
