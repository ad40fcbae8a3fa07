"""ONNX's sequences, which are lists of tensors while a graph is made, and its optional values."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, operator, sizes_of


def _items(given: Given, index: int = 0) -> list[Any]:
    value = given.inputs[index]
    if not isinstance(value, list):
        raise ValueError("a sequence was expected")
    return value


def _place(given: Given, index: int, default: int) -> int:
    """A place in a sequence, whose length is known while the graph is made."""
    if given.input(index) is None:
        return default
    known = given.array(index)
    if known is None:
        raise ValueError("the place in the sequence must be a constant")
    return int(known.reshape([]))


@operator("SequenceEmpty")
def _empty(given: Given) -> Any:
    return []


@operator("SequenceConstruct")
def _construct(given: Given) -> Any:
    return list(given.inputs)


@operator("SequenceAt")
def _at(given: Given) -> Any:
    items = _items(given)
    if given.array(1) is not None:
        return items[_place(given, 1, 0)]
    place = tf.cast(given.inputs[1], tf.int32)
    return tf.stack(items)[tf.where(place < 0, place + len(items), place)]


@operator("SequenceInsert")
def _insert(given: Given) -> Any:
    items, place = list(_items(given)), _place(given, 2, len(_items(given)))
    if not -len(items) <= place <= len(items):
        raise ValueError(f"place {place} is not in a sequence of {len(items)}")
    items.insert(place, given.inputs[1])
    return items


@operator("SequenceErase")
def _erase(given: Given) -> Any:
    items = list(_items(given))
    del items[_place(given, 1, -1)]
    return items


@operator("SequenceLength")
def _length(given: Given) -> Any:
    return tf.constant(len(_items(given)), tf.int64)


@operator("SequenceMap")
def _map(given: Given) -> Any:
    """The body for each element; what is no sequence is given to all."""
    count = len(_items(given))
    made = [
        given.subgraphs["body"](*(each[i] if isinstance(each, list) else each for each in given.inputs))
        for i in range(count)
    ]
    return tuple(list(values) for values in zip(*made)) if made else ([],) * given.outputs


@operator("SplitToSequence")
def _split(given: Given) -> Any:
    x, axis = given.inputs[0], given.attribute("axis", 0)
    length = sizes_of(x)[axis]
    known = given.array(1) if given.input(1) is not None else None
    if given.input(1) is not None and known is not None and known.ndim == 1:
        return tf.split(x, known.tolist(), axis)
    if not isinstance(length, int) or (given.input(1) is not None and known is None):
        raise ValueError("the number of elements must be known while the graph is made")
    each = 1 if known is None else int(known.reshape([]))
    if each < 1:
        raise ValueError(f"elements of size {each}")
    parts = tf.split(x, [min(each, length - i) for i in range(0, length, each)], axis)
    keeps = given.input(1) is not None or given.flag("keepdims", True)
    return parts if keeps else [tf.squeeze(part, axis) for part in parts]


@operator("ConcatFromSequence")
def _concat(given: Given) -> Any:
    axis = given.attribute("axis")
    return (tf.stack if given.flag("new_axis") else tf.concat)(_items(given), axis)


@operator("Optional")
def _optional(given: Given) -> Any:
    return given.input(0)


@operator("OptionalHasElement")
def _has_element(given: Given) -> Any:
    return tf.constant(given.input(0) is not None)


@operator("OptionalGetElement")
def _get_element(given: Given) -> Any:
    if given.inputs[0] is None:
        raise ValueError("the optional value is empty")
    return given.inputs[0]
