"""GMM: an estimator that fits a mixture of normal distributions to points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.contrib.factorization.mixtures import GmmAlgorithm, gmm
from tideflow.contrib.learn.clustering import ChooseCenters
from tideflow.contrib.learn.estimator import Estimator
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.export import export
from tideflow.variables.global_step import get_global_step

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _model_fn(features: Any, labels: Any, mode: str, params: dict, config: Any) -> ModelFnOps:
    assert labels is None, labels
    if isinstance(features, dict):
        features = tf.concat([value for _, value in sorted(features.items())], 1)
    loss, scores, assignments, train, init_op, is_initialized = gmm(features, **params)
    step = tf.assign_add(get_global_step(), 1)
    with tf.control_dependencies([train, step]):
        train = tf.identity(loss)
    total = tf.contrib.framework.local_variable(tf.constant(0.0))
    return ModelFnOps(
        mode=mode,
        predictions={GMM.ASSIGNMENTS: assignments[0][0]},
        eval_metric_ops={GMM.SCORES: scores, GMM.LOG_LIKELIHOOD: (total, total.assign_add(loss))},
        loss=loss,
        train_op=train,
        training_hooks=[ChooseCenters(init_op, is_initialized, config.is_chief)],
    )


@export("contrib.factorization.GMM")
class GMM(Estimator):
    """An estimator that fits a mixture of normal distributions to points.

    Its input functions return the points, [points, size], and None for labels.

    Args:
      num_clusters: The number of distributions.
      model_dir: The directory of the model.
      random_seed: The seed of the first means.
      params: What is fitted: `w` for weights, `m` for means, `c` for covariances, in one string.
      initial_clusters: The first means, or `"random"` for random points.
      covariance_type: `"full"` or `"diag"`.
      config: A RunConfig.
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        random_seed: int = 0,
        params: str = "wmc",
        initial_clusters: str | TensorLike = "random",
        covariance_type: str = "full",
        config: RunConfig | None = None,
    ):
        of_gmm = {
            "initial_clusters": initial_clusters,
            "num_clusters": num_clusters,
            "random_seed": random_seed,
            "covariance_type": covariance_type,
            "params": params,
        }
        super().__init__(_model_fn, model_dir, config, of_gmm)

    def predict_assignments(
        self,
        input_fn: Callable | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
    ) -> Iterator[Any]:
        """Finds the likeliest distribution of each point.

        Args:
          input_fn: A function that returns the points.
          batch_size: The number of points in a step.
          outputs: The names of the predictions; all if None.

        Yields:
          The number of the distribution.
        """
        for found in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield found[self.ASSIGNMENTS]

    def score(
        self, input_fn: Callable | None = None, batch_size: int | None = None, steps: int | None = None
    ) -> Any:
        """Computes how likely points are.

        Args:
          input_fn: A function that returns the points.
          batch_size: The number of points in a step.
          steps: The number of steps; until the points end if None.

        Returns:
          The logarithm of the sum of the points' densities.
        """
        found = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(found[self.SCORES])))

    def weights(self) -> np.ndarray:
        """The weights of the distributions."""
        return tf.train.load_variable(self.model_dir, GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> np.ndarray:
        """The means of the distributions."""
        return np.squeeze(tf.train.load_variable(self.model_dir, GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self) -> np.ndarray:
        """The covariances of the distributions."""
        return tf.train.load_variable(self.model_dir, GmmAlgorithm.CLUSTERS_COVS_VARIABLE)
