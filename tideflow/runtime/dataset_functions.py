"""Datasets that apply functions to elements: map, filter, interleave, scan, groups.

A function takes the values of an element and returns a tuple of values. It is the compiled plan of a graph.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any

import torch

from tideflow.graph.errors import OutOfRangeError
from tideflow.runtime.dataset_rows import RowFunction, called, rows_mapped
from tideflow.runtime.dataset_threads import ahead, as_they_come
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
    check_now_and_then,
    dataset_in,
    elements,
    many_in_turn,
    many_of,
    refuse,
)
from tideflow.runtime.waiting import StepContext


class Map(OfOne):
    """The result of a function for each element. An OutOfRangeError of the function ends the dataset."""

    def __init__(self, source: Dataset, function: Function) -> None:
        super().__init__(source)
        self._function = function

    def iterate(self, iteration: Iteration) -> Pull:
        following, function = self.source.iterate(iteration), iteration.own(self._function)

        def pull(context: StepContext) -> Element:
            try:
                return function(context, *following(context))
            except OutOfRangeError:
                raise End from None

        return pull

    def iterate_many(self, iteration: Iteration) -> PullMany:
        function = iteration.own(self._function)
        if isinstance(function, RowFunction):
            return rows_mapped(function, self.source.iterate_many(iteration), called)
        return many_of(self.iterate(iteration), as_a_whole=True)  # TensorFlow fuses map and batch

    def cardinality(self) -> int:
        return self.source.cardinality()


class Filter(OfOne):
    """The elements for which a predicate is true."""

    def __init__(self, source: Dataset, predicate: Function) -> None:
        super().__init__(source)
        self._predicate = predicate

    def iterate(self, iteration: Iteration) -> Pull:
        following, predicate = self.source.iterate(iteration), iteration.own(self._predicate)
        report = iteration.report_of(self)
        kept = dropped = 0

        def pull(context: StepContext) -> Element:
            nonlocal kept, dropped
            passed = 0
            while True:
                element = following(context)
                if holds(predicate(context, *element)):
                    kept += 1
                    if report is not None:
                        report.set("filtered_elements", kept)
                    return element
                passed, dropped = passed + 1, dropped + 1
                if report is not None:
                    report.set("dropped_elements", dropped)
                check_now_and_then(passed, iteration, context, "filtering a dataset")

        return pull


class TakeWhile(OfOne):
    """The elements before the first for which a predicate is false."""

    def __init__(self, source: Dataset, predicate: Function) -> None:
        super().__init__(source)
        self._predicate = predicate

    def iterate(self, iteration: Iteration) -> Pull:
        following, predicate = self.source.iterate(iteration), iteration.own(self._predicate)
        ended = False

        def pull(context: StepContext) -> Element:
            nonlocal ended
            if ended:
                raise End
            element = following(context)
            if holds(predicate(context, *element)):
                return element
            ended = True
            raise End

        return pull


def holds(result: Element) -> bool:
    """The result of a predicate as a bool."""
    (truth,) = result
    if truth.ndim or truth.dtype != torch.bool:
        raise refuse("Filter predicate `f` must return a scalar bool.")
    return bool(truth.item())


class FlatMap(OfOne):
    """A function returns a dataset for each element; these are the elements of all of them, in order."""

    def __init__(self, source: Dataset, function: Function) -> None:
        super().__init__(source)
        self._function = function

    def iterate(self, iteration: Iteration) -> Pull:
        following, function = self.source.iterate(iteration), iteration.own(self._function)
        current: tuple[Iteration, Pull] | None = None

        def pull(context: StepContext) -> Element:
            nonlocal current
            while True:
                if current is None:
                    made = _made(context, function, following(context))
                    part = iteration.inner()
                    current = part, made.iterate(part)
                part, rest = current
                try:
                    return rest(context)
                except End:
                    part.stop()
                    current = None

        return pull

    def iterate_many(self, iteration: Iteration) -> PullMany:
        following, function = self.source.iterate(iteration), iteration.own(self._function)
        part: Iteration | None = None

        def next_part(context: StepContext, _: bool) -> PullMany:
            nonlocal part
            if part is not None:
                part.stop()
            made = _made(context, function, following(context))
            part = iteration.inner()
            return made.iterate_many(part)

        return many_in_turn(next_part)


def _made(context: StepContext, function: Function, element: Element) -> Dataset:
    (variant,) = function(context, *element)
    return dataset_in(variant)


class Interleave(OfOne):
    """The elements of `cycle` datasets at a time, `block` elements from each in turn.

    A function returns a dataset for each element of the source. If `threads` is set, each dataset has a
    thread that reads ahead; if they are `sloppy`, elements come when they are there, in any order.
    """

    def __init__(
        self,
        source: Dataset,
        function: Function,
        cycle: int,
        block: int,
        threads: bool = False,
        sloppy: bool = False,
    ) -> None:
        super().__init__(source)
        if cycle <= 0:
            raise refuse("cycle_length must be greater than zero.")
        if block <= 0:
            raise refuse("block_length must be greater than zero.")
        self._function, self._cycle, self._block = function, cycle, block
        self._threads, self._sloppy = threads, sloppy

    def iterate(self, iteration: Iteration) -> Pull:
        following, function = self.source.iterate(iteration), iteration.own(self._function)
        if self._threads and (self._sloppy or iteration.sloppy):
            context = iteration.context

            def begin() -> Pull:
                return _made(context, function, following(context)).iterate(iteration.inner())

            return as_they_come(begin, self._cycle, self._cycle * self._block, iteration)
        slots: list[tuple[Iteration, Pull] | None] = [None] * self._cycle
        at, taken, ended = 0, 0, False

        def pull(context: StepContext) -> Element:
            nonlocal at, taken, ended
            while not ended or any(slots):
                slot = slots[at]
                if slot is not None:
                    try:
                        element = slot[1](context)
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
                    slots[at] = self._begun(_made(context, function, following(context)), iteration)
                except End:
                    ended = True
            raise End

        return pull

    def _begun(self, made: Dataset, iteration: Iteration) -> tuple[Iteration, Pull]:
        part = iteration.inner()
        rest = made.iterate(part)
        return part, ahead(rest, self._block, part) if self._threads else rest


class Scan(OfOne):
    """A function takes a state and each element; it returns the next state and an element of this dataset."""

    def __init__(self, source: Dataset, initial: Sequence[Any], function: Function) -> None:
        super().__init__(source)
        self._initial, self._function = tuple(initial), function

    def iterate(self, iteration: Iteration) -> Pull:
        following, state = self.source.iterate(iteration), self._initial
        function = iteration.own(self._function)

        def pull(context: StepContext) -> Element:
            nonlocal state
            try:
                result = function(context, *state, *following(context))
            except OutOfRangeError:
                raise End from None
            state = result[: len(state)]
            return result[len(state) :]

        return pull

    def cardinality(self) -> int:
        return self.source.cardinality()


def reduced(
    source: Dataset, initial: Sequence[Any], function: Function, iteration: Iteration, context: StepContext
) -> Element:
    """The final state of a function that takes the state and each element and returns the next state."""
    state, function = tuple(initial), iteration.own(function)
    for element in elements(source, iteration, context):
        state = function(context, *state, *element)
    return state


class GroupByWindow(OfOne):
    """Groups elements by key. When a group has `window_size(key)` elements, the elements of a dataset follow.

    `reduce` makes that dataset of the key and a dataset of the group.
    """

    def __init__(self, source: Dataset, key: Function, reduce: Function, window_size: Function) -> None:
        super().__init__(source)
        self._key, self._reduce, self._window_size = key, reduce, window_size

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        key_of, reduce = iteration.own(self._key), iteration.own(self._reduce)
        window_size = iteration.own(self._window_size)
        groups: dict[int, list[Element]] = {}
        sizes: dict[int, int] = {}
        current: tuple[Iteration, Pull] | None = None
        ended = False

        def full_group(context: StepContext) -> int:
            nonlocal ended
            while not ended:
                try:
                    element = following(context)
                except End:
                    ended = True
                    break
                key = int(key_of(context, *element)[0])
                if key not in sizes:
                    sizes[key] = int(window_size(context, torch.tensor(key))[0])
                    if sizes[key] <= 0:
                        raise refuse(f"Window size must be greater than zero, but got {sizes[key]}.")
                group = groups.setdefault(key, [])
                group.append(element)
                if len(group) == sizes[key]:
                    return key
            if not groups:
                raise End
            return min(groups)

        def pull(context: StepContext) -> Element:
            nonlocal current
            while True:
                if current is None:
                    key = full_group(context)
                    group = as_cell(Elements(groups.pop(key)))
                    made = dataset_in(reduce(context, torch.tensor(key), group)[0])
                    part = iteration.inner()
                    current = part, made.iterate(part)
                part, rest = current
                try:
                    return rest(context)
                except End:
                    part.stop()
                    current = None

        return pull


class GroupByReducer(OfOne):
    """One element for each key, in the order of the keys: all elements of the key, reduced to one state."""

    def __init__(
        self, source: Dataset, key: Function, initial: Function, reduce: Function, finalize: Function
    ) -> None:
        super().__init__(source)
        self._key, self._initial, self._reduce, self._finalize = key, initial, reduce, finalize

    def iterate(self, iteration: Iteration) -> Pull:
        key_of, initial = iteration.own(self._key), iteration.own(self._initial)
        reduce, finalize = iteration.own(self._reduce), iteration.own(self._finalize)
        states: dict[int, Element] = {}
        order: list[int] | None = None

        def pull(context: StepContext) -> Element:
            nonlocal order
            if order is None:
                order = []
                for element in elements(self.source, iteration, context):
                    key = int(key_of(context, *element)[0])
                    if key not in states:
                        states[key] = initial(context, torch.tensor(key))
                        bisect.insort(order, key)
                    states[key] = reduce(context, *states[key], *element)
                order.reverse()
            if not order:
                raise End
            return finalize(context, *states.pop(order.pop()))

        return pull
