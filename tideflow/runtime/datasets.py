"""Datasets at run time: what an input pipeline is made of, and how elements are pulled through it.

A dataset says how to go through its elements: `iterate` gives a function, and each call of it gives the next
element (a tuple of values, one for each component) or raises `End`. An error is no end: the call after it
goes on behind the element that failed. Batches are asked for as such: `iterate_many` gives a function that
takes a number and gives so many elements as one. Everything that works for one pass over a dataset, threads
above all, belongs to its `Iteration` and stops with it.
"""

from __future__ import annotations

import abc
import contextlib
import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError, OutOfRangeError
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.values import to_numpy
from tideflow.runtime.waiting import Limits

Element = tuple[Any, ...]
Pull = Callable[[], Element]
PullMany = Callable[[int], Element]
Function = Callable[..., Element]

INFINITE = -1
UNKNOWN = -2


class End(Exception):
    """There are no more elements."""


class Iteration:
    """One pass over a dataset. The passes over the datasets inside it stop when it does."""

    def __init__(self, resources: ResourceManager, outer: Iteration | None = None):
        self.resources = resources
        self.limits = Limits()  # of what threads do for this pass
        self._outer = outer
        self._tell: Callable[[str, float], None] | None = None
        self._stopped = False
        self._inner: weakref.WeakSet[Iteration] = weakref.WeakSet()
        self._endings: list[Callable[[], None]] = []
        if outer is not None:
            outer._inner.add(self)

    @property
    def stopped(self) -> bool:
        """Whether nobody wants further elements."""
        return self._stopped or self.resources.closed or self._outer is not None and self._outer.stopped

    @property
    def tell(self) -> Callable[[str, float], None] | None:
        """Where statistics of this pass go, by tag; None where nobody wants them."""
        return self._tell if self._tell is not None or self._outer is None else self._outer.tell

    @tell.setter
    def tell(self, function: Callable[[str, float], None]) -> None:
        self._tell = function

    def inner(self) -> Iteration:
        """A pass over another dataset, on behalf of this one."""
        return Iteration(self.resources, self)

    def at_end(self, ending: Callable[[], None]) -> None:
        """Has `ending` called when this pass stops."""
        self._endings.append(ending)

    def stop(self) -> None:
        """Ends this pass, and whatever works for it."""
        self._stopped = self.limits.cancelled = True
        for iteration in list(self._inner):
            iteration.stop()
        endings, self._endings = self._endings, []
        for ending in endings:
            ending()

    def __del__(self) -> None:
        if not self._stopped:
            self.stop()


class Dataset(abc.ABC):
    """A sequence of elements that can be gone through any number of times."""

    @abc.abstractmethod
    def iterate(self, iteration: Iteration) -> Pull:
        """A function that gives the next element at each call."""

    def iterate_many(self, iteration: Iteration) -> PullMany:
        """A function that gives so many elements at each call, joined into one; fewer at the end."""
        return many_of(self.iterate(iteration))

    def cardinality(self) -> int:
        """How many elements there are, or INFINITE, or UNKNOWN."""
        return UNKNOWN


def refuse(message: str) -> InvalidArgumentError:
    return errors.invalid_argument(message)


def elements(dataset: Dataset, iteration: Iteration) -> Iterator[Element]:
    """All the elements, for a `for`."""
    pull = dataset.iterate(iteration)
    with contextlib.suppress(End):
        while True:
            yield pull()


def unstacked(value: Any) -> Sequence[Any]:
    """The slices of a value along its first axis."""
    if isinstance(value, torch.Tensor):
        return value.unbind(0)
    return [value[i, ...] for i in range(len(value))]


def stacked(values: Sequence[Any]) -> Any:
    """Values along a new first axis."""
    if isinstance(values[0], torch.Tensor):
        return torch.stack(values)
    if any(value.ndim for value in values):
        return np.stack(values)
    return as_cells([value[()] for value in values])


def as_cells(values: Sequence[Any]) -> np.ndarray:
    """Strings, or other objects, as a vector."""
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def joined(taken: Sequence[Element]) -> Element:
    """Elements as one, each component along a new first axis."""
    return tuple([_alike(i, values) for i, values in enumerate(zip(*taken, strict=True))])


def _alike(component: int, values: Sequence[Any]) -> Any:
    try:
        return stacked(values)
    except (RuntimeError, ValueError):
        for i, value in enumerate(values):
            if value.shape != values[0].shape:
                raise refuse(
                    f"Cannot batch tensors with different shapes in component {component}. First element had "
                    f"shape {shape_text(values[0])} and element {i} had shape {shape_text(value)}."
                ) from None
        raise


def _behind_each_other(parts: Sequence[Element]) -> Element:
    """Joined elements as one."""
    if len(parts) == 1:
        return parts[0]
    columns = list(zip(*parts, strict=True))
    if any(value.shape[1:] != values[0].shape[1:] for values in columns for value in values):
        return joined([element for part in parts for element in zip(*map(unstacked, part), strict=True)])
    return tuple([torch.cat(v) if isinstance(v[0], torch.Tensor) else np.concatenate(v) for v in columns])


def many_of(following: Pull, as_a_whole: bool = False) -> PullMany:
    """Elements that come one by one, so many at a time. Where one fails, what follows it comes next; where
    they are taken `as_a_whole`, what follows all of them.
    """
    ended = False

    def pull(count: int) -> Element:
        nonlocal ended
        if ended:
            raise End
        taken: list[Element] = []
        try:
            for _ in range(count):
                taken.append(following())
        except End:
            ended = True
            if not taken:
                raise
        except Exception:
            for _ in range(count - len(taken) - 1 if as_a_whole else 0):
                with contextlib.suppress(Exception):
                    following()
            raise
        return joined(taken)

    return pull


def many_in_turn(next_part: Callable[[bool], PullMany]) -> PullMany:
    """The elements of one part behind those of another. `next_part` is told whether the part before gave any,
    and raises `End` when there is none left.
    """
    rest: PullMany | None = None
    gave = False

    def pull(count: int) -> Element:
        nonlocal rest, gave
        parts: list[Element] = []
        while count:
            try:
                if rest is None:
                    rest, gave = next_part(gave), False
            except End:
                if not parts:
                    raise
                break
            try:
                parts.append(rest(count))
                count -= len(parts[-1][0])
                gave = True
            except End:
                rest = None
        return _behind_each_other(parts)

    return pull


def shape_text(value: Any) -> str:
    return "[" + ",".join(map(str, value.shape)) + "]"


# ------------------------------------------------------------------------------------------------- sources


class Tensors(Dataset):
    """One element."""

    def __init__(self, components: Sequence[Any]):
        self._element = tuple(components)

    def iterate(self, iteration: Iteration) -> Pull:
        return iter_pull([self._element])

    def cardinality(self) -> int:
        return 1


class Rows(Dataset):
    """The slices of tensors along their first axis."""

    def __init__(self, components: Sequence[Any]):
        for i, value in enumerate(components):
            if not value.ndim:
                raise refuse(f"component {i} of the slices must have at least one dimension")
            if len(value) != len(components[0]):
                raise refuse(
                    f"Component {i} has {len(value)} slices along its first axis, and component 0 has "
                    f"{len(components[0])}"
                )
        self.components = tuple(components)

    def iterate(self, iteration: Iteration) -> Pull:
        return iter_pull(zip(*map(unstacked, self.components), strict=True))

    def iterate_many(self, iteration: Iteration) -> PullMany:
        start, total = 0, len(self.components[0])

        def pull(count: int) -> Element:  # the rows of whole tensors need not be taken apart first
            nonlocal start
            if start == total:
                raise End
            begin, start = start, min(start + count, total)
            return tuple([value[begin:start] for value in self.components])

        return pull

    def cardinality(self) -> int:
        return len(self.components[0])


class Elements(Dataset):
    """Elements that are there already: a window of others, a group."""

    def __init__(self, given: Sequence[Element]):
        self._given = given

    def iterate(self, iteration: Iteration) -> Pull:
        return iter_pull(self._given)

    def cardinality(self) -> int:
        return len(self._given)


class SparseRows(Dataset):
    """The slices of a sparse tensor along its first axis: indices, values and shape of each."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any):
        rows = indices[:, 0].tolist()
        if any(a > b for a, b in itertools.pairwise(rows)):
            raise refuse("SparseTensor has non-consecutive indices")
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
    """Numbers from `start` up (or down) to `stop`."""

    def __init__(self, start: int, stop: int, step: int):
        if not step:
            raise refuse("step must be a non-zero integer.")
        self._range = range(start, stop, step)

    def iterate(self, iteration: Iteration) -> Pull:
        return iter_pull((torch.tensor(i),) for i in self._range)

    def cardinality(self) -> int:
        return len(self._range) if len(self._range) < 1 << 62 else INFINITE


class Generated(Dataset):
    """What functions make: a state from `init`, then elements from `next` until it is out of range."""

    def __init__(self, init: Function, following: Function, finalize: Function):
        self._init, self._following, self._finalize = init, following, finalize

    def iterate(self, iteration: Iteration) -> Pull:
        state: list[Element] = []
        finished = False

        def finish() -> None:
            nonlocal finished
            if state and not finished:
                finished = True
                self._finalize(*state[0])

        def pull() -> Element:
            if finished:
                raise End
            if not state:
                state.append(self._init())
                iteration.at_end(finish)
            try:
                return self._following(*state[0])
            except OutOfRangeError:
                finish()
                raise End from None

        return pull


def iter_pull(given: Any) -> Pull:
    """The elements of something that Python can iterate over, and that does not fail."""
    step = iter(given).__next__

    def pull() -> Element:
        try:
            return step()
        except StopIteration:
            raise End from None

    return pull


# ------------------------------------------------------------------ of one


class OfOne(Dataset):
    """A dataset made of another one."""

    def __init__(self, source: Dataset):
        self.source = source


class Same(OfOne):
    """The other dataset, as it is: what only advises how to run it."""

    def iterate(self, iteration: Iteration) -> Pull:
        return self.source.iterate(iteration)

    def iterate_many(self, iteration: Iteration) -> PullMany:
        return self.source.iterate_many(iteration)

    def cardinality(self) -> int:
        return self.source.cardinality()


class Take(OfOne):
    """The first `count` elements; all if it is negative."""

    def __init__(self, source: Dataset, count: int):
        super().__init__(source)
        self._count = count

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        if self._count < 0:
            return following
        left = self._count

        def pull() -> Element:
            nonlocal left
            if not left:
                raise End
            element = following()
            left -= 1
            return element

        return pull

    def iterate_many(self, iteration: Iteration) -> PullMany:
        following = self.source.iterate_many(iteration)
        if self._count < 0:
            return following
        left = self._count

        def pull(count: int) -> Element:
            nonlocal left
            if not left:
                raise End
            rows = following(min(count, left))
            left -= len(rows[0])
            return rows

        return pull

    def cardinality(self) -> int:
        there = self.source.cardinality()
        if self._count < 0:
            return there
        return UNKNOWN if there == UNKNOWN else self._count if there == INFINITE else min(there, self._count)


class Skip(OfOne):
    """All but the first `count` elements; none if it is negative."""

    def __init__(self, source: Dataset, count: int):
        super().__init__(source)
        self._count = count

    def iterate(self, iteration: Iteration) -> Pull:
        if self._count < 0:
            return iter_pull(())
        following = self.source.iterate(iteration)
        left = self._count

        def pull() -> Element:
            nonlocal left
            while left:
                following()
                left -= 1
            return following()

        return pull

    def cardinality(self) -> int:
        there = self.source.cardinality()
        return 0 if self._count < 0 else there if there < 0 else max(0, there - self._count)


class Shard(OfOne):
    """Every `shards`-th element, from element `index` on."""

    def __init__(self, source: Dataset, shards: int, index: int):
        super().__init__(source)
        if shards <= 0:
            raise refuse(f"Number of shards must be greater than zero (currently num_shards = {shards}).")
        if not 0 <= index < shards:
            raise refuse(f"Index must be between 0 and {shards - 1} (currently index = {index}).")
        self._shards, self._index = shards, index

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        position = 0

        def pull() -> Element:
            nonlocal position
            while True:
                element = following()
                position += 1
                if (position - 1) % self._shards == self._index:
                    return element

        return pull

    def cardinality(self) -> int:
        there = self.source.cardinality()
        return there if there < 0 else there // self._shards + (self._index < there % self._shards)


class Repeat(OfOne):
    """The other dataset again and again; without end if `count` is negative."""

    def __init__(self, source: Dataset, count: int):
        super().__init__(source)
        self.count = count

    def iterate(self, iteration: Iteration) -> Pull:
        epoch, following, seen, number = iteration, None, False, 0

        def pull() -> Element:
            nonlocal epoch, following, seen, number
            while self.count < 0 or number < self.count:
                if following is None:
                    epoch = iteration.inner()
                    following, seen = self.source.iterate(epoch), False
                try:
                    element = following()
                    seen = True
                    return element
                except End:
                    epoch.stop()
                    following = None
                    number += 1
                    if self.count < 0 and not seen:  # an empty dataset is empty forever
                        raise
            raise End

        return pull

    def iterate_many(self, iteration: Iteration) -> PullMany:
        epoch, number = iteration, 0

        def next_epoch(gave: bool) -> PullMany:
            nonlocal epoch, number
            if number:
                epoch.stop()
            if number == self.count or self.count < 0 and number and not gave:
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
    """The elements that can be made."""

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)

        def pull() -> Element:
            while True:
                try:
                    return following()
                except End:
                    raise
                except Exception:
                    if iteration.stopped:
                        raise

        return pull


class Unique(OfOne):
    """Each element once."""

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        seen: set[Any] = set()

        def pull() -> Element:
            while True:
                element = following()
                key = _key(element[0])
                if key not in seen:
                    seen.add(key)
                    return element

        return pull


def _key(value: Any) -> Any:
    array = to_numpy(value)
    return array.shape, tuple(array.ravel().tolist()) if array.dtype == object else array.tobytes()


class MemoryCache(OfOne):
    """The other dataset, kept in memory once it has been gone through."""

    def __init__(self, source: Dataset):
        super().__init__(source)
        self._kept: list[Element] | None = None

    def iterate(self, iteration: Iteration) -> Pull:
        if self._kept is not None:
            return iter_pull(self._kept)
        following = self.source.iterate(iteration)
        seen: list[Element] = []

        def pull() -> Element:
            try:
                seen.append(following())
            except End:
                self._kept = seen
                raise
            return seen[-1]

        return pull

    def cardinality(self) -> int:
        return self.source.cardinality()


# ------------------------------------------------------------------------------------------------- of several


class Zip(Dataset):
    """The elements of several datasets side by side, as long as all have some."""

    def __init__(self, sources: Sequence[Dataset]):
        self.sources = list(sources)

    def iterate(self, iteration: Iteration) -> Pull:
        pulls = [source.iterate(iteration) for source in self.sources]
        return lambda: tuple([value for pull in pulls for value in pull()])

    def cardinality(self) -> int:
        counts = [source.cardinality() for source in self.sources]
        if UNKNOWN in counts:
            return UNKNOWN
        return min((count for count in counts if count != INFINITE), default=INFINITE)


class Concatenate(Dataset):
    """One dataset behind the other."""

    def __init__(self, sources: Sequence[Dataset]):
        self.sources = list(sources)

    def iterate(self, iteration: Iteration) -> Pull:
        rest = [source.iterate(iteration) for source in self.sources]

        def pull() -> Element:
            while rest:
                try:
                    return rest[0]()
                except End:
                    rest.pop(0)
            raise End

        return pull

    def cardinality(self) -> int:
        counts = [source.cardinality() for source in self.sources]
        return INFINITE if INFINITE in counts else UNKNOWN if UNKNOWN in counts else sum(counts)


class Directed(Dataset):
    """From one of several datasets each element, as the first of them says; the exhausted are passed over."""

    def __init__(self, selector: Dataset, sources: Sequence[Dataset]):
        self._selector, self.sources = selector, list(sources)

    def iterate(self, iteration: Iteration) -> Pull:
        choose = self._selector.iterate(iteration)
        pulls: list[Pull | None] = [source.iterate(iteration) for source in self.sources]

        def pull() -> Element:
            while any(pulls):
                index = int(choose()[0])
                if not 0 <= index < len(pulls):
                    raise refuse(f"Selector index out of range: {index} >= {len(pulls)}")
                chosen = pulls[index]
                if chosen is not None:
                    try:
                        return chosen()
                    except End:
                        pulls[index] = None
            raise End

        return pull


# ------------------------------------------------------------------------------------------------- as values


def as_cell(dataset: Any) -> np.ndarray:
    """A dataset as a value: a variant of one cell."""
    cell = np.empty((), dtype=object)
    cell[()] = dataset
    return cell


def dataset_in(value: np.ndarray) -> Dataset:
    """The dataset in a variant."""
    found = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
    if not isinstance(found, Dataset):
        raise refuse("The given variant tensor is not a dataset.")
    return found
