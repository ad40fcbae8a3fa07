"""`contrib.factorization.KMeansClustering`: the estimator, with the argument that contrib's version has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.estimator.canned import kmeans
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.factorization.KMeansClustering")
class KMeansClustering(kmeans.KMeansClustering):
    """Finds clusters of points.

    Args:
      num_clusters: The number of clusters.
      model_dir: The directory of checkpoints and summaries.
      initial_clusters: How the first centers are chosen: `"random"`, `"kmeans_plus_plus"`, a tensor of them,
        or a function that makes it.
      distance_metric: `"squared_euclidean"` or `"cosine"`.
      random_seed: The seed of what is chosen at random.
      use_mini_batch: Whether a step uses a batch, and not all points.
      mini_batch_steps_per_iteration: After how many batches the centers are moved.
      kmeans_plus_plus_num_retries: How many points are tried for each first center.
      relative_tolerance: Training ends when the loss changes by a smaller part; never if None.
      config: The configuration.
      feature_columns: The columns that make the points of features; all features side by side if None.
    """

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: str | TensorLike | Callable = "random",
        distance_metric: str = "squared_euclidean",
        random_seed: int | None = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
        feature_columns: Any = None,
    ):
        super().__init__(
            num_clusters,
            model_dir,
            initial_clusters,
            distance_metric,
            random_seed,
            use_mini_batch,
            mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries,
            relative_tolerance,
            config,
            feature_columns,
        )
