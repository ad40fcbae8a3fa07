"""Functions of elements that run on many elements at once."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tideflow.graph.errors import OutOfRangeError
from tideflow.runtime.datasets import (
    Element,
    End,
    Function,
    Iteration,
    Pull,
    PullMany,
    StatefulFunction,
    many_of,
    unstacked,
)
from tideflow.runtime.waiting import StepContext

Call = tuple[Function, Element]


@dataclass(frozen=True)
class RowFunction(StatefulFunction):
    """A function of an element whose first part can run on many elements at once.

    `first` is that part. `rest` takes an element and the results of `first` for it, and computes the results
    of the function. If `rest` is None, `picked` are the indices of the function's results among those of
    `first`. `whole` is the function of one element.
    """

    whole: Function
    first: Callable[..., Element]
    rest: Function | None
    picked: tuple[int, ...] = ()

    def __call__(self, context: StepContext, *values: Any) -> Element:
        return self.whole(context, *values)

    def begun(self, iteration: Iteration) -> RowFunction:
        rest = self.rest and iteration.own(self.rest)
        return replace(self, whole=iteration.own(self.whole), rest=rest)


def rows_mapped(
    function: RowFunction, source: PullMany, results: Callable[[Callable[[StepContext], Call]], Pull]
) -> PullMany:
    """The results of a function for many elements at a time.

    `first` runs on all of them. `results` turns a source of the remaining calls, one for each element, into a
    source of their results.
    """
    calls: collections.deque[Call] = collections.deque()
    wanted = asked = 0

    def following(context: StepContext) -> Call:
        nonlocal wanted
        if not calls:
            calls.extend(_calls(*_left_to_call(function, source(context, wanted if wanted > 0 else asked))))
        wanted -= 1
        return calls.popleft()

    one_by_one = many_of(results(following), as_a_whole=True)

    def pull(context: StepContext, count: int) -> Element:
        nonlocal wanted, asked
        wanted = asked = count
        if function.rest is None and not calls:
            call, given = _left_to_call(function, source(context, count))
            if call is None:
                return given
            calls.extend(_calls(call, given))
        return one_by_one(context, count)

    return pull


def called(following: Callable[[StepContext], Call]) -> Pull:
    """The results of calls. An OutOfRangeError of a function ends them."""

    def pull(context: StepContext) -> Element:
        function, element = following(context)
        try:
            return function(context, *element)
        except OutOfRangeError:
            raise End from None

    return pull


def _left_to_call(function: RowFunction, rows: Element) -> tuple[Function | None, Element]:
    """Calls `first` on many elements. Returns the function that remains to be called on each, and its inputs.

    If no function remains, it is None, and the inputs are the results.
    """
    try:
        more = function.first(*rows)
    except Exception:  # an element is invalid: the calls on single elements will raise its error
        return function.whole, rows
    if function.rest is None:
        return None, tuple([more[i] for i in function.picked])
    return function.rest, (*rows, *more)


def _calls(function: Function | None, rows: Element) -> Iterator[Call]:
    for element in zip(*map(unstacked, rows), strict=True):
        yield function or _as_it_is, element


def _as_it_is(context: StepContext, *element: Any) -> Element:
    return element
