"""`while` and `for`: loops of the graph where tensors or datasets say how often, Python's own elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tideflow as tf
from tideflow.autograph import builtins, effects, verbosity
from tideflow.autograph.conditionals import as_tensor, is_dense_tensor
from tideflow.autograph.variables import Member, Undefined, UndefinedReturnValue, Variables
from tideflow.data.iterator import EagerIterator
from tideflow.data.optional import get_next_as_optional
from tideflow.data.transformations import scan, take_while
from tideflow.distribute.inputs import DistributedDataset, DistributedIterator
from tideflow.graph import nest
from tideflow.graph.functions import FunctionGraph
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import get_default_graph
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays.creation import range_op

Values = tuple[Any, ...]

_ITERATORS = (EagerIterator, DistributedIterator)
_MANY = 3000  # iterations of a Python loop after which new operations in each of them are worth a warning


def while_(
    test: Callable[[], Any],
    body: Callable[[], None],
    scope: Callable[[], Any],
    live: Sequence[str],
    members: Sequence[Member] = (),
) -> None:
    """A `while` statement. Its test and its body are functions of the variables of `scope`."""
    with FunctionGraph(get_default_graph()).as_default():  # operations made only to see what the test is
        first = test()
    if is_dense_tensor(first):
        loop = _Loop(body, Variables(scope, live, members))
        loop.run(test)
        return
    going = first
    watch = _UnrollWatch()
    while going:
        watch.before_iteration()
        body()
        watch.after_iteration()
        going = test()


def for_(
    iterated: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    scope: Callable[[], Any],
    live: Sequence[str],
    members: Sequence[Member] = (),
) -> None:
    """A `for` statement. Its body is a function of an element, which changes the variables of `scope`.

    After each element, `extra_test` says whether to go on.
    """
    if isinstance(iterated, DistributedDataset):
        iterated = iter(iterated)
    if not tf.is_tensor(iterated) and not isinstance(iterated, (tf.data.Dataset, *_ITERATORS)):
        _over_python(iterated, extra_test, body)
        return
    loop = _Loop(body, Variables(scope, live, members))
    if isinstance(iterated, tf.data.Dataset):
        _over_dataset(iterated, extra_test, loop)
    elif isinstance(iterated, _ITERATORS):
        _over_iterator(iterated, extra_test, loop)
    elif not _has_no_operation(iterated) and iterated.op.definition is range_op:
        _over_range(*iterated.op.inputs, extra_test, loop)
    else:
        _over_tensor(iterated, extra_test, loop)


def _over_python(
    iterated: Iterable[Any], extra_test: Callable[[], Any] | None, body: Callable[[Any], None]
) -> None:
    going = True
    for element in iterated:
        if not going:  # a tensor is refused here
            break
        body(element)
        if extra_test is not None:
            going = extra_test()
            if not tf.is_tensor(going) and not going:
                break


def _has_no_operation(value: Any) -> bool:
    """Whether a tensor has a value now, and no operation that it comes from."""
    return getattr(value, "is_eager", False) or not hasattr(value, "op")


# --------------------------------------------------------------------------------------------- over tensors


def _over_tensor(iterated: Any, extra_test: Callable[[], Any] | None, loop: _Loop) -> None:
    size = builtins.len_(iterated)
    elements = tf.TensorArray(iterated.dtype, size=size).unstack(iterated)

    def take(index: Any) -> tuple[Any, Any]:
        return elements.read(index), index + 1

    loop.run_counted(0, lambda index: index < size, take, extra_test)


def _over_range(start: Any, limit: Any, delta: Any, extra_test: Any, loop: _Loop) -> None:
    step = constant_value(delta)

    def in_range(number: Any) -> Any:
        if step is not None:
            return number < limit if step >= 0 else number > limit
        up, down = tf.logical_and(delta >= 0, number < limit), tf.logical_and(delta < 0, number > limit)
        return tf.logical_or(up, down)

    loop.run_counted(start, in_range, lambda number: (number, number + delta), extra_test)


# -------------------------------------------------------------------------------------------- over elements


def _over_iterator(
    iterator: EagerIterator | DistributedIterator, extra_test: Callable[[], Any] | None, loop: _Loop
) -> None:
    variables = loop.variables
    is_distributed = isinstance(iterator, DistributedIterator)
    next_element = iterator.get_next_as_optional if is_distributed else lambda: get_next_as_optional(iterator)

    def iteration(has_next: Any, values: Values) -> tuple[Any, Values]:
        optional = next_element()
        has_next = optional.has_value()
        taken = tf.cond(
            has_next,
            lambda: (tf.constant(0), *loop.iteration_from(values, optional.get_value())),
            lambda: (tf.constant(0), *values),
        )
        return has_next, tuple(taken[1:])

    def test(has_next: Any, values: Values) -> Any:
        variables.set(values)
        return has_next if extra_test is None else tf.cond(has_next, extra_test, lambda: tf.constant(False))

    with loop:
        _, results = tf.while_loop(test, iteration, (True, variables.get()), return_same_structure=True)
    variables.set(results)


def _over_dataset(dataset: Any, extra_test: Callable[[], Any] | None, loop: _Loop) -> None:
    variables = loop.variables

    def next_values(values: Values, element: Any) -> Values:
        return loop.iteration_from(values[1:], element, with_shapes=False)

    # The state of `reduce` is never empty: the first part of it stands for no variable.
    with loop:
        first = (tf.constant(0), *variables.get())
        if extra_test is not None:

            def step(values: Values, element: Any) -> tuple[Values, Any]:
                variables.set(values[1:])
                going = extra_test()
                taken = tf.cond(
                    going, lambda: (values[0], *next_values(values, element)), lambda: tuple(values)
                )
                return tuple(taken), (tuple(taken), going)

            dataset = dataset.apply(scan(first, step)).apply(take_while(lambda _, going: going))
            results = dataset.reduce(first, lambda _, taken: taken[0])
        else:
            results = dataset.reduce(
                first, lambda values, element: (values[0], *next_values(values, element))
            )
    variables.set(results[1:])


class _Loop:
    """A loop of the graph. As a `with` block, it undoes what tracing its body did to variables."""

    def __init__(self, body: Callable[..., None], variables: Variables):
        self.body = body
        self.variables = variables
        self.inside = effects.Inside()
        _check_defined(variables.get())

    def __enter__(self) -> None:
        self._before = self.variables.all()

    def __exit__(self, *error: Any) -> None:
        self.variables.restore(self._before)

    def run(self, test: Callable[[], Any]) -> None:
        """Iterates while the test is true."""

        def with_values(function: Callable[[], Any]) -> Callable[..., Any]:
            def called(*values: Any) -> Any:
                self.variables.set(values)
                return function()

            return called

        with self:
            results = tf.while_loop(
                with_values(test),
                with_values(self.iteration),
                self.variables.get(),
                return_same_structure=True,
            )
        self.inside.end(results)
        self.variables.set(results)

    def run_counted(
        self,
        start: Any,
        test: Callable[[Any], Any],
        take: Callable[[Any], tuple[Any, Any]],
        extra_test: Callable[[], Any] | None,
    ) -> None:
        """Iterates while the test of a counter is true. `take` gives an element and the next counter."""

        def whole_test(counter: Any, *values: Any) -> Any:
            self.variables.set(values)
            going = test(counter)
            return going if extra_test is None else tf.cond(going, extra_test, lambda: tf.constant(False))

        def iteration(counter: Any, *values: Any) -> Values:
            element, counter = take(counter)
            return (counter, *self.iteration_from(values, element))

        with self:
            counter, *results = tf.while_loop(
                whole_test, iteration, (start, *self.variables.get()), return_same_structure=True
            )
        self.inside.end([counter])
        self.variables.set(results)

    def iteration_from(self, values: Values, element: Any, with_shapes: bool = True) -> Values:
        self.variables.set(values)
        return self.iteration(element, with_shapes=with_shapes)

    def iteration(self, *element: Any, with_shapes: bool = True) -> Values:
        """The values that one iteration leaves, which are of the types that it found."""
        before = self.variables.get()
        after = self.inside.traced(lambda: self._values_after(*element))
        check_iteration(self.variables.names, before, after, with_shapes)
        return after

    def _values_after(self, *element: Any) -> Values:
        self.body(*element)
        return self.variables.get()


def _check_defined(values: Values) -> None:
    undefined = tuple(value.symbol_name for value in values if isinstance(value, Undefined))
    if undefined:
        raise ValueError(
            f"TensorFlow requires that the following symbols must be defined before the loop: {undefined}"
        )
    if any(isinstance(value, UndefinedReturnValue) for value in values):
        raise ValueError("return statements are not supported within a TensorFlow loop.")


def check_iteration(names: Sequence[str], before: Values, after: Values, with_shapes: bool = True) -> None:
    """Raises where an iteration gives a variable another structure, type or shape."""
    for name, old, new in zip(names, before, after, strict=True):
        try:
            nest.assert_same_structure(old, new, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(
                f'"{name}" does not have the same nested structure after one iteration.\n\n{error}'
            ) from None
        for first, second in zip(nest.flatten(old), nest.flatten(new), strict=True):
            first, second = as_tensor(first), as_tensor(second)
            if not (tf.is_tensor(first) and tf.is_tensor(second)):
                continue
            if first.dtype != second.dtype:
                raise TypeError(
                    f'"{name}" has dtype {first.dtype.name} before the loop, but dtype {second.dtype.name} '
                    "after one iteration. TensorFlow control flow requires it stays the same."
                )
            if with_shapes and not _includes(first.shape, second.shape):
                raise ValueError(
                    f'"{name}" has shape {first.shape} before the loop, but shape {second.shape} after one '
                    "iteration. TensorFlow control flow requires it stays the same or be more specific."
                )


def _includes(wide: TensorShape, narrow: TensorShape) -> bool:
    """Whether every shape that `narrow` stands for is one that `wide` stands for."""
    if wide.ndims is None:
        return True
    if wide.ndims != narrow.ndims:
        return False
    return all(a is None or a == b for a, b in zip(wide.as_list(), narrow.as_list(), strict=True))


class _UnrollWatch:
    """Warns once of a Python loop that goes on making operations after thousands of iterations."""

    def __init__(self) -> None:
        self.iterations = 0
        self.operations: int | None = None

    def before_iteration(self) -> None:
        if _MANY < self.iterations <= _MANY + 3:
            self.operations = len(get_default_graph().get_operations())

    def after_iteration(self) -> None:
        self.iterations += 1
        if self.operations is None:
            return
        made = get_default_graph().get_operations()[self.operations :]
        self.operations = None
        if made:
            verbosity.warn(
                "TensorFlow ops are being created in a Python loop with large number of iterations. This can "
                "lead to slow startup. Did you mean to use a TensorFlow loop? For example, `while True:` is "
                "a Python loop, and `while tf.constant(True):` is a TensorFlow loop. The following ops were "
                "created after iteration %s: %s",
                self.iterations,
                made,
            )
            self.iterations = _MANY + 4
