"""Datasets at run time: the parts of an input pipeline, and how elements are pulled through it.

`Dataset.iterate` returns a function; each call of it, with the context of the step or thread that pulls,
returns the next element (a tuple of values, one for each component) or raises `End`. After an error, the next
call continues behind the element that failed. A batch is pulled in one call: `iterate_many` returns a
function that takes a number and returns that many elements, joined into one. Everything that works for one
pass over a dataset, in particular its threads, belongs to the pass's `Iteration` and stops with it.
"""

from __future__ import annotations

import abc
import contextlib
import copy
import itertools
import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError, OutOfRangeError
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.values import to_numpy
from tideflow.runtime.waiting import StepContext

Element = tuple[Any, ...]
Pull = Callable[[StepContext], Element]
PullMany = Callable[[StepContext, int], Element]
Function = Callable[..., Element]  # called with a StepContext and the values of an element

_CHECKED_AFTER = 1024  # elements that are passed over between looks at the step's deadline
INFINITE = -1
UNKNOWN = -2


class End(Exception):
    """Raised by a pull when there are no more elements."""


class Iteration:
    """One pass over a dataset. The passes over the datasets inside it stop with it."""

    _stopped = True  # of an object whose making an interrupt has ended

    def __init__(
        self, resources: ResourceManager, outer: Iteration | None = None, place: tuple[Any, ...] = ()
    ) -> None:
        self.resources = resources
        self.place = place  # where the dataset of this pass stands among those of the whole pass
        self.context = StepContext()  # the context in which threads of this pass pull elements
        self._outer = outer
        # Whether datasets that work in threads may return elements in any order.
        self.sloppy: bool = outer is not None and outer.sloppy
        self._record: Callable[[str, float], None] | None = None
        self._kept: dict[Any, Any] = {}  # what `keep` keeps, for the whole pass
        self._inner: weakref.WeakSet[Iteration] = weakref.WeakSet()
        self._endings: list[Callable[[], None]] = []
        self._stopped = False
        if outer is not None:
            outer._inner.add(self)

    @property
    def stopped(self) -> bool:
        """Whether no further elements are needed."""
        return self._stopped or self.resources.closed or self._outer is not None and self._outer.stopped

    @property
    def record(self) -> Callable[[str, float], None] | None:
        """The function that records a statistic of this pass under a tag; None without an aggregator."""
        return self._record if self._record is not None or self._outer is None else self._outer.record

    @record.setter
    def record(self, function: Callable[[str, float], None]) -> None:
        self._record = function

    def inner(self, *step: Any) -> Iteration:
        """A pass over a dataset inside this one; a step leads there where it is one of several."""
        return Iteration(self.resources, self, self.place + step)

    @property
    def whole(self) -> Iteration:
        """The pass of the iterator, of which this may be a part."""
        return self if self._outer is None else self._outer.whole

    def keep(self, key: Any, make: Callable[[], Any]) -> Any:
        """What this pass keeps under a key, made by `make` where there is nothing."""
        return self._kept.get(key) or self._kept.setdefault(key, make())

    def own(self, function: Function) -> Function:
        """A function as this pass calls it: with a state of its own, if it has one."""
        return function.begun(self) if isinstance(function, StatefulFunction) else function

    def at_end(self, ending: Callable[[], None]) -> None:
        """Registers a function that is called when this pass stops."""
        self._endings.append(ending)

    def stop(self) -> None:
        """Ends this pass, the passes inside it and their threads."""
        self._stopped = True
        self.context.cancel()
        for iteration in list(self._inner):
            iteration.stop()
        endings, self._endings = self._endings, []
        for ending in endings:
            ending()

    def __del__(self) -> None:
        if not self._stopped:
            self.stop()


class StatefulFunction(abc.ABC):
    """A function whose operations may keep state from one call to the next, such as random streams. Every
    pass of an iterator begins with a new state.
    """

    @abc.abstractmethod
    def __call__(self, context: StepContext, *values: Any) -> Element:
        """Calls the function outside any pass, with the session's state."""

    @abc.abstractmethod
    def begun(self, iteration: Iteration) -> Function:
        """The function with the state of the pass that this one is a part of."""


class Dataset(abc.ABC):
    """A sequence of elements, over which any number of passes can go."""

    origin: Any = None  # the node and the inputs that it was made of (`ops/helpers/dataset_origins.py`)

    @abc.abstractmethod
    def iterate(self, iteration: Iteration) -> Pull:
        """A function that returns the next element at each call."""

    def iterate_many(self, iteration: Iteration) -> PullMany:
        """A function that returns a given number of elements, joined into one; fewer at the end."""
        return many_of(self.iterate(iteration))

    def cardinality(self) -> int:
        """The number of elements, or INFINITE, or UNKNOWN."""
        return UNKNOWN


def refuse(message: str) -> InvalidArgumentError:
    return errors.invalid_argument(message)


def elements(dataset: Dataset, iteration: Iteration, context: StepContext) -> Iterator[Element]:
    """All elements, as a Python iterator."""
    pull = dataset.iterate(iteration)
    with contextlib.suppress(End):
        while True:
            yield pull(context)


def unstacked(value: Any) -> Sequence[Any]:
    """The slices of a value along its first axis."""
    if isinstance(value, torch.Tensor):
        return value.unbind(0)
    return [value[i, ...] for i in range(len(value))]


def stacked(values: Sequence[Any]) -> Any:
    """The values, stacked along a new first axis."""
    if isinstance(values[0], torch.Tensor):
        return torch.stack(tuple(values))
    if any(value.ndim for value in values):
        return np.stack(values)
    return as_cells([value[()] for value in values])


def as_cells(values: Sequence[Any]) -> np.ndarray:
    """A vector of strings or other objects."""
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def joined(taken: Sequence[Element]) -> Element:
    """The elements as one, each component stacked along a new first axis."""
    return tuple([_alike(i, values) for i, values in enumerate(zip(*taken, strict=True))])


def _alike(component: int, values: Sequence[Any]) -> Any:
    try:
        return stacked(values)
    except (RuntimeError, ValueError):
        for i, value in enumerate(values):
            if value.shape != values[0].shape:
                counts = {math.prod(each.shape) for each in (value, values[0])}
                said = (
                    "Cannot add tensor to the batch: number of elements does not match. Shapes are: "
                    f"[tensor]: {shape_text(value)}, [batch]: {shape_text(values[0])}. "
                    if len(counts) > 1
                    else ""
                )
                raise refuse(
                    f"{said}Cannot batch tensors with different shapes in component {component}. First "
                    f"element had shape {shape_text(values[0])} and element {i} had shape "
                    f"{shape_text(value)}."
                ) from None
        raise


def _concatenated(parts: Sequence[Element]) -> Element:
    """Several joined elements as one, concatenated along the first axis."""
    if len(parts) == 1:
        return parts[0]
    columns = list(zip(*parts, strict=True))
    if any(value.shape[1:] != values[0].shape[1:] for values in columns for value in values):
        return joined([element for part in parts for element in zip(*map(unstacked, part), strict=True)])
    return tuple([torch.cat(v) if isinstance(v[0], torch.Tensor) else np.concatenate(v) for v in columns])


def many_of(following: Pull, as_a_whole: bool = False) -> PullMany:
    """Elements of a pull, several at a time.

    If an element fails, the next call continues behind it; with `as_a_whole`, behind all elements of the
    call.
    """
    ended = False

    def pull(context: StepContext, count: int) -> Element:
        nonlocal ended
        if ended:
            raise End
        taken: list[Element] = []
        try:
            for _ in range(count):
                taken.append(following(context))
        except End:
            ended = True
            if not taken:
                raise
        except Exception:
            for _ in range(count - len(taken) - 1 if as_a_whole else 0):
                with contextlib.suppress(Exception):
                    following(context)
            raise
        return joined(taken)

    return pull


def many_in_turn(next_part: Callable[[StepContext, bool], PullMany]) -> PullMany:
    """The elements of several parts, one part after the other.

    `next_part(context, had_elements)` returns the next part, or raises `End` if there is none. Its second
    argument says whether the part before had any elements.
    """
    rest: PullMany | None = None
    had_elements = False

    def pull(context: StepContext, count: int) -> Element:
        nonlocal rest, had_elements
        parts: list[Element] = []
        while count:
            try:
                if rest is None:
                    rest, had_elements = next_part(context, had_elements), False
            except End:
                if not parts:
                    raise
                break
            try:
                parts.append(rest(context, count))
                count -= len(parts[-1][0])
                had_elements = True
            except End:
                rest = None
        return _concatenated(parts)

    return pull


def shape_text(value: Any) -> str:
    return "[" + ",".join(map(str, value.shape)) + "]"


# ------------------------------------------------------------------------------------------------- sources


class Tensors(Dataset):
    """A dataset of one element."""

    def __init__(self, components: Sequence[Any]) -> None:
        self._element = tuple(components)

    def iterate(self, iteration: Iteration) -> Pull:
        return iter_pull([self._element])

    def cardinality(self) -> int:
        return 1


class Rows(Dataset):
    """The slices of tensors along their first axis."""

    def __init__(self, components: Sequence[Any]) -> None:
        for i, value in enumerate(components):
            if not value.ndim:
                raise refuse(f"component {i} of the slices must have at least one dimension")
            if len(value) != len(components[0]):
                raise refuse(
                    f"All components must have the same size in the 0th dimension. Component {i} has "
                    f"{len(value)} slices along its first axis, and component 0 has {len(components[0])}"
                )
        self.components = tuple(components)

    def iterate(self, iteration: Iteration) -> Pull:
        return iter_pull(zip(*map(unstacked, self.components), strict=True))

    def iterate_many(self, iteration: Iteration) -> PullMany:
        start, total = 0, len(self.components[0])

        def pull(
            context: StepContext, count: int
        ) -> Element:  # a slice of the tensors, without splitting them into rows
            nonlocal start
            if start == total:
                raise End
            begin, start = start, min(start + count, total)
            return tuple([value[begin:start] for value in self.components])

        return pull

    def cardinality(self) -> int:
        return len(self.components[0])


class Elements(Dataset):
    """A list of elements in memory: a window or a group of another dataset's elements."""

    def __init__(self, given: Sequence[Element]) -> None:
        self._given = given

    def iterate(self, iteration: Iteration) -> Pull:
        return iter_pull(self._given)

    def cardinality(self) -> int:
        return len(self._given)


class SparseRows(Dataset):
    """The slices of a sparse tensor along its first axis: indices, values and shape of each."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        rows = indices[:, 0].tolist()
        if any(a > b for a, b in itertools.pairwise(rows)):
            raise errors.unimplemented(
                "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input "
                "is not currently supported."
            )
        if len(rows) != len(values):
            raise refuse(
                "indices and values rows (indexing dimension) must match. "
                f"(indices = {len(rows)}, values = {len(values)})"
            )
        if any(not 0 <= row < int(dense_shape[0]) for row in rows):
            raise refuse(f"an index is outside of the {int(dense_shape[0])} slices of the sparse tensor")
        self._indices, self._values, self._shape = indices, values, dense_shape

    def iterate(self, iteration: Iteration) -> Pull:
        count = int(self._shape[0])
        bounds = torch.searchsorted(self._indices[:, 0].contiguous(), torch.arange(count + 1)).tolist()
        spans = itertools.pairwise(bounds)
        return iter_pull((self._indices[a:b, 1:], self._values[a:b], self._shape[1:]) for a, b in spans)

    def cardinality(self) -> int:
        return int(self._shape[0])


class Range(Dataset):
    """The numbers from `start` up (or down) to `stop`, without `stop`."""

    def __init__(self, start: int, stop: int, step: int) -> None:
        if not step:
            raise refuse("step must be a non-zero integer.")
        self._range = range(start, stop, step)

    def iterate(self, iteration: Iteration) -> Pull:
        return iter_pull((torch.tensor(i),) for i in self._range)

    def cardinality(self) -> int:
        return len(self._range) if len(self._range) < 1 << 62 else INFINITE


class Generated(Dataset):
    """Elements of a generator: `init` makes a state, `following` an element until it is out of range."""

    def __init__(self, init: Function, following: Function, finalize: Function) -> None:
        self._init, self._following, self._finalize = init, following, finalize

    def iterate(self, iteration: Iteration) -> Pull:
        state: list[Element] = []
        finished = False

        def finish() -> None:
            nonlocal finished
            if state and not finished:
                finished = True
                self._finalize(StepContext(), *state[0])  # the step that pulled may be over

        def pull(context: StepContext) -> Element:
            if finished:
                raise End
            if not state:
                state.append(self._init(context))
                iteration.at_end(finish)
            try:
                return self._following(context, *state[0])
            except OutOfRangeError:
                finish()
                raise End from None

        return pull


def iter_pull(given: Iterable[Element]) -> Pull:
    """A pull of the elements of a Python iterable that does not fail."""
    step = iter(given).__next__

    def pull(context: StepContext) -> Element:
        try:
            return step()
        except StopIteration:
            raise End from None

    return pull


# ------------------------------------------------------------------------------------------------- one source


class OfOne(Dataset):
    """A dataset made of another one, its source."""

    def __init__(self, source: Dataset) -> None:
        self.source = source

    def over(self, source: Dataset) -> OfOne:
        """The same, made of another source."""
        made = copy.copy(self)
        made.source, made.origin = source, None
        return made


class Same(OfOne):
    """The source unchanged, for transformations that only advise how to run it."""

    def iterate(self, iteration: Iteration) -> Pull:
        return self.source.iterate(iteration)

    def iterate_many(self, iteration: Iteration) -> PullMany:
        return self.source.iterate_many(iteration)

    def cardinality(self) -> int:
        return self.source.cardinality()


class Sloppy(Same):
    """The source, whose datasets that work in threads may return elements in any order."""

    def iterate(self, iteration: Iteration) -> Pull:
        iteration.sloppy = True
        return super().iterate(iteration)

    def iterate_many(self, iteration: Iteration) -> PullMany:
        iteration.sloppy = True
        return super().iterate_many(iteration)


class Take(OfOne):
    """The first `count` elements; all if it is negative."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self._count = count

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        if self._count < 0:
            return following
        left = self._count

        def pull(context: StepContext) -> Element:
            nonlocal left
            if not left:
                raise End
            element = following(context)
            left -= 1
            return element

        return pull

    def iterate_many(self, iteration: Iteration) -> PullMany:
        following = self.source.iterate_many(iteration)
        if self._count < 0:
            return following
        left = self._count

        def pull(context: StepContext, count: int) -> Element:
            nonlocal left
            if not left:
                raise End
            rows = following(context, min(count, left))
            left -= len(rows[0])
            return rows

        return pull

    def cardinality(self) -> int:
        there = self.source.cardinality()
        if self._count < 0:
            return there
        return UNKNOWN if there == UNKNOWN else self._count if there == INFINITE else min(there, self._count)


def check_now_and_then(number: int, iteration: Iteration, context: StepContext, what: str) -> None:
    """To be called for each element that is passed over, with its number: however many there are, the step's
    deadline, its cancellation and the end of the pass hold meanwhile.
    """
    if number % _CHECKED_AFTER == 0:
        context.time_left(lambda: iteration.stopped, what)


class Skip(OfOne):
    """All but the first `count` elements; none if it is negative."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self._count = count

    def iterate(self, iteration: Iteration) -> Pull:
        if self._count < 0:
            return iter_pull(())
        following = self.source.iterate(iteration)
        left = self._count

        def pull(context: StepContext) -> Element:
            nonlocal left
            while left:
                following(context)
                left -= 1
                check_now_and_then(left, iteration, context, f"skipping {self._count} elements")
            return following(context)

        return pull

    def cardinality(self) -> int:
        there = self.source.cardinality()
        return 0 if self._count < 0 else there if there < 0 else max(0, there - self._count)


class Shard(OfOne):
    """Every `shards`-th element, from element `index` on. If no shard may be empty, a source with fewer
    elements than shards is an error of those shards that have one.
    """

    def __init__(self, source: Dataset, shards: int, index: int, require_non_empty: bool = False) -> None:
        super().__init__(source)
        if shards <= 0:
            raise refuse(f"Number of shards must be greater than zero (currently num_shards = {shards}).")
        if not 0 <= index < shards:
            raise refuse(f"Index must be between 0 and {shards - 1} (currently index = {index}).")
        self._shards, self._index, self._require_non_empty = shards, index, require_non_empty

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        position = 0

        def check_all_have_one(context: StepContext) -> None:
            nonlocal position
            while position < self._shards:
                try:
                    following(context)
                except End:
                    raise refuse(
                        "There aren't enough elements in this dataset for each shard to have at least one "
                        f"element (# elems = {position}, # shards = {self._shards}). If you are using "
                        "datasets with distribution strategy, consider turning dataset autosharding off with "
                        "`tf.data.Options`."
                    ) from None
                position += 1

        def pull(context: StepContext) -> Element:
            nonlocal position
            while True:
                element = following(context)
                position += 1
                if (position - 1) % self._shards == self._index:
                    if self._require_non_empty:
                        check_all_have_one(context)
                    return element
                check_now_and_then(position, iteration, context, f"an element of {self._shards}")

        return pull

    def cardinality(self) -> int:
        there = self.source.cardinality()
        return there if there < 0 else there // self._shards + (self._index < there % self._shards)


class Repeat(OfOne):
    """The source `count` times; infinitely often if `count` is negative."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count

    def iterate(self, iteration: Iteration) -> Pull:
        epoch, seen, number = iteration, False, 0
        following: Pull | None = None

        def pull(context: StepContext) -> Element:
            nonlocal epoch, following, seen, number
            while self.count < 0 or number < self.count:
                if following is None:
                    epoch = iteration.inner()
                    following, seen = self.source.iterate(epoch), False
                try:
                    element = following(context)
                    seen = True
                    return element
                except End:
                    epoch.stop()
                    following = None
                    number += 1
                    if self.count < 0 and not seen:  # repeating an empty dataset would not end
                        raise
                    check_now_and_then(number, iteration, context, "repeating a dataset without elements")
            raise End

        return pull

    def iterate_many(self, iteration: Iteration) -> PullMany:
        epoch, number = iteration, 0

        def next_epoch(context: StepContext, had_elements: bool) -> PullMany:
            nonlocal epoch, number
            if number:
                epoch.stop()
            if number == self.count or self.count < 0 and number and not had_elements:
                raise End
            epoch, number = iteration.inner(), number + 1
            return self.source.iterate_many(epoch)

        return many_in_turn(next_epoch)

    def cardinality(self) -> int:
        there = self.source.cardinality()
        if self.count < 0:
            return INFINITE if there else 0
        return 0 if not self.count else there if there < 0 else there * self.count


class IgnoreErrors(OfOne):
    """The elements of the source, without those that fail."""

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)

        def pull(context: StepContext) -> Element:
            while True:
                try:
                    return following(context)
                except End:
                    raise
                except Exception:
                    if iteration.stopped:
                        raise

        return pull


class Unique(OfOne):
    """The elements of the source, without repetitions."""

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        seen: set[Any] = set()

        def pull(context: StepContext) -> Element:
            while True:
                element = following(context)
                key = _key(element[0])
                if key not in seen:
                    seen.add(key)
                    return element

        return pull


def _key(value: Any) -> Any:
    array = to_numpy(value)
    return array.shape, tuple(array.ravel().tolist()) if array.dtype == object else array.tobytes()


class CachedElements:
    """The elements that a complete pass left in memory; None before the first one has ended."""

    def __init__(self) -> None:
        self.elements: list[Element] | None = None


class MemoryCache(OfOne):
    """The source, cached in memory by the first complete pass."""

    def __init__(self, source: Dataset, cached: CachedElements | None = None) -> None:
        super().__init__(source)
        self._cached = CachedElements() if cached is None else cached

    def iterate(self, iteration: Iteration) -> Pull:
        if self._cached.elements is not None:
            return iter_pull(self._cached.elements)
        following = self.source.iterate(iteration)
        seen: list[Element] = []

        def pull(context: StepContext) -> Element:
            try:
                seen.append(following(context))
            except End:
                self._cached.elements = seen
                raise
            return seen[-1]

        return pull

    def over(self, source: Dataset) -> OfOne:
        return MemoryCache(source)

    def cardinality(self) -> int:
        return self.source.cardinality()


# ------------------------------------------------------------------------------------------------- variants


def as_cell(dataset: Any) -> np.ndarray:
    """A variant of one cell that contains a dataset."""
    cell = np.empty((), dtype=object)
    cell[()] = dataset
    return cell


def dataset_in(value: np.ndarray) -> Dataset:
    """The dataset in a variant."""
    found = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
    if not isinstance(found, Dataset):
        raise refuse("The given variant tensor is not a dataset.")
    return found
