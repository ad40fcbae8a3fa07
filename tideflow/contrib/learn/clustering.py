"""KMeansClustering of tf.contrib.learn: an estimator that finds clusters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.contrib.learn.estimator import Estimator
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.estimator.canned import clustering as kmeans
from tideflow.export import export
from tideflow.platform.deprecation import deprecated
from tideflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from tideflow.variables.global_step import get_global_step

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_FACTORIZATION = (
    None,
    "Please use tf.contrib.factorization.KMeansClustering instead of tf.contrib.learn.KMeansClustering. It "
    "has a similar interface, but uses the tf.estimator.Estimator API instead of tf.contrib.learn.Estimator.",
)


class ChooseCenters(SessionRunHook):
    """Chooses the first centers; workers other than the chief wait for them."""

    def __init__(self, init_op: Any, is_initialized: Any, is_chief: bool):
        self._init_op, self._is_initialized, self._is_chief = init_op, is_initialized, is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        while not session.run(self._is_initialized):
            if self._is_chief:
                session.run(self._init_op)
            else:
                time.sleep(1)


class _StopWhenSettled(SessionRunHook):
    """Stops when the loss hardly changes any more."""

    def __init__(self, tolerance: float, loss: Any):
        self._tolerance, self._loss = tolerance, loss
        self._before: float | None = None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss, before = run_values.results, self._before
        if before is not None and abs(loss - before) / (1 + abs(before)) < self._tolerance:
            run_context.request_stop()
        self._before = loss


def _model_fn(features: Any, labels: Any, mode: str, params: dict, config: Any) -> ModelFnOps:
    assert labels is None, labels
    if isinstance(features, dict):
        features = tf.concat([value for _, value in sorted(features.items())], 1)
    tolerance = params["relative_tolerance"]
    arguments = {name: value for name, value in params.items() if name != "relative_tolerance"}
    all_scores, nearest, losses, is_initialized, init_op, train = kmeans.KMeans(
        features, **arguments
    ).training_graph()
    step = tf.assign_add(get_global_step(), 1)
    loss = tf.reduce_sum(losses, name=KMeansClustering.LOSS_OP_NAME)
    tf.summary.scalar("loss/raw", loss)
    with tf.control_dependencies([train, step]):
        train = tf.identity(loss)
    hooks: list[SessionRunHook] = [ChooseCenters(init_op, is_initialized, config.is_chief)]
    if tolerance is not None:
        hooks.append(_StopWhenSettled(tolerance, loss))
    return ModelFnOps(
        mode=mode,
        predictions={
            KMeansClustering.ALL_SCORES: all_scores[0],
            KMeansClustering.CLUSTER_IDX: nearest[0],
        },
        eval_metric_ops={KMeansClustering.SCORES: loss},
        loss=loss,
        train_op=train,
        training_hooks=hooks,
    )


@export("contrib.learn.KMeansClustering")
class KMeansClustering(Estimator):
    """Finds clusters of points.

    Args:
      num_clusters: The number of clusters.
      model_dir: The directory of the model.
      initial_clusters: How centers are chosen at first: `"random"`, `"kmeans_plus_plus"`, a tensor of
        centers, or a function of the inputs and the number of centers that are lacking.
      distance_metric: `"squared_euclidean"` or `"cosine"`.
      random_seed: The seed of the first choice.
      use_mini_batch: Whether a step sees only a part of the points.
      mini_batch_steps_per_iteration: After how many steps the centers are moved.
      kmeans_plus_plus_num_retries: How many points k-means++ draws for a center beside the first.
      relative_tolerance: The training stops when the loss changes by a smaller part than this.
      config: A RunConfig.
    """

    SQUARED_EUCLIDEAN_DISTANCE = kmeans.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = kmeans.COSINE_DISTANCE
    RANDOM_INIT = kmeans.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = kmeans.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    @deprecated(*_FACTORIZATION)
    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: str | TensorLike | Callable = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
    ):
        params = {
            "num_clusters": num_clusters,
            "initial_clusters": initial_clusters,
            "distance_metric": distance_metric,
            "use_mini_batch": use_mini_batch,
            "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
            "random_seed": random_seed,
            "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries,
            "relative_tolerance": relative_tolerance,
        }
        super().__init__(_model_fn, model_dir, config, params)

    def predict_cluster_idx(self, input_fn: Callable | None = None) -> Iterator[int]:
        """Finds the cluster of each point.

        Args:
          input_fn: A function that returns the points.

        Yields:
          The number of a cluster.
        """
        key = KMeansClustering.CLUSTER_IDX
        for found in self.predict(input_fn=input_fn, outputs=[key]):
            yield found[key]

    def score(self, input_fn: Callable | None = None, steps: int | None = None) -> float:
        """Adds up the distances of all points to their centers.

        Args:
          input_fn: A function that returns the points.
          steps: The number of steps; until the data end if None.

        Returns:
          The sum.
        """
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[KMeansClustering.SCORES])

    def transform(self, input_fn: Callable | None = None, as_iterable: bool = False) -> Any:
        """Computes the distances of points to all centers.

        Args:
          input_fn: A function that returns the points.
          as_iterable: Whether an iterator is returned.

        Returns:
          The distances [points, centers], or an iterator over dictionaries of those of each point.
        """
        key = KMeansClustering.ALL_SCORES
        found = self.predict(input_fn=input_fn, outputs=[key], as_iterable=as_iterable)
        return found if as_iterable else found[key]

    def clusters(self) -> np.ndarray:
        """Reads the centers of the newest checkpoint.

        Returns:
          The centers.
        """
        return self.get_variable_value(self.CLUSTERS)
