"""K-means: clusters of points, from one batch or from many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import colocate_with, control_dependencies
from tideflow.nn.embeddings import embedding_lookup
from tideflow.nn.functions import l2_normalize
from tideflow.ops.arrays import constants, creation, distinct, indexing, joining, shapes
from tideflow.ops.control_flow import conditionals, grouping, while_loops
from tideflow.ops.linalg.matmul import matmul
from tideflow.ops.math import adding, binary, casting, checks, clustering, reductions, segments, unary
from tideflow.ops.random.distributions import random_uniform
from tideflow.ops.state.reference_variables import assign, assign_sub
from tideflow.ops.state.variable_rows import scatter_add
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
_KMC2_INIT = "kmc2"


class _State(NamedTuple):
    """The variables of a clustering. Where updates wait for some steps, they collect in `updated`."""

    centers: Any
    initialized: Any
    counts: Any
    updated: Any
    steps_left: Any


class KMeans:
    """Finds clusters of points by Lloyd's algorithm, or by its form for mini-batches.

    Args:
      inputs: The points, a tensor [points, size] or a list of such.
      num_clusters: The number of clusters.
      initial_clusters: How centers are chosen at first: `"random"`, `"kmeans_plus_plus"`, `"kmc2"`, a tensor
        of centers, or a function of the inputs and the number of centers that are lacking.
      distance_metric: `"squared_euclidean"` or `"cosine"`.
      use_mini_batch: Whether a step sees only a part of the points.
      mini_batch_steps_per_iteration: After how many steps the centers are moved.
      random_seed: The seed of the first choice.
      kmeans_plus_plus_num_retries: How many points k-means++ draws for a center beside the first.
      kmc2_chain_length: The length of the chain that finds a center.

    Raises:
      ValueError: If there is no such distance or choice.
    """

    def __init__(
        self,
        inputs: TensorLike | Sequence[TensorLike],
        num_clusters: TensorLike,
        initial_clusters: str | TensorLike | Callable = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ):
        choices = (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, _KMC2_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in choices:
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters = num_clusters
        self._initial_clusters = initial_clusters
        self._is_cosine = distance_metric == COSINE_DISTANCE
        self._use_mini_batch = use_mini_batch
        self._steps_per_iteration = int(mini_batch_steps_per_iteration)
        self._seed = random_seed
        self._retries = kmeans_plus_plus_num_retries
        self._chain_length = kmc2_chain_length

    def training_graph(self) -> tuple[Any, ...]:
        """Builds the clustering.

        Returns:
          The distances of all points to all centers, the nearest center of each point and its distance (each
          a tuple with a tensor for each of the inputs); a variable that tells whether all centers are chosen;
          the operation that chooses centers; and that which moves them.
        """
        start = self._initial_clusters
        if isinstance(start, str) or callable(start):
            count = convert_to_tensor(self._num_clusters)
        else:
            start = convert_to_tensor(start)
            count = shapes.shape(start)[0]
        state = self._variables(count)
        choose = _Choice(self, start, count, state).op()
        inputs, centers = self._inputs, state.centers
        if self._is_cosine:
            inputs = [l2_normalize(points, axis=1) for points in inputs]
            if not self._keeps_unit_length:
                centers = l2_normalize(centers, axis=1)
        all_distances, nearest, distances = self._inferred(inputs, centers)
        if self._use_mini_batch:
            with control_dependencies([self._moved_after_some_steps(state)]):
                train = _moved_by_batches(inputs, nearest, state)
        else:
            train = self._moved_to_means(inputs, nearest, count, state.centers)
        return all_distances, nearest, distances, state.initialized, choose, train

    @property
    def _waits(self) -> bool:
        return self._use_mini_batch and self._steps_per_iteration > 1

    @property
    def _keeps_unit_length(self) -> bool:
        """Whether the variable of the centers itself is kept at length 1."""
        return self._is_cosine and (not self._use_mini_batch or self._waits)

    def _variables(self, count: Tensor) -> _State:
        def unshaped(name: str) -> Any:
            empty = constants.constant([], dtype=dtypes.float32)
            return Variable(empty, name=name, validate_shape=False)

        centers = unshaped("clusters")
        initialized = Variable(False, dtype=dtypes.bool, name="initialized")
        if self._waits:
            updated = unshaped("clusters_updated")
            left = Variable(self._steps_per_iteration, dtype=dtypes.int64, name="update_in_steps")
            counts = Variable(creation.zeros([count], dtype=dtypes.int64))
            return _State(centers, initialized, counts, updated, left)
        counts = Variable(creation.ones([count], dtype=dtypes.int64)) if self._use_mini_batch else None
        return _State(centers, initialized, counts, centers, None)

    def _inferred(self, inputs: list[Tensor], centers: Any) -> tuple[tuple, tuple, tuple]:
        """All distances, the nearest centers, and their distances."""
        everything = []
        for points in inputs:
            with colocate_with(points, ignore_existing=True):
                products = matmul(points, centers, transpose_b=True)
                if self._is_cosine:
                    scores = 1 - products
                else:
                    norms = reductions.reduce_sum(unary.square(points), 1, keepdims=True)
                    of_centers = reductions.reduce_sum(unary.square(centers), 1, keepdims=True)
                    scores = norms - 2 * products + shapes.transpose(of_centers)
                nearest, distances = clustering.nearest_neighbors_op(points, centers, 1)
                if self._is_cosine:
                    distances *= 0.5  # of unit vectors, the squared distance is twice the cosine's
                everything.append((scores, shapes.squeeze(nearest, [-1]), shapes.squeeze(distances, [-1])))
        scores, nearest, distances = zip(*everything, strict=True)
        return scores, nearest, distances

    def _moved_to_means(self, inputs: Any, nearest: Any, count: Tensor, centers: Any) -> Tensor:
        """All centers at the means of the points that are nearest to them."""
        sums = adding.add_n(
            [segments.unsorted_segment_sum(p, n, count) for p, n in zip(inputs, nearest, strict=True)]
        )
        counts = adding.add_n(
            [
                segments.unsorted_segment_sum(creation.ones([shapes.shape(p)[0], 1]), n, count)
                for p, n in zip(inputs, nearest, strict=True)
            ]
        )
        with colocate_with(centers, ignore_existing=True):
            means = sums / (casting.cast(counts, sums.dtype) + constants.constant(1e-6, dtype=sums.dtype))
            return assign(centers, l2_normalize(means, axis=1) if self._keeps_unit_length else means)

    def _moved_after_some_steps(self, state: _State) -> Any:
        """Takes over the updates that were collected, where it is time for that."""
        if not self._waits:
            return constants.no_operation()

        def take_over() -> Tensor:
            with control_dependencies([assign(state.steps_left, self._steps_per_iteration - 1)]):
                moved = l2_normalize(state.updated, axis=1) if self._is_cosine else state.updated
                with control_dependencies([assign(state.centers, moved)]):
                    with control_dependencies([assign(state.counts, creation.zeros_like(state.counts))]):
                        return constants.identity(state.steps_left)

        return conditionals.cond(state.steps_left <= 0, take_over, lambda: assign_sub(state.steps_left, 1))


def _moved_by_batches(inputs: Any, nearest: Any, state: _State) -> Operation:
    """Centers a little nearer to the points of a batch, by the number of points they have seen."""
    updates = []
    for points, places in zip(inputs, nearest, strict=True):
        with colocate_with(points, ignore_existing=True):
            ids, groups = distinct.unique(shapes.reshape(places, [-1]))
            number = shapes.size(ids)
            old_counts = indexing.gather(state.counts, ids)
            old_centers = indexing.gather(state.updated, ids)
            ones = creation.ones_like(groups, dtype=state.counts.dtype)
            counts = segments.unsorted_segment_sum(ones, groups, number)
            sums = segments.unsorted_segment_sum(points, groups, number)
            spread = joining.concat([[number], creation.ones([shapes.rank(points) - 1], dtypes.int32)], 0)
            change = sums - casting.cast(shapes.reshape(counts, spread), points.dtype) * old_centers
            rate = unary.reciprocal(casting.cast(old_counts + counts, points.dtype))
            change *= shapes.reshape(rate, spread)
        updates += [scatter_add(state.counts, ids, counts), scatter_add(state.updated, ids, change)]
    return grouping.group(*updates)


class _Choice:
    """How the first centers are chosen, maybe over several steps: `num_remaining` are lacking."""

    def __init__(self, kmeans: KMeans, start: Any, count: Tensor, state: _State):
        self._kmeans, self._start, self._count, self._state = kmeans, start, count, state
        self._inputs = kmeans._inputs
        self._num_selected = shapes.shape(state.centers)[0]
        self._num_remaining = count - self._num_selected
        self._num_points = adding.add_n([shapes.shape(points)[0] for points in self._inputs])

    def op(self) -> Tensor:
        """The operation that chooses centers; it does nothing once there are all."""
        return conditionals.cond(
            binary.equal(self._num_remaining, 0),
            lambda: checks.assert_equal(self._state.initialized, True),
            self._initialize,
        )

    def _initialize(self) -> Any:
        with control_dependencies([checks.assert_positive(self._num_remaining)]):
            by_chains = isinstance(self._start, str) and self._start == _KMC2_INIT
            left = self._by_chains() if by_chains else self._added()
            return conditionals.cond(
                binary.equal(left, 0),
                lambda: assign(self._state.initialized, True).op,
                constants.no_operation,
            )

    def _normal(self, centers: Any) -> Any:
        return l2_normalize(centers, axis=1) if self._kmeans._is_cosine else centers

    def _kept(self, centers: Tensor) -> Tensor:
        """Sets the centers, and gives how many are still lacking."""
        kept = assign(self._state.centers, centers, validate_shape=False)
        if self._state.updated is not self._state.centers:
            kept = assign(self._state.updated, kept, validate_shape=False)
        return self._count - shapes.shape(kept)[0]

    def _added(self) -> Tensor:
        new = self._normal(self._chosen())
        centers = conditionals.cond(
            binary.equal(self._num_selected, 0),
            lambda: new,
            lambda: joining.concat([self._state.centers, new], 0),
        )
        return self._kept(centers)

    def _chosen(self) -> Any:
        if callable(self._start):
            return self._start(self._inputs, self._num_remaining)
        if not isinstance(self._start, str):
            enough = checks.assert_equal(self._num_remaining, shapes.shape(self._start)[0])
            with control_dependencies([enough]):
                return constants.identity(self._start)
        if self._start == RANDOM_INIT:
            return conditionals.cond(
                self._num_points <= self._num_remaining,
                lambda: joining.concat(self._inputs, 0),
                self._at_random,
            )
        with control_dependencies([checks.assert_greater_equal(self._num_points, self._num_remaining)]):
            return clustering.kmeans_plus_plus_op(
                self._normal(self._inputs[0]),
                casting.cast(self._num_remaining, dtypes.int64),
                self._kmeans._seed,
                self._kmeans._retries,
            )

    def _at_random(self) -> Tensor:
        places = random_uniform(
            shapes.reshape(self._num_remaining, [-1]),
            minval=0,
            maxval=casting.cast(self._num_points, dtypes.int64),
            seed=self._kmeans._seed,
            dtype=dtypes.int64,
        )
        return embedding_lookup(self._inputs, places, partition_strategy="div")

    def _by_chains(self) -> Tensor:
        """One center after another, each at the end of a chain over points of its own."""
        points, length = self._inputs[0], self._kmeans._chain_length
        possible = casting.cast(shapes.shape(points)[0] / length, dtypes.int32)
        wanted = binary.maximum(binary.minimum(self._num_remaining, possible), 1)

        def chain(i: Tensor) -> Tensor:
            part = points[i * length : (i + 1) * length]
            _, distances = clustering.nearest_neighbors_op(part, self._state.centers, 1)
            end = clustering.kmc2_chain_op(shapes.squeeze(distances), self._kmeans._seed)
            new = self._normal(shapes.reshape(part[end], [1, -1]))
            return joining.concat([self._state.centers, new], 0)

        def body(i: Tensor, _: Tensor) -> tuple[Tensor, Tensor]:
            centers = conditionals.cond(
                binary.equal(self._num_selected, 0),
                lambda: self._normal(shapes.reshape(points[0], [1, -1])),
                lambda: chain(i),
            )
            return i + 1, self._kept(centers)

        _, left = while_loops.while_loop(lambda i, _: i < wanted, body, [0, 0])
        return left
