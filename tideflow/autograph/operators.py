"""What converted code calls: the object behind the name `ag__`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tideflow as tf
from tideflow.autograph import conditionals, effects, lists, loops, variables
from tideflow.autograph.options import ConversionOptions, Feature


def mark_converted(function: Any) -> Any:
    """Says of a function that it is called as it is."""
    function.autograph_info__ = {}
    return function


class Operators:
    """The operators, for code that was converted with some options. `calls.py` adds calls."""

    if_ = staticmethod(conditionals.if_)
    if_expression = staticmethod(conditionals.if_expression)
    and_ = staticmethod(conditionals.and_)
    or_ = staticmethod(conditionals.or_)
    not_ = staticmethod(conditionals.not_)
    eq = staticmethod(conditionals.eq)
    not_eq = staticmethod(conditionals.not_eq)
    assert_ = staticmethod(conditionals.assert_)
    while_ = staticmethod(loops.while_)
    for_ = staticmethod(loops.for_)
    new_list = staticmethod(lists.new_list)
    list_append = staticmethod(lists.list_append)
    list_pop = staticmethod(lists.list_pop)
    list_stack = staticmethod(lists.list_stack)
    get_item = staticmethod(lists.get_item)
    set_item = staticmethod(lists.set_item)
    attribute = staticmethod(variables.attribute)
    item = staticmethod(variables.item)
    UndefinedReturnValue = variables.UndefinedReturnValue
    retval = staticmethod(variables.retval)
    converted = staticmethod(mark_converted)

    def __init__(self, options: ConversionOptions):
        self._options = options

    @contextlib.contextmanager
    def function_scope(self, name: str) -> Iterator[_FunctionScope]:
        """What stands around the body of a function with a name scope, or whose effects are waited for."""
        scope = _FunctionScope()
        with contextlib.ExitStack() as stack:
            if self._options.uses(Feature.NAME_SCOPES):
                stack.enter_context(tf.name_scope(f"fn{name}" if name.startswith("_") else name))
            if self._options.uses(Feature.AUTO_CONTROL_DEPS):
                scope.effects = stack.enter_context(effects.collected())
            yield scope


class _FunctionScope:
    effects: effects.Effects | None = None

    def returned(self, value: Any) -> Any:
        """What the function returns, after its effects."""
        return value if self.effects is None else self.effects.before(value)
