"""Effects of converted code (`Feature.AUTO_CONTROL_DEPS`): what a function returns waits for them.

The branches of an `if`, and the body of a loop, wait for their own effects, and are effects themselves then.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tideflow as tf
from tideflow.graph import nest
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import executing_eagerly, get_default_graph
from tideflow.graph.stacks import Stack


class Effects:
    """The operations with effects that are made from now on, here: not inside of branches or loops."""

    def __init__(self) -> None:
        self._graph = get_default_graph()
        self._context = self._graph._get_control_flow_context()
        self._begin = len(self._graph.get_operations())
        self.statements: list[Operation] = []  # ends of statements in which there were effects

    def found(self) -> list[Operation]:
        made = self._graph.get_operations()[self._begin :]
        own = [op for op in made if op.definition.stateful and op._control_flow_context is self._context]
        return [*own, *self.statements]

    def before(self, value: Any) -> Any:
        """The value, whose tensors wait for the effects."""
        found = self.found()
        if not found:
            return value
        with tf.control_dependencies(found):
            return nest.map_structure(lambda x: tf.identity(x) if _can_wait(x) else x, value)


_scopes: Stack[Effects] = Stack()


@contextlib.contextmanager
def collected() -> Iterator[Effects | None]:
    """Collects the effects of a function; in eager mode there is nothing to wait for."""
    if executing_eagerly():
        yield None
        return
    with _scopes.pushed(Effects()) as effects:
        yield effects


class Inside:
    """The parts of one statement of converted code: two branches, or the body of a loop."""

    def __init__(self) -> None:
        self._around = None if executing_eagerly() else _scopes.top()
        self._had_effects = False

    def traced(self, part: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """What a part of the statement gives, after its effects."""
        if self._around is None:
            return part()
        with _scopes.pushed(Effects()) as effects:
            values = tuple(tf.convert_to_tensor(v) if _is_number(v) else v for v in part())
            self._had_effects |= bool(effects.found())
            return effects.before(values)

    def end(self, results: Any) -> None:
        """Notes that the statement has effects, if a part of it had."""
        if self._around is not None and self._had_effects:
            tensors = [x for x in nest.flatten(results, expand_composites=True) if tf.is_tensor(x)]
            self._around.statements += [tensor.op for tensor in tensors[:1]]


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str))


def _can_wait(value: Any) -> bool:
    return isinstance(value, (tf.Tensor, tf.SparseTensor, tf.IndexedSlices))
