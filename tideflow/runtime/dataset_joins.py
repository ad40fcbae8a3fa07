"""Datasets of the elements of several others: side by side, one after the other, chosen one by one."""

from __future__ import annotations

from collections.abc import Sequence

from tideflow.runtime.datasets import INFINITE, UNKNOWN, Dataset, Element, End, Iteration, Pull, refuse
from tideflow.runtime.waiting import StepContext


class Zip(Dataset):
    """The elements of several datasets side by side, until the first dataset ends."""

    def __init__(self, sources: Sequence[Dataset]) -> None:
        self.sources = list(sources)

    def iterate(self, iteration: Iteration) -> Pull:
        pulls = [source.iterate(iteration.inner(i)) for i, source in enumerate(self.sources)]
        return lambda context: tuple([value for pull in pulls for value in pull(context)])

    def cardinality(self) -> int:
        counts = [source.cardinality() for source in self.sources]
        if UNKNOWN in counts:
            return UNKNOWN
        return min((count for count in counts if count != INFINITE), default=INFINITE)


class Concatenate(Dataset):
    """The elements of several datasets, one dataset after the other."""

    def __init__(self, sources: Sequence[Dataset]) -> None:
        self.sources = list(sources)

    def iterate(self, iteration: Iteration) -> Pull:
        rest = [source.iterate(iteration.inner(i)) for i, source in enumerate(self.sources)]

        def pull(context: StepContext) -> Element:
            while rest:
                try:
                    return rest[0](context)
                except End:
                    rest.pop(0)
            raise End

        return pull

    def cardinality(self) -> int:
        counts = [source.cardinality() for source in self.sources]
        return INFINITE if INFINITE in counts else UNKNOWN if UNKNOWN in counts else sum(counts)


class Directed(Dataset):
    """Elements of several datasets. Each element of `selector` is the index of the source to pull from.

    An exhausted source is skipped.
    """

    def __init__(self, selector: Dataset, sources: Sequence[Dataset]) -> None:
        self._selector, self.sources = selector, list(sources)

    def iterate(self, iteration: Iteration) -> Pull:
        choose = self._selector.iterate(iteration)
        pulls: list[Pull | None] = [
            source.iterate(iteration.inner(i)) for i, source in enumerate(self.sources)
        ]

        def pull(context: StepContext) -> Element:
            while any(pulls):
                index = int(choose(context)[0])
                if not 0 <= index < len(pulls):
                    raise refuse(f"Selector index out of range: {index} >= {len(pulls)}")
                chosen = pulls[index]
                if chosen is not None:
                    try:
                        return chosen(context)
                    except End:
                        pulls[index] = None
            raise End

        return pull
