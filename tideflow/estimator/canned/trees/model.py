"""The model function of boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.estimator.canned.trees.features import (
    Transformed,
    boundaries_by_column,
    by_name,
    feature_names,
    groups_by_buckets,
    is_float,
)
from tideflow.estimator.canned.trees.growing import AccumulatingGrower, InMemoryGrower, TreeSettings
from tideflow.estimator.canned.trees.state import QuantileAccumulator, TreeEnsemble
from tideflow.estimator.heads.base import Head
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.feature_column.base import FeatureColumn
from tideflow.feature_column.dense import IndicatorColumn
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.boosted_trees import ensembles
from tideflow.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tideflow.variables.global_step import get_or_create_global_step

DEBUG_OUTPUTS = "_serialized_debug_outputs_proto"
ENSEMBLE = "boosted_trees"
_QUANTILES = "QuantileAccumulator"
_NOWHERE = -1  # the node of an example that was in no tree yet


def _variable(initial_value: Any, name: str) -> Any:
    return tf.Variable(initial_value, trainable=False, validate_shape=False, name=name, use_resource=True)


class _Columns:
    """The columns of a model in order, and the quantiles of the numeric ones."""

    def __init__(self, columns: Sequence[FeatureColumn], epsilon: float):
        self.all = by_name(columns)
        self.floats = [column for column in self.all if is_float(column)]
        self.num_quantiles = int(1.0 / epsilon)
        self.quantiles, self.boundaries = None, {}
        if self.floats:
            count = len(feature_names(self.floats))
            self.quantiles = QuantileAccumulator(epsilon, count, self.num_quantiles, _QUANTILES)
            self.boundaries = boundaries_by_column(self.floats, self.quantiles.get_bucket_boundaries())


class _VariableCache:
    """Where each example was in the trees, for batches that are all data."""

    def __init__(self, batch_size: Tensor, logits_dimension: int):
        self._trees = _variable(tf.zeros([batch_size], tf.int32), "tree_ids_cache")
        self._nodes = _variable(_NOWHERE * tf.ones([batch_size], tf.int32), "node_ids_cache")
        self._logits = _variable(tf.zeros([batch_size, logits_dimension]), "logits_cache")

    def lookup(self) -> tuple[Any, Any, Any]:
        return self._trees, self._nodes, self._logits

    def insert(self, trees: Tensor, nodes: Tensor, logits: Tensor) -> Operation:
        pairs = ((self._trees, trees), (self._nodes, nodes), (self._logits, logits))
        return tf.group([variable.assign(value) for variable, value in pairs], name="cache_insert")


def _nothing_cached(batch_size: Tensor, logits_dimension: int) -> tuple[Tensor, Tensor, Tensor]:
    return (
        tf.zeros([batch_size], tf.int32),
        _NOWHERE * tf.ones([batch_size], tf.int32),
        tf.zeros([batch_size, logits_dimension]),
    )


def _cached_buckets(
    transformed: Transformed, columns: _Columns, batch_size: Tensor, are_boundaries_ready: Any
) -> tuple[list[Tensor], Operation]:
    """The buckets of all data, and the operation that keeps them.

    They are kept as TensorFlow keeps them: only while boundaries are not known. Categories are looked up
    outside of conditionals, since their tables are initialized before.
    """
    names = feature_names(columns.all)
    cached = [_variable(tf.zeros([batch_size], tf.int32), f"cached_feature_{i}") for i in range(len(names))]
    are_cached = _variable(False, "are_features_cached")
    transformed.prepare(column for column in columns.all if isinstance(column, IndicatorColumn))

    def compute() -> list[Tensor]:
        return transformed.buckets(columns.all, columns.boundaries)

    def read() -> list[Tensor]:
        return [variable.read_value() for variable in cached]

    is_read = tf.logical_and(are_cached, tf.logical_not(are_boundaries_ready))
    buckets = tf.cond(is_read, read, compute, strict=True)  # a list, of one feature too

    def keep() -> Operation:
        kept = [variable.assign(bucket) for variable, bucket in zip(cached, buckets, strict=True)]
        with tf.control_dependencies(kept):
            return are_cached.assign(True).op

    return buckets, tf.cond(tf.logical_or(are_cached, are_boundaries_ready), tf.no_op, keep)


def _check_in_memory(n_batches_per_layer: Any, config: RunConfig) -> None:
    if n_batches_per_layer != 1:
        raise AssertionError(
            "When train_in_memory is enabled, input_fn should return the entire dataset as a single batch, "
            "and n_batches_per_layer should be set as 1."
        )
    if not config.is_chief or config.num_worker_replicas > 1 or config.num_ps_replicas > 0:
        raise ValueError("train_in_memory is supported only for non-distributed training.")


def _task_ensemble(ensemble: TreeEnsemble, name: str, config: RunConfig) -> tuple[TreeEnsemble, list]:
    """The ensemble that a task asks for logits: among several workers a copy, and what updates it."""
    if config.num_worker_replicas <= 1:
        return ensemble, []
    with tf.device(tf.no_op().device):
        own = TreeEnsemble(f"{name}_local", is_local=True)
    return own, [own.deserialize(*ensemble.serialize())]


def _prediction_spec(
    features: Any, labels: Any, mode: str, head: Head, ensemble: TreeEnsemble, buckets: Any
) -> EstimatorSpec:
    logits = ensembles.predict_op(ensemble.resource_handle, buckets, logits_dimension=head.logits_dimension)
    return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=lambda loss: tf.no_op())


def _derivatives(loss: Tensor, logits: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients and the hessians of a loss."""
    gradients = tf.gradients(loss, logits, name="Gradients")[0]
    return gradients, tf.gradients(gradients, logits, name="Hessians")[0]


def _summarize_progress(num_trees: Tensor, num_finalized: Tensor, num_attempted: Tensor) -> None:
    tf.summary.scalar("ensemble/num_trees", num_trees)
    tf.summary.scalar("ensemble/num_finalized_trees", num_finalized)
    tf.summary.scalar("ensemble/num_attempted_layers", num_attempted)


def _example_weights(transformed: Transformed, weight_column: Any) -> Tensor:
    if weight_column is None:
        return tf.constant(1.0, shape=[1])
    if isinstance(weight_column, str):
        weight_column = tf.feature_column.numeric_column(weight_column, shape=(1,))
    return transformed.numbers([weight_column])[0]


def boosted_trees_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Head,
    feature_columns: Sequence[FeatureColumn],
    settings: TreeSettings,
    n_batches_per_layer: Any,
    config: RunConfig,
    gradients_fn: Callable[[Tensor, Any], tuple[Tensor, Tensor]] | None = None,
    weight_column: Any = None,
    train_in_memory: bool = False,
) -> EstimatorSpec:
    """The model function of boosted trees.

    Args:
      features: The features by name.
      labels: The labels.
      mode: One of `tf.estimator.ModeKeys`.
      head: The head.
      feature_columns: The feature columns.
      settings: The hyperparameters.
      n_batches_per_layer: How many batches are collected for a layer.
      config: The RunConfig.
      gradients_fn: A function from logits and labels to gradients and hessians; `tf.gradients` if None.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      train_in_memory: Whether a batch has all data.

    Returns:
      The EstimatorSpec.
    """
    with tf.name_scope(ENSEMBLE) as name:
        global_step = get_or_create_global_step()
        ensemble = TreeEnsemble(name)
        columns = _Columns(feature_columns, settings.quantile_sketch_epsilon)
        groups = groups_by_buckets(columns.all, columns.num_quantiles)
        transformed = Transformed(features)
        if mode != ModeKeys.TRAIN:
            buckets = transformed.buckets(columns.all, columns.boundaries)
            return _prediction_spec(features, labels, mode, head, ensemble, buckets)
        is_ready = _variable(not columns.floats, "are_boundaries_ready")
        batch_size = tf.shape(labels)[0]
        cache, keep_buckets = None, []
        if train_in_memory:
            _check_in_memory(n_batches_per_layer, config)
            buckets, kept = _cached_buckets(transformed, columns, batch_size, is_ready)
            keep_buckets = [kept]
            cache = _VariableCache(batch_size, head.logits_dimension)
            trees, nodes, known = cache.lookup()
        else:
            buckets = transformed.buckets(columns.all, columns.boundaries)
            trees, nodes, known = _nothing_cached(batch_size, head.logits_dimension)
        own, reloaded = _task_ensemble(ensemble, name, config)
        with tf.control_dependencies(reloaded):
            stamp, num_trees, num_finalized, num_attempted, last_layer = own.get_states()
            partial, tree_ids, node_ids = ensembles.training_predict_op(
                own.resource_handle, trees, nodes, buckets, logits_dimension=head.logits_dimension
            )
        logits = known + partial
        common = (ensemble, columns.quantiles, settings, groups)
        if train_in_memory:
            grower = InMemoryGrower(*common)
        else:
            grower = AccumulatingGrower(
                *common,
                stamp=stamp,
                n_batches_per_layer=n_batches_per_layer,
                is_chief=config.is_chief,
                centers_bias=settings.center_bias,
            )
        _summarize_progress(num_trees, num_finalized, num_attempted)
        is_centering = _variable(settings.center_bias, "center_bias_needed")
        weights = _example_weights(transformed, weight_column)
        numbers = transformed.numbers(columns.floats)

        def train_op_fn(loss: Tensor) -> Operation | Tensor:
            gradients, hessians = gradients_fn(logits, labels) if gradients_fn else _derivatives(loss, logits)

            def grow() -> Operation:
                summaries = grower.summaries(node_ids, gradients, hessians, buckets)
                return grower.grow(summaries, last_layer)

            def center() -> Operation:
                return grower.center_bias(is_centering, gradients, hessians)

            def step() -> Operation:
                done = list(keep_buckets)
                if cache:
                    insert = lambda: cache.insert(tree_ids, node_ids, logits)
                    done.append(tf.cond(is_centering, tf.no_op, insert))
                done.append(tf.cond(is_centering, center, grow) if settings.center_bias else grow())
                with tf.control_dependencies([done[-1]]):
                    done.append(global_step.assign_add(1).op)
                return tf.group(done, name="grow_op")

            def collect() -> Operation:
                with tf.name_scope("UpdateQuantile"):
                    return grower.collect_quantiles(numbers, weights, is_ready)

            return tf.cond(is_ready, step, collect) if columns.floats else step()

    spec = head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train_op_fn)
    stop = _StopAtAttemptsHook(num_finalized, num_attempted, settings.n_trees, settings.max_depth)
    return spec._replace(
        training_hooks=(*spec.training_hooks, stop),
        training_chief_hooks=(_InitializationHook(grower.chief_init_op), *spec.training_chief_hooks),
    )


class _StopAtAttemptsHook(SessionRunHook):
    """Ends training when there are enough trees, or it was tried often enough to grow some.

    Near the end the numbers are read once more, after the step.
    """

    def __init__(self, num_finalized: Tensor, num_attempted: Tensor, max_trees: int, max_depth: int):
        self._read = [num_finalized, num_attempted]
        self._max_trees, self._max_attempts = max_trees, 2 * max_trees * max_depth

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._read)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        finalized, attempted = run_values.results
        if finalized >= self._max_trees - 1 or attempted > self._max_attempts - 1:
            finalized, attempted = run_context.session.run(self._read)
        if finalized >= self._max_trees or attempted > self._max_attempts:
            run_context.request_stop()


class _InitializationHook(SessionRunHook):
    """Has the chief prepare accumulators for the state of the ensemble that a session begins with."""

    def __init__(self, init_op: Operation):
        self._init_op = init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._init_op)


def explanations_model_fn(
    features: Any, head: Head, feature_columns: Sequence[FeatureColumn], epsilon: float
) -> EstimatorSpec:
    """The model function of predictions with explanations: what each split did to the logits."""
    with tf.name_scope(ENSEMBLE) as name:
        ensemble = TreeEnsemble(name)
        columns = _Columns(feature_columns, epsilon)
        buckets = Transformed(features).buckets(columns.all, columns.boundaries)
        logits = ensembles.predict_op(
            ensemble.resource_handle, buckets, logits_dimension=head.logits_dimension
        )
        spec = head.create_estimator_spec(features, ModeKeys.PREDICT, logits)
        spec.predictions[DEBUG_OUTPUTS] = ensembles.example_debug_outputs_op(
            ensemble.resource_handle, buckets, logits_dimension=head.logits_dimension
        )
        return spec
