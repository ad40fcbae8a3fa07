"""Tests that are run once for each combination of arguments."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from absl.testing import parameterized


class TestCombination:
    """What arguments of one kind mean: whether the test runs at all, and in which contexts."""

    __test__ = False  # no test of its own

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Whether the test runs with these arguments, and why not."""
        return True, None

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        """What changes the arguments before the test gets them."""
        return []

    def context_managers(self, kwargs: dict[str, Any]) -> Sequence[Any]:
        """What the test runs in."""
        return []


class ParameterModifier:
    """Changes the arguments of a test; two of the same class and parameter are the same."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: str | None = None):
        self._parameter_name = parameter_name

    def modified_arguments(
        self, kwargs: dict[str, Any], requested_parameters: Sequence[str]
    ) -> dict[str, Any]:
        """The arguments that are others now."""
        return {}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._parameter_name == other._parameter_name  # type: ignore

    def __hash__(self) -> int:
        return hash((type(self), self._parameter_name))


class OptionalParameter(ParameterModifier):
    """An argument that only those tests get that ask for it."""

    def modified_arguments(
        self, kwargs: dict[str, Any], requested_parameters: Sequence[str]
    ) -> dict[str, Any]:
        if self._parameter_name in requested_parameters:
            return {}
        return {str(self._parameter_name): ParameterModifier.DO_NOT_PASS_TO_THE_TEST}


def generate(combinations: Iterable[Any], test_combinations: Sequence[TestCombination] = ()) -> Callable:
    """Decorates a test method, or all of a class, to be run with each combination of arguments.

    Args:
      combinations: What `combine` and `times` give.
      test_combinations: What the arguments mean.

    Returns:
      The decorator.
    """
    named = [OrderedDict([*each.items(), ("testcase_name", _suffix(each))]) for each in combinations]

    def decorator(test: Any) -> Any:
        if not isinstance(test, type):
            return parameterized.named_parameters(*named)(_with_contexts(test, test_combinations))
        for name, method in list(vars(test).items()):
            if name.startswith("test") and inspect.isfunction(method):
                delattr(test, name)
                for each in named:
                    arguments = {key: value for key, value in each.items() if key != "testcase_name"}
                    run = functools.partialmethod(_with_contexts(method, test_combinations), **arguments)
                    setattr(test, name + each["testcase_name"], run)
        return test

    return decorator


def _suffix(combination: dict[str, Any]) -> str:
    """What a combination adds to the name of a test."""
    parts = ["_test"]
    for index, (key, value) in enumerate(combination.items()):
        shown = re.sub("0[xX][0-9a-fA-F]+", str(index), str(value))
        parts.append("_" + "".join(filter(str.isalnum, key)) + "_" + "".join(filter(str.isalnum, shown)))
    return "".join(parts)


def _with_contexts(test: Callable, combinations: Sequence[TestCombination]) -> Callable:
    def decorated(self: Any, **kwargs: Any) -> None:
        asked = [each.should_execute_combination(dict(kwargs)) for each in combinations]
        reasons = [f" - {reason}" for execute, reason in asked if not execute]
        if reasons:
            self.skipTest("\n".join(reasons))
        with contextlib.ExitStack() as stack:
            for each in combinations:
                for manager in each.context_managers(dict(kwargs)):
                    stack.enter_context(manager)
            test(self, **_arguments(test, combinations, kwargs))

    return decorated


def _arguments(
    test: Callable, combinations: Sequence[TestCombination], given: dict[str, Any]
) -> dict[str, Any]:
    """What a test is called with."""
    requested = inspect.getfullargspec(inspect.unwrap(test)).args
    arguments = dict(given)
    for modifier in {each for combination in combinations for each in combination.parameter_modifiers()}:
        for name, value in modifier.modified_arguments(dict(given), requested).items():
            if value is ParameterModifier.DO_NOT_PASS_TO_THE_TEST:
                arguments.pop(name, None)
            else:
                arguments[name] = value
    expected = set(requested) - {"self"}
    if expected - set(arguments):
        lacking = expected - set(arguments)
        raise ValueError(f"The test requires parameters whose arguments were not passed: {lacking} .")
    if set(arguments) - expected:
        surplus = set(arguments) - expected
        raise ValueError(f"The test does not take parameters that were passed : {surplus} .")
    return arguments


def combine(**kwargs: Any) -> list[OrderedDict]:
    """Every combination of one value of each argument, which is a value or a list of them."""
    keys = sorted(kwargs)
    choices = [kwargs[key] if isinstance(kwargs[key], list) else [kwargs[key]] for key in keys]
    return [OrderedDict(zip(keys, values, strict=True)) for values in itertools.product(*choices)]


def times(*combined: list[Any]) -> list[Any]:
    """Every union of one combination of each list."""
    products = combined[0]
    for more in combined[1:]:
        for left, right in itertools.product(products, more):
            if set(left) & set(right):
                raise ValueError(f"Keys need to not overlap: {left.keys()} vs {right.keys()}")
        pairs = itertools.product(products, more)
        products = [OrderedDict([*left.items(), *right.items()]) for left, right in pairs]
    return products


class NamedObject:
    """An object with a name for the tests that get it."""

    def __init__(self, name: str, obj: Any):
        self._name, self._obj = name, obj

    def __getattr__(self, name: str) -> Any:
        if name == "_obj":
            raise AttributeError(name)
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __repr__(self) -> str:
        return self._name
