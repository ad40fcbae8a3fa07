"""Functions of elements that are called on many elements at once."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tideflow.graph.errors import OutOfRangeError
from tideflow.runtime.datasets import Element, End, Function, Pull, PullMany, many_of, unstacked

Call = tuple[Function, Element]


@dataclass(frozen=True)
class RowFunction:
    """A function of an element that begins with what can be done to many of them at once. `first` does that;
    `rest`, given an element and what `first` made of it, does what follows. Where nothing follows, `picked`
    says which of the results of `first` are the function's.
    """

    whole: Function
    first: Callable[..., Element]
    rest: Function | None
    picked: tuple[int, ...] = ()

    def __call__(self, *values: Any) -> Element:
        return self.whole(*values)


def rows_mapped(
    function: RowFunction, source: PullMany, results: Callable[[Callable[[], Call]], Pull]
) -> PullMany:
    """What a function makes of so many elements. `results` makes the results of calls that come one by one:
    of those that are left when `first` was called on all of them.
    """
    calls: collections.deque[Call] = collections.deque()
    wanted = asked = 0

    def following() -> Call:
        nonlocal wanted
        if not calls:
            calls.extend(_calls(*_left_to_call(function, source(wanted if wanted > 0 else asked))))
        wanted -= 1
        return calls.popleft()

    one_by_one = many_of(results(following), as_a_whole=True)

    def pull(count: int) -> Element:
        nonlocal wanted, asked
        wanted = asked = count
        if function.rest is None and not calls:
            call, given = _left_to_call(function, source(count))
            if call is None:
                return given
            calls.extend(_calls(call, given))
        return one_by_one(count)

    return pull


def called(following: Callable[[], Call]) -> Pull:
    """The results of calls; where a function is out of range, they end."""

    def pull() -> Element:
        function, element = following()
        try:
            return function(*element)
        except OutOfRangeError:
            raise End from None

    return pull


def _left_to_call(function: RowFunction, rows: Element) -> tuple[Function | None, Element]:
    """What is still to be called on each of many elements, when `first` was called on all, and on what; None
    where these are the results.
    """
    try:
        more = function.first(*rows)
    except Exception:  # one of the elements is bad: which, and why, is found one by one
        return function.whole, rows
    if function.rest is None:
        return None, tuple([more[i] for i in function.picked])
    return function.rest, (*rows, *more)


def _calls(function: Function | None, rows: Element) -> Iterator[Call]:
    for element in zip(*map(unstacked, rows), strict=True):
        yield function or _as_it_is, element


def _as_it_is(*element: Any) -> Element:
    return element
