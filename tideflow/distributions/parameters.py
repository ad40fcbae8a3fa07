"""Parameters of distributions: probabilities and logits, what is checked of them, seeds."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import casting, checks, reductions, unary
from tideflow.ops.nn import softmax

INTEGERS_LIKE = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64}


def derived_seed(seed: int | None, salt: str) -> int | None:
    """A seed that follows from another, for a second op."""
    if seed is None:
        return None
    digest = hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF


def logits_and_probs(
    logits: Any, probs: Any, validate_args: bool, name: str, of_classes: bool = False
) -> tuple[Tensor, Tensor]:
    """Both, from the one that is given: of a coin, or of the classes along the last axis."""
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert_to_tensor(logits, name="logits")
            _check_floating(logits, "logits")
            if not of_classes:
                return logits, unary.sigmoid(logits, name="probs")
            if validate_args:
                logits = check_classes(logits)
            return logits, softmax.softmax(logits, name="probs")
        probs = convert_to_tensor(probs, name="probs")
        _check_floating(probs, "probs")
        if validate_args:
            probs = _checked_probs(probs, of_classes)
        with name_scope("logits"):
            if of_classes:
                return unary.log(probs), probs
            return unary.log(probs) - unary.log1p(-1.0 * probs), probs


def _check_floating(parameter: Tensor, name: str) -> None:
    if not parameter.dtype.is_floating:
        raise TypeError(f"{name} must having floating type.")


def _checked_probs(probs: Tensor, of_classes: bool) -> Tensor:
    with name_scope("validate_probs"):
        one = constants.constant(1.0, probs.dtype)
        assertions = [checks.assert_non_negative(probs)]
        if of_classes:
            probs = check_classes(probs)
            total = reductions.reduce_sum(probs, -1)
            assertions.append(checks.assert_near(total, one, message="probs does not sum to 1."))
        else:
            message = "probs has components greater than 1."
            assertions.append(checks.assert_less_equal(probs, one, message=message))
        return grouping.with_dependencies(assertions, probs)


def check_classes(parameter: Tensor) -> Tensor:
    """A parameter by class: two classes at least, and no more than its type can count."""
    too_few = "A categorical-distribution parameter must have at least 2 events."
    no_axis = "A categorical-distribution parameter must have at least 1 dimension."
    with name_scope("embed_check_categorical_event_shape", values=[parameter]):
        if parameter.shape.ndims == 0:
            raise ValueError(no_axis)
        most = largest_integer(parameter.dtype)
        size = None if parameter.shape.ndims is None else parameter.shape.tuple[-1]
        if size is None:
            size = shapes.shape(parameter, name="x_shape")[-1]
            too_many = f"Number of classes exceeds `dtype` precision, {most} of {parameter.dtype.name}."
            assertions = [
                checks.assert_rank_at_least(parameter, 1, message=no_axis),
                checks.assert_greater_equal(size, 2, message=too_few),
                checks.assert_less_equal(size, most, message=too_many),
            ]
            return grouping.with_dependencies(assertions, parameter)
        if size < 2:
            raise ValueError(too_few)
        if size > most:
            raise ValueError(
                f"Number of classes exceeds `dtype` precision, i.e., {parameter.dtype.name} implies shape "
                f"({size}) cannot exceed {most}."
            )
        return parameter


def largest_integer(dtype: DType) -> int:
    """Up to which every integer is a number of this type."""
    if dtype is dtypes.bool:
        return 1
    if dtype.is_integer:
        return int(dtype.max)
    return 2 ** (np.finfo(dtype.as_numpy_dtype).nmant + 1)


def check_whole(x: Tensor, message: str, as_dtype: DType | None = None) -> Operation:
    """An assertion that numbers are whole."""
    whole = casting.cast(casting.cast(x, as_dtype or INTEGERS_LIKE[x.dtype.base_dtype]), x.dtype)
    return checks.assert_equal(x, whole, message=message)


def check_counts(x: Any) -> Tensor:
    """Numbers that are whole and not negative."""
    x = convert_to_tensor(x, name="x")
    with name_scope("embed_check_nonnegative_integer_form", values=[x]):
        assertions = [checks.assert_non_negative(x, message=f"'{x}' must be non-negative.")]
        if not x.dtype.is_integer:
            assertions.append(check_whole(x, f"'{x}' cannot contain fractional components."))
        return grouping.with_dependencies(assertions, x)


def check_outcomes(x: Tensor, dtype: DType) -> Tensor:
    """Outcomes that are numbers of an integer type, or truth values, whatever their own type."""
    with name_scope("embed_check_casting_closed", values=[x]):
        assertions = [checks.assert_non_negative(x, message="Elements must be non-negative.")]
        most = largest_integer(dtype)
        if x.dtype.is_floating:
            assertions.append(check_whole(x, f"Elements must be {dtype.name}-equivalent.", dtype))
        elif largest_integer(x.dtype) > most:
            assertions.append(
                checks.assert_less_equal(
                    x, np.array(most, x.dtype.as_numpy_dtype), message=f"Elements cannot exceed {most}."
                )
            )
        return grouping.with_dependencies(assertions, x)


def log_combinations(n: Any, counts: Any) -> Tensor:
    """The logarithm of in how many ways `n` things can be divided into these counts."""
    with name_scope("log_combinations", values=[n, counts]):
        n, counts = convert_to_tensor(n, name="n"), convert_to_tensor(counts, name="counts")
        orders = unary.lgamma(n + 1)
        return orders - reductions.reduce_sum(unary.lgamma(counts + 1), axis=[-1])
