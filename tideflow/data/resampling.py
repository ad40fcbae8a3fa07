"""Elements dropped at random, until classes are as frequent as is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.data.dataset import Dataset
from tideflow.data.transformations import Transformation, sample_from_datasets, scan
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.ops.arrays import creation, indexing, shapes, tiling
from tideflow.ops.control_flow import conditionals, debugging
from tideflow.ops.math import binary, casting, reductions
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_ESTIMATED_TOGETHER = 32
_SEEN_BEFORE = 10  # of each class: a first estimate


@export("data.experimental.rejection_resample", "contrib.data.rejection_resample")
def rejection_resample(
    class_func: Callable,
    target_dist: TensorLike,
    initial_dist: TensorLike | None = None,
    seed: int | None = None,
) -> Transformation:
    """Makes a transformation that drops elements at random, so that classes have a given distribution.

    Args:
      class_func: A function from an element's tensors to its class, an int32 scalar.
      target_dist: The probabilities of the classes to reach, a vector.
      initial_dist: The probabilities of the classes in the data; estimated along the way if None.
      seed: The seed of the random numbers.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`. The elements are pairs of class and element.
    """

    def apply(dataset: Dataset) -> Dataset:
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        known = None
        if initial_dist is not None:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            chances, untouched = _chances(initial, target)
            found, accepted, mixed = (
                Dataset.from_tensors(part).repeat() for part in (initial, chances, untouched)
            )
            known = _known_share(initial, target)
        else:
            found = _estimated(target, classes)
            both = found.map(lambda initial: _chances(initial, target))
            accepted, mixed = both.map(lambda chances, _: chances), both.map(lambda _, untouched: untouched)
        kept = _kept(dataset, accepted, found, classes, seed).prefetch(3)
        if known == 0:
            return kept
        whole = Dataset.zip((classes, dataset))
        if known == 1:
            return whole
        return sample_from_datasets([whole, kept], mixed.map(lambda share: [(share, 1.0 - share)]), seed)

    return apply


def _chances(initial: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """How likely an element of each class is kept, and which share of the elements is taken as they come.

    With r = target / initial, a share min(r) comes unfiltered; of the rest, class i is accepted with
    (r_i - min(r)) / (max(r) - min(r)).
    """
    ratio = target / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)
    largest, smallest = reductions.reduce_max(ratio), reductions.reduce_min(ratio)
    return (ratio - smallest) / (largest - smallest), smallest


def _known_share(initial: Tensor, target: Tensor) -> Any:
    """The share of elements that comes unfiltered, where the graph alone says it."""
    values = constant_value(initial), constant_value(target)
    return None if any(value is None for value in values) else np.min(values[1] / values[0])


def _kept(dataset: Dataset, accepted: Dataset, found: Dataset, classes: Dataset, seed: Any) -> Dataset:
    """The pairs of class and element that are kept, at random."""
    accepted = Dataset.zip((accepted, found)).map(_warned)
    parts = Dataset.zip((classes, accepted, dataset))
    parts = parts.map(lambda label, chances, element: (label, indexing.gather(chances, label), element))
    kept = parts.filter(lambda label, chance, element: distributions.random_uniform([], seed=seed) < chance)
    return kept.map(lambda label, chance, element: (label, element))


def _warned(chances: Tensor, initial: Tensor) -> Tensor:
    """The chances, printed where more than half of the elements would be dropped."""
    dropped = reductions.reduce_sum((1 - chances) * initial)
    return conditionals.cond(
        binary.less(dropped, 0.5),
        lambda: chances,
        lambda: debugging.Print(
            chances,
            [dropped, initial, chances],
            message="Proportion of examples rejected by sampler is high: ",
            summarize=100,
            first_n=10,
        ),
    )


def _estimated(target: Tensor, classes: Dataset) -> Dataset:
    """How frequent the classes are, counted so far: one estimate for each element."""
    size = target.shape.as_list()[0] or shapes.shape(target)[0]
    before = creation.fill([size], np.int64(_SEEN_BEFORE))

    def count(seen: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        ones = creation.one_hot(labels, seen.shape[0], dtype=dtypes.int64)
        seen = binary.add(seen, reductions.reduce_sum(ones, 0))
        share = casting.cast(binary.truediv(seen, reductions.reduce_sum(seen)), dtypes.float32)
        return seen, tiling.tile(shapes.expand_dims(share, 0), [_ESTIMATED_TOGETHER, 1])

    return classes.batch(_ESTIMATED_TOGETHER).apply(scan(before, count)).unbatch()
