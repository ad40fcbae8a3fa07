"""`tensorflow.python.ops.distributions.util` and `special_math`: checks of parameters, and values that are
known before a graph runs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.contrib.distributions import tools
from tideflow.distributions import normal_functions, parameters
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.shapes import TensorShape
from tideflow.ops.control_flow.grouping import with_dependencies

embed_check_nonnegative_integer_form = parameters.check_counts
gen_new_seed = parameters.derived_seed
log_combinations = parameters.log_combinations
dimension_size = tools.dimension_size
prefer_static_value = tools.prefer_static

ndtr = normal_functions.ndtr
ndtri = normal_functions.ndtri
log_ndtr = normal_functions.log_ndtr

# From where on `log_ndtr` is a series (below) or almost linear (above).
LOGNDTR_FLOAT64_LOWER = np.array(-20, np.float64)
LOGNDTR_FLOAT32_LOWER = np.array(-10, np.float32)
LOGNDTR_FLOAT64_UPPER = np.array(8, np.float64)
LOGNDTR_FLOAT32_UPPER = np.array(5, np.float32)


def erfinv(x: Any, name: str = "erfinv") -> Tensor:
    """The inverse of the error function."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        if x.dtype.as_numpy_dtype not in (np.float32, np.float64):
            raise TypeError(f"x.dtype={x.dtype.name} is not handled, see docstring for supported types.")
        return ndtri((x + 1.0) / 2.0) / np.sqrt(2)


def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Tensor:
    """The logarithm of the distribution function of Laplace's distribution."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        upper = tf.log1p(-0.5 * tf.exp(-tf.abs(x)))
        return tf.where(x < 0.0, x - np.log(2.0), upper)


# ---------------------------------------------------------------------------------- integers in other types


def _checked(dtype: DType) -> DType:
    known = dtype.base_dtype
    if not (known.is_floating or known.is_integer or known == tf.bool) or known == tf.bfloat16:
        raise TypeError(f"Unrecognized dtype: {dtype.name}")
    return known


def _largest_integer_by_dtype(dtype: DType) -> int:
    """Up to which every integer is a number of a type."""
    return parameters.largest_integer(_checked(dtype))


def _smallest_integer_by_dtype(dtype: DType) -> int:
    """From which on every integer is a number of a type."""
    known = _checked(dtype)
    return 0 if known.is_unsigned or known == tf.bool else -_largest_integer_by_dtype(known)


def _is_integer_like_by_dtype(dtype: DType) -> bool:
    """Whether a type has only integers, or truth values."""
    known = _checked(dtype)
    return known.is_integer or known == tf.bool


def assert_integer_form(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    int_dtype: DType | None = None,
    name: str = "assert_integer_form",
) -> Operation:
    """An operation that fails where a number is not whole."""
    with tf.name_scope(name, values=[x, data]):
        x = tf.convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return tf.no_op()
        if int_dtype is None and x.dtype.base_dtype not in parameters.INTEGERS_LIKE:
            raise TypeError(f"Unrecognized type {x.dtype.name}")
        whole = tf.cast(tf.cast(x, int_dtype or parameters.INTEGERS_LIKE[x.dtype.base_dtype]), x.dtype)
        words = message or f"{x} has non-integer components"
        return tf.assert_equal(x, whole, data=data, summarize=summarize, message=words, name=name)


def embed_check_integer_casting_closed(
    x: Any, target_dtype: DType, assert_nonnegative: bool = True, name: str = "embed_check_casting_closed"
) -> Tensor:
    """Integers, checked to be the same numbers in another type."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        kinds = [_is_integer_like_by_dtype(dtype) or dtype.is_floating for dtype in (x.dtype, target_dtype)]
        if not kinds[0]:
            raise TypeError(f"{x.dtype.name}.dtype must be floating- or integer-type.")
        if not kinds[1]:
            raise TypeError(f"target_dtype ({target_dtype.name}) must be floating- or integer-type.")
        if not (_is_integer_like_by_dtype(x.dtype) or _is_integer_like_by_dtype(target_dtype)):
            raise TypeError(
                f"At least one of {x}.dtype ({x.dtype.name}) and target_dtype ({target_dtype.name}) must be "
                "integer-type."
            )
        assertions = _casting_assertions(x, target_dtype, assert_nonnegative)
        return with_dependencies(assertions, x) if assertions else x


def _casting_assertions(x: Tensor, target: DType, not_negative: bool) -> list[Operation]:
    found = []
    if not_negative:
        found.append(tf.assert_non_negative(x, message="Elements must be non-negative."))
    if x.dtype.is_floating:
        message = f"Elements must be {target.name}-equivalent."
        return [*found, assert_integer_form(x, int_dtype=target, message=message)]
    most, least = _largest_integer_by_dtype(target), _smallest_integer_by_dtype(target)
    if _largest_integer_by_dtype(x.dtype) > most:
        found.append(tf.assert_less_equal(x, most, message=f"Elements cannot exceed {most}."))
    if not not_negative and _smallest_integer_by_dtype(x.dtype) < least:
        message = f"Elements cannot be smaller than {least}."
        found.append(tf.assert_greater_equal(x, least, message=message))
    return found


# ---------------------------------------------------------------------------------- parameters


def get_logits_and_probs(
    logits: Any = None,
    probs: Any = None,
    multidimensional: bool = False,
    validate_args: bool = False,
    name: str = "get_logits_and_probs",
    dtype: DType | None = None,
) -> tuple[Tensor, Tensor]:
    """Logits and probabilities, from the one that is given."""
    if dtype is not None:
        logits = None if logits is None else tf.convert_to_tensor(logits, name="logits", dtype=dtype)
        probs = None if probs is None else tf.convert_to_tensor(probs, name="probs", dtype=dtype)
    return parameters.logits_and_probs(logits, probs, validate_args, name, multidimensional)


def embed_check_categorical_event_shape(
    categorical_param: Any, name: str = "embed_check_categorical_event_shape"
) -> Tensor:
    """A parameter by class, checked to have as many classes as its type can count."""
    parameter = tf.convert_to_tensor(categorical_param, name="categorical_param")
    if not parameter.dtype.is_floating:
        raise TypeError(f"Unable to validate size of unrecognized dtype ({parameter.dtype.name}).")
    return parameters.check_classes(parameter)


def assert_symmetric(matrix: Tensor) -> Tensor:
    """A matrix, checked to be its own transpose."""
    return with_dependencies([tf.assert_equal(matrix, tf.matrix_transpose(matrix))], matrix)


def process_quadrature_grid_and_probs(
    quadrature_grid_and_probs: Any, dtype: DType, validate_args: bool, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Points and weights that sum to one; by default those of Gauss and Hermite, of degree eight."""
    with tf.name_scope(name, "process_quadrature_grid_and_probs", [quadrature_grid_and_probs]):
        if quadrature_grid_and_probs is None:
            grid, weights = np.polynomial.hermite.hermgauss(deg=8)
            weights = (weights / np.linalg.norm(weights, ord=1)).astype(dtype.as_numpy_dtype)
            grid = grid.astype(dtype.as_numpy_dtype)
            points = tf.convert_to_tensor(grid, name="grid", dtype=dtype)
            return points, tf.convert_to_tensor(weights, name="unnormalized_probs", dtype=dtype)
        grid, weights = tuple(quadrature_grid_and_probs)
        grid = tf.convert_to_tensor(grid, name="grid", dtype=dtype)
        weights = tf.convert_to_tensor(weights, name="unnormalized_probs", dtype=dtype)
        weights /= tf.norm(weights, ord=1, axis=-1, keepdims=True, name="probs")
        return grid, _of_equal_size(grid, weights, validate_args)


def _of_equal_size(grid: Tensor, weights: Tensor, validate_args: bool) -> Tensor:
    message = "`quadrature_grid_and_probs` must be a `tuple` of same-length zero-th-dimension `Tensor`s"
    sizes = [dimension_size(tensor, -1) for tensor in (grid, weights)]
    if all(isinstance(size, int) for size in sizes):
        if sizes[0] != sizes[1]:
            raise ValueError(f"{message} (saw lengths {sizes[0]}, {sizes[1]})")
        return weights
    if validate_args:
        return with_dependencies([tf.assert_equal(*sizes, message=message)], weights)
    return weights


# ---------------------------------------------------------------------------------- known or computed


def maybe_get_static_value(x: Any, dtype: Any = None) -> Any:
    """The value of something where the graph alone tells it, else None."""
    if x is None:
        return None
    value = constant_value(x) if isinstance(x, Tensor) else x
    return value if value is None or dtype is None else np.array(value, dtype)


def prefer_static_rank(x: Tensor) -> Any:
    """The rank, as a number of NumPy where it is known."""
    return prefer_static_value(tf.rank(x))


def prefer_static_shape(x: Tensor) -> Any:
    """The shape, as an array where it is known."""
    return prefer_static_value(tf.shape(x))


def prefer_static_broadcast_shape(
    shape1: Any, shape2: Any, name: str = "prefer_static_broadcast_shape"
) -> Any:
    """What two shapes broadcast to: a TensorShape where it is known, else a tensor."""
    with tf.name_scope(name, values=[shape1, shape2]):
        known = [_known_shape(shape) for shape in (shape1, shape2)]
        if all(shape is not None for shape in known):
            return tf.broadcast_static_shape(*known)
        return tf.broadcast_dynamic_shape(_sizes(shape1), _sizes(shape2))


def _known_shape(shape: Any) -> TensorShape | None:
    if isinstance(shape, TensorShape):
        return shape
    sizes = constant_value(tf.convert_to_tensor(shape, name="shape", dtype=tf.int32))
    return None if sizes is None else TensorShape(sizes)


def _sizes(shape: Any) -> Tensor:
    if isinstance(shape, TensorShape) and not shape.is_fully_defined():
        raise ValueError("Cannot broadcast from partially defined `TensorShape`.")
    sizes = shape.as_list() if isinstance(shape, TensorShape) else shape
    return tf.convert_to_tensor(sizes, name="shape", dtype=tf.int32)


def same_dynamic_shape(a: Any, b: Any) -> Tensor:
    """Whether two tensors have the same shape in a step."""
    first, second = (tf.shape(tf.convert_to_tensor(x)) for x in (a, b))

    def sizes_are_equal() -> Tensor:
        both = tf.concat([first, second], 0), tf.concat([second, first], 0)
        return tf.reduce_all(tf.equal(*both))

    return tf.cond(tf.equal(tf.rank(a), tf.rank(b)), sizes_are_equal, lambda: tf.constant(False))


def rotate_transpose(x: Any, shift: Any, name: str = "rotate_transpose") -> Tensor:
    """Moves every axis `shift` places to the right, the last ones to the front."""
    with tf.name_scope(name, values=[x, shift]):
        x, shift = tf.convert_to_tensor(x, name="x"), tf.convert_to_tensor(shift, name="shift")
        tf.debugging.assert_integer(shift)
        known = constant_value(shift)
        return tools.rotate_axes(x, shift if known is None else int(known))


def pick_vector(cond: Any, true_vector: Any, false_vector: Any, name: str = "pick_vector") -> Any:
    """One of two vectors, whose sizes may differ."""
    cond = tf.convert_to_tensor(cond, name="cond")
    if cond.dtype != tf.bool:
        raise TypeError(f"{cond}.dtype={cond.dtype} which is not {tf.bool}")
    if constant_value(cond) is None:
        true_vector, false_vector = (tf.convert_to_tensor(each) for each in (true_vector, false_vector))
        if true_vector.dtype != false_vector.dtype:
            raise TypeError(
                f"{true_vector}.dtype={true_vector.dtype} does not match "
                f"{false_vector}.dtype={false_vector.dtype}"
            )
    return tools.pick_vector(cond, true_vector, false_vector)


# ---------------------------------------------------------------------------------- Python


def parent_frame_arguments() -> dict[str, Any]:
    """The arguments of the function that calls this, by name; those given as `**kwargs` among them."""
    frame = inspect.currentframe()
    if frame is None or frame.f_back is None:
        return {}
    names, _, keywords, values = inspect.getargvalues(frame.f_back)
    return {**{name: values[name] for name in names}, **(values[keywords] if keywords else {})}


class AppendDocstring:
    """Decorator: adds words, and a line for each further argument, to a function's documentation.

    Args:
      additional_note: The words.
      kwargs_dict: What to say of arguments, by name.
    """

    def __init__(self, additional_note: str = "", kwargs_dict: dict[str, str] | None = None):
        self._note = additional_note
        if kwargs_dict:
            lines = [_bullet(key, words.lstrip()) for key, words in sorted(kwargs_dict.items())]
            self._note += "\n\n##### `kwargs`:\n\n" + "\n".join(lines)

    def __call__(self, fn: Callable) -> Callable:
        @functools.wraps(fn)
        def documented(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        documented.__doc__ = self._note if fn.__doc__ is None else f"{fn.__doc__}\n{self._note}"
        return documented


def _bullet(name: str, words: str) -> str:
    if any(character.isspace() for character in name):
        raise ValueError(f'Parameter name "{name}" contains whitespace.')
    if "\n" in words:
        raise ValueError(f'Parameter description for "{name}" contains newlines.')
    return f"*  `{name}`: {words}"
