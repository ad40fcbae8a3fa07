"""Datasets made by functions of elements: map, filter, interleave, scan, groups.

A function is a callable from an element's values to a tuple of values: the plan of a graph.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any

import torch

from tideflow.graph.errors import OutOfRangeError
from tideflow.runtime.dataset_rows import RowFunction, called, rows_mapped
from tideflow.runtime.dataset_threads import ahead
from tideflow.runtime.datasets import (
    Dataset,
    Element,
    Elements,
    End,
    Function,
    Iteration,
    OfOne,
    Pull,
    PullMany,
    as_cell,
    dataset_in,
    elements,
    many_in_turn,
    many_of,
    refuse,
)


class Map(OfOne):
    """What a function makes of each element; where the function is out of range, the dataset ends."""

    def __init__(self, source: Dataset, function: Function):
        super().__init__(source)
        self._function = function

    def iterate(self, iteration: Iteration) -> Pull:
        following, function = self.source.iterate(iteration), self._function

        def pull() -> Element:
            try:
                return function(*following())
            except OutOfRangeError:
                raise End from None

        return pull

    def iterate_many(self, iteration: Iteration) -> PullMany:
        if isinstance(self._function, RowFunction):
            return rows_mapped(self._function, self.source.iterate_many(iteration), called)
        return many_of(self.iterate(iteration), as_a_whole=True)  # as TensorFlow, which fuses the two

    def cardinality(self) -> int:
        return self.source.cardinality()


class Filter(OfOne):
    """The elements for which a predicate holds."""

    def __init__(self, source: Dataset, predicate: Function):
        super().__init__(source)
        self._predicate = predicate

    def iterate(self, iteration: Iteration) -> Pull:
        following, predicate = self.source.iterate(iteration), self._predicate

        def pull() -> Element:
            while True:
                element = following()
                if holds(predicate(*element)):
                    return element

        return pull


class TakeWhile(OfOne):
    """The elements in front of the first for which a predicate does not hold."""

    def __init__(self, source: Dataset, predicate: Function):
        super().__init__(source)
        self._predicate = predicate

    def iterate(self, iteration: Iteration) -> Pull:
        following, predicate = self.source.iterate(iteration), self._predicate
        ended = False

        def pull() -> Element:
            nonlocal ended
            if ended:
                raise End
            element = following()
            if holds(predicate(*element)):
                return element
            ended = True
            raise End

        return pull


def holds(result: Element) -> bool:
    """What a predicate said."""
    (truth,) = result
    if truth.ndim or truth.dtype != torch.bool:
        raise refuse("Filter predicate `f` must return a scalar bool.")
    return truth.item()


class FlatMap(OfOne):
    """The elements of the datasets that a function makes of each element, one dataset after the other."""

    def __init__(self, source: Dataset, function: Function):
        super().__init__(source)
        self._function = function

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        part: Iteration | None = None
        rest: Pull | None = None

        def pull() -> Element:
            nonlocal part, rest
            while True:
                if rest is None:
                    made = _made(self._function, following())
                    part = iteration.inner()
                    rest = made.iterate(part)
                try:
                    return rest()
                except End:
                    part.stop()
                    rest = None

        return pull

    def iterate_many(self, iteration: Iteration) -> PullMany:
        following = self.source.iterate(iteration)
        part: Iteration | None = None

        def next_part(_: bool) -> PullMany:
            nonlocal part
            if part is not None:
                part.stop()
            made = _made(self._function, following())
            part = iteration.inner()
            return made.iterate_many(part)

        return many_in_turn(next_part)


def _made(function: Function, element: Element) -> Dataset:
    (variant,) = function(*element)
    return dataset_in(variant)


class Interleave(OfOne):
    """The elements of `cycle` datasets at a time, `block` from each in turn; `threads` has each of them read
    ahead by a thread.
    """

    def __init__(self, source: Dataset, function: Function, cycle: int, block: int, threads: bool = False):
        super().__init__(source)
        if cycle <= 0:
            raise refuse("cycle_length must be greater than zero.")
        if block <= 0:
            raise refuse("block_length must be greater than zero.")
        self._function, self._cycle, self._block, self._threads = function, cycle, block, threads

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        slots: list[tuple[Iteration, Pull] | None] = [None] * self._cycle
        at, taken, ended = 0, 0, False

        def pull() -> Element:
            nonlocal at, taken, ended
            while not ended or any(slots):
                slot = slots[at]
                if slot is not None:
                    try:
                        element = slot[1]()
                    except End:
                        slot[0].stop()
                        slots[at] = None
                        at, taken = (at + 1) % self._cycle, 0
                        continue
                    taken += 1
                    if taken == self._block:
                        at, taken = (at + 1) % self._cycle, 0
                    return element
                if ended:
                    at, taken = (at + 1) % self._cycle, 0
                    continue
                try:
                    slots[at] = self._begun(following(), iteration)
                except End:
                    ended = True
            raise End

        return pull

    def _begun(self, element: Element, iteration: Iteration) -> tuple[Iteration, Pull]:
        made, part = _made(self._function, element), iteration.inner()
        rest = made.iterate(part)
        return part, ahead(rest, self._block, part) if self._threads else rest


class Scan(OfOne):
    """What a function makes of a state and each element: the next state, and an element."""

    def __init__(self, source: Dataset, initial: Sequence[Any], function: Function):
        super().__init__(source)
        self._initial, self._function = tuple(initial), function

    def iterate(self, iteration: Iteration) -> Pull:
        following, state = self.source.iterate(iteration), self._initial

        def pull() -> Element:
            nonlocal state
            try:
                result = self._function(*state, *following())
            except OutOfRangeError:
                raise End from None
            state = result[: len(state)]
            return result[len(state) :]

        return pull

    def cardinality(self) -> int:
        return self.source.cardinality()


def reduced(source: Dataset, initial: Sequence[Any], function: Function, iteration: Iteration) -> Element:
    """What is left of a state when a function has put every element into it."""
    state = tuple(initial)
    for element in elements(source, iteration):
        state = function(*state, *element)
    return state


class GroupByWindow(OfOne):
    """Elements by key; once a group has `window_size(key)` of them, what `reduce` makes of the key and a
    dataset of the group follows.
    """

    def __init__(self, source: Dataset, key: Function, reduce: Function, window_size: Function):
        super().__init__(source)
        self._key, self._reduce, self._window_size = key, reduce, window_size

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        groups: dict[int, list[Element]] = {}
        sizes: dict[int, int] = {}
        part: Iteration | None = None
        rest: Pull | None = None
        ended = False

        def full_group() -> int:
            nonlocal ended
            while not ended:
                try:
                    element = following()
                except End:
                    ended = True
                    break
                key = int(self._key(*element)[0])
                if key not in sizes:
                    sizes[key] = int(self._window_size(torch.tensor(key))[0])
                    if sizes[key] <= 0:
                        raise refuse(f"Window size must be greater than zero, but got {sizes[key]}.")
                group = groups.setdefault(key, [])
                group.append(element)
                if len(group) == sizes[key]:
                    return key
            if not groups:
                raise End
            return min(groups)

        def pull() -> Element:
            nonlocal part, rest
            while True:
                if rest is None:
                    key = full_group()
                    group = as_cell(Elements(groups.pop(key)))
                    made = dataset_in(self._reduce(torch.tensor(key), group)[0])
                    part = iteration.inner()
                    rest = made.iterate(part)
                try:
                    return rest()
                except End:
                    part.stop()
                    rest = None

        return pull


class GroupByReducer(OfOne):
    """One element for each key, in the order of the keys: a state into which all elements of the key went."""

    def __init__(
        self, source: Dataset, key: Function, initial: Function, reduce: Function, finalize: Function
    ):
        super().__init__(source)
        self._key, self._initial, self._reduce, self._finalize = key, initial, reduce, finalize

    def iterate(self, iteration: Iteration) -> Pull:
        states: dict[int, Element] = {}
        order: list[int] | None = None

        def pull() -> Element:
            nonlocal order
            if order is None:
                order = []
                for element in elements(self.source, iteration):
                    key = int(self._key(*element)[0])
                    if key not in states:
                        states[key] = self._initial(torch.tensor(key))
                        bisect.insort(order, key)
                    states[key] = self._reduce(*states[key], *element)
                order.reverse()
            if not order:
                raise End
            return self._finalize(*states.pop(order.pop()))

        return pull
