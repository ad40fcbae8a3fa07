"""`if`, `and`, `or`, `not`, `==` and `assert`, of tensors and of anything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.autograph import effects
from tideflow.autograph.variables import Member, Undefined, UndefinedReturnValue, Variables
from tideflow.graph import nest


def is_dense_tensor(value: Any) -> bool:
    """Whether a value is a tensor that can be a condition."""
    return tf.is_tensor(value) and not isinstance(value, tf.SparseTensor)


def if_(
    test: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    scope: Callable[[], Any],
    live: Sequence[str],
    members: Sequence[Member] = (),
) -> None:
    """An `if` statement. Its branches are functions that change the variables of `scope`."""
    if not is_dense_tensor(test):
        (body if test else orelse)()
        return
    variables = Variables(scope, live, members)
    outputs: dict[str, tuple[Any, ...]] = {}
    inside = effects.Inside()

    def branch(function: Callable[[], None], name: str) -> Callable[[], Any]:
        def traced() -> Any:
            before = variables.all()
            try:
                values = inside.traced(lambda: _values_after(function, variables))
            finally:
                variables.restore(before)
            defined = values if variables.names else ()
            _check_defined(defined, name)
            outputs[name] = defined
            if len(outputs) == 2:
                check_branches(variables.names, outputs["if"], outputs["else"])
            return values

        return traced

    results = tf.cond(test, branch(body, "if"), branch(orelse, "else"), strict=True)
    inside.end(results)
    variables.set(results if variables.names else ())


def _values_after(function: Callable[[], None], variables: Variables) -> tuple[Any, ...]:
    """The variables after a branch; a number where there are none, since a branch must have a value."""
    function()
    return variables.get() or (tf.convert_to_tensor(1),)


def if_expression(test: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`body if test else orelse`."""
    if is_dense_tensor(test):
        return tf.cond(test, body, orelse)
    return body() if test else orelse()


def _check_defined(values: Sequence[Any], branch: str) -> None:
    undefined = tuple(value.symbol_name for value in values if isinstance(value, Undefined))
    if undefined:
        raise ValueError(
            f"The following symbols must also be initialized in the {branch} branch: {undefined}. "
            "Alternatively, you may initialize them before the if statement."
        )
    if any(isinstance(value, UndefinedReturnValue) for value in values):
        raise ValueError(
            f"A value must also be returned from the {branch} branch. If a value is returned from one branch "
            "of a conditional a value must be returned from all branches."
        )


def check_branches(names: Sequence[str], on_true: Sequence[Any], on_false: Sequence[Any]) -> None:
    """Raises TypeError where the branches leave values of different structures or types in a variable."""
    for name, true_value, false_value in zip(names, on_true, on_false, strict=True):
        try:
            nest.assert_same_structure(true_value, false_value, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(
                f'"{name}" does not have the same nested structure in the TRUE and FALSE branches.\n\n{error}'
            ) from None
        for true_part, false_part in zip(nest.flatten(true_value), nest.flatten(false_value), strict=True):
            true_part, false_part = as_tensor(true_part), as_tensor(false_part)
            if not (tf.is_tensor(true_part) and tf.is_tensor(false_part)):
                continue
            if true_part.dtype != false_part.dtype:
                raise TypeError(
                    f'"{name}" has dtype {true_part.dtype.name} in the TRUE branch, but '
                    f"dtype={false_part.dtype.name} in the FALSE branch. TensorFlow control flow requires "
                    "that they are the same."
                )


def as_tensor(value: Any) -> Any:
    """A Python number or text as the tensor that control flow makes of it; anything else as it is."""
    return tf.convert_to_tensor(value) if isinstance(value, (bool, int, float, str)) else value


def and_(left: Any, right: Callable[[], Any]) -> Any:
    """`left and right`; the right side is evaluated only where the left one is true."""
    return tf.cond(left, right, lambda: left) if tf.is_tensor(left) else left and right()


def or_(left: Any, right: Callable[[], Any]) -> Any:
    """`left or right`; the right side is evaluated only where the left one is false."""
    return tf.cond(left, lambda: left, right) if tf.is_tensor(left) else left or right()


def not_(value: Any) -> Any:
    """`not value`."""
    return tf.logical_not(value) if tf.is_tensor(value) else not value


def eq(left: Any, right: Any) -> Any:
    """`left == right`."""
    return tf.equal(left, right) if tf.is_tensor(left) or tf.is_tensor(right) else left == right


def not_eq(left: Any, right: Any) -> Any:
    """`left != right`."""
    return not_(eq(left, right))


def assert_(test: Any, message: Callable[[], Any]) -> None:
    """An `assert` statement: of a tensor, it is an operation."""
    if not tf.is_tensor(test):
        assert test, message()
        return
    said = message()
    tf.Assert(test, said if isinstance(said, list) else [said])
