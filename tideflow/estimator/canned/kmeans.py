"""k-means clustering as an estimator."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.estimator.canned.clustering import KMeans
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.export.outputs import PredictOutput
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.platform import logging
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tideflow.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tideflow.variables.global_step import get_global_step

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_CENTERS = "clusters"  # the variable of the centers


class _InitializeClusters(SessionRunHook):
    """Has the chief choose centers until there are enough; other tasks wait for it."""

    def __init__(self, init_op: Operation, is_initialized: Any, is_chief: bool):
        self._init_op, self._is_initialized, self._is_chief = init_op, is_initialized, is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        while True:
            try:
                if session.run(self._is_initialized):
                    return
                if self._is_chief:
                    session.run(self._init_op)
                else:
                    time.sleep(1)
            except RuntimeError as error:
                logging.info(error)


class _StopWhenSteady(SessionRunHook):
    """Ends training when a step changes the loss by less than a fraction of it."""

    def __init__(self, loss: Tensor, tolerance: float):
        self._loss, self._tolerance, self._before = loss, tolerance, None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        loss, before = run_values.results, self._before
        if before and abs(loss - before) / (1 + abs(before)) < self._tolerance:
            run_context.request_stop()
        self._before = loss


def _points(features: Any, feature_columns: Iterable[Any] | None) -> Tensor:
    if not isinstance(features, dict):
        return features
    if feature_columns:
        return tf.feature_column.input_layer(features, feature_columns)
    return tf.concat([features[key] for key in sorted(features)], axis=1)


@export("estimator.experimental.KMeans")
class KMeansClustering(Estimator):
    """Finds clusters of points.

    Args:
      num_clusters: The number of clusters.
      model_dir: The directory of the model.
      initial_clusters: `KMeansClustering.RANDOM_INIT`, `KMeansClustering.KMEANS_PLUS_PLUS_INIT`, the centers
        themselves, or a function of a batch and a number that returns up to so many centers.
      distance_metric: `KMeansClustering.SQUARED_EUCLIDEAN_DISTANCE` or `KMeansClustering.COSINE_DISTANCE`.
      seed: The seed of the choice of centers.
      use_mini_batch: Whether a batch is a part of the data.
      mini_batch_steps_per_iteration: After how many batches the centers move.
      kmeans_plus_plus_num_retries: How many more points are drawn for each center; the best is taken.
      relative_tolerance: Training ends when the loss changes by less than this fraction.
      config: A RunConfig.
      feature_columns: The feature columns, if features come by name; all features if None.

    Raises:
      ValueError: If the initialization or the distance is unknown.
    """

    SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
    COSINE_DISTANCE = "cosine"
    RANDOM_INIT = "random"
    KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = _CENTERS

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: str | TensorLike | Callable = "random",
        distance_metric: str = "squared_euclidean",
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
        feature_columns: Sequence[Any] | None = None,
    ):
        known = (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in known:
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (self.SQUARED_EUCLIDEAN_DISTANCE, self.COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        self._distance_metric = distance_metric

        def model_fn(features: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            distances, indices, losses, is_initialized, init_op, train_op = KMeans(
                _points(features, feature_columns),
                num_clusters,
                initial_clusters,
                distance_metric,
                use_mini_batch,
                mini_batch_steps_per_iteration,
                seed,
                kmeans_plus_plus_num_retries,
            ).training_graph()
            loss = tf.reduce_sum(losses)
            tf.summary.scalar("loss/raw", loss)
            counted = tf.assign_add(get_global_step(), 1)
            with tf.control_dependencies([train_op, counted]):
                train_op = tf.identity(loss)
            hooks: list[SessionRunHook] = [_InitializeClusters(init_op, is_initialized, config.is_chief)]
            if relative_tolerance is not None:
                hooks.append(_StopWhenSteady(loss, relative_tolerance))
            return EstimatorSpec(
                mode,
                predictions={self.ALL_DISTANCES: distances[0], self.CLUSTER_INDEX: indices[0]},
                loss=loss,
                train_op=train_op,
                eval_metric_ops={self.SCORE: tf.metrics.mean(loss)},
                training_hooks=hooks,
                export_outputs={
                    self.ALL_DISTANCES: PredictOutput(distances[0]),
                    self.CLUSTER_INDEX: PredictOutput(indices[0]),
                    DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(indices[0]),
                },
            )

        super().__init__(model_fn, model_dir, config)

    def _predicted(self, input_fn: Callable, key: str) -> Iterator[Any]:
        for prediction in self.predict(input_fn, [key]):
            yield prediction[key]

    def predict_cluster_index(self, input_fn: Callable) -> Iterator[np.integer]:
        """Says in which cluster each point is.

        Args:
          input_fn: A function that returns a dataset of points, or points.

        Yields:
          The index of the nearest center of each point.
        """
        yield from self._predicted(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn: Callable) -> np.floating:
        """Adds up the distances of a batch of points to their nearest centers.

        Args:
          input_fn: A function that returns a dataset of points, or points.

        Returns:
          The sum.
        """
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: Callable) -> Iterator[np.ndarray]:
        """Computes the distances of each point to all centers.

        Args:
          input_fn: A function that returns a dataset of points, or points.

        Yields:
          The distances.
        """
        is_squared = self._distance_metric == self.SQUARED_EUCLIDEAN_DISTANCE
        for distances in self._predicted(input_fn, self.ALL_DISTANCES):
            yield np.sqrt(distances) if is_squared else distances

    def cluster_centers(self) -> np.ndarray:
        """Reads the centers from the newest checkpoint.

        Returns:
          A row for each center.
        """
        return self.get_variable_value(_CENTERS)
