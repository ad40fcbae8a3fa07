"""Python's built-in functions, where they are given tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf

_UNSPECIFIED: Any = object()


def overload_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """What converted code calls instead of a built-in function."""
    try:
        return _OVERLOADS.get(function, function)
    except TypeError:  # a method of something that cannot be hashed
        return function


def abs_(x: Any) -> Any:
    return tf.abs(x) if tf.is_tensor(x) else abs(x)


def float_(x: Any = 0) -> Any:
    return _number(x, tf.float32) if tf.is_tensor(x) else float(x)


def int_(x: Any = 0, base: Any = _UNSPECIFIED) -> Any:
    if not tf.is_tensor(x):
        return int(x) if base is _UNSPECIFIED else int(x, base)
    if base is not _UNSPECIFIED and base != 10:
        raise NotImplementedError(f"base {base} not supported for int")
    return _number(x, tf.int32)


def _number(x: Any, dtype: tf.DType) -> Any:
    return tf.string_to_number(x, dtype) if x.dtype == tf.string else tf.cast(x, dtype)


def len_(x: Any) -> Any:
    if isinstance(x, tf.TensorArray):
        return x.size()
    if not tf.is_tensor(x):
        return len(x)
    if x.dtype == tf.variant and not x.shape.ndims:
        return tf.raw_ops.TensorListLength(input_handle=x)
    if x.shape.ndims == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {tf.shape(x)}")
    if x.shape.ndims is None:
        rank = tf.rank(x)
        return tf.cond(rank > 0, lambda: tf.shape(x)[0], lambda: _no_length(rank))
    known = x.shape.as_list()[0]
    return tf.shape(x)[0] if known is None else known


def _no_length(rank: tf.Tensor) -> tf.Tensor:
    message = tf.strings.join(["len requires non-zero rank, got ", tf.as_string(rank)])
    with tf.control_dependencies([tf.Assert(False, [message])]):
        return tf.constant(0)


def print_(*objects: Any, **kwargs: Any) -> Any:
    unknown = tuple(kwargs.keys() - {"sep", "end", "file", "flush"})
    if unknown:
        raise ValueError(f"invalid keyword arguments: {unknown}")
    if not any(tf.is_tensor(x) for x in objects):
        print(*objects, **kwargs)
        return None
    places = [i for i, x in enumerate(objects) if tf.is_tensor(x)]

    def print_values(*values: Any) -> int:
        shown = list(objects)
        for i, value in zip(places, values, strict=True):
            shown[i] = value.decode() if isinstance(value, bytes) else value
        print(*shown, **{"flush": True, **kwargs})
        return 0

    return tf.py_func(print_values, [objects[i] for i in places], tf.int64, stateful=True)


def range_(start_or_stop: Any, stop: Any = _UNSPECIFIED, step: Any = _UNSPECIFIED) -> Any:
    given: Sequence[Any] = [x for x in (start_or_stop, stop, step) if x is not _UNSPECIFIED]
    if not any(tf.is_tensor(x) for x in given):
        return range(*given)
    if len(given) == 3:
        return tf.range(*given)
    # Python's range is empty where the stop lies before the start; tf.range refuses that.
    if len(given) == 2:
        return tf.range(start_or_stop, tf.maximum(start_or_stop, stop))
    return tf.range(tf.maximum(start_or_stop, 0))


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    if isinstance(iterable, tf.data.Dataset):
        return iterable.enumerate(start)
    return enumerate(iterable, start)


def zip_(*iterables: Any, **kwargs: Any) -> Any:
    if iterables and all(isinstance(x, tf.data.Dataset) for x in iterables):
        return tf.data.Dataset.zip(iterables)
    return zip(*iterables, **kwargs)


_OVERLOADS: dict[Callable[..., Any], Callable[..., Any]] = {
    abs: abs_,
    float: float_,
    int: int_,
    len: len_,
    print: print_,
    range: range_,
    enumerate: enumerate_,
    zip: zip_,
}
