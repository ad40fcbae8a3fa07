"""Conditions and loops, whose branches and bodies are graphs of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, Subgraph, operator
from tideflow.graph.partial import constant_value

_MOST_UNROLLED = 1000  # iterations


@operator("If")
def _if(given: Given) -> Any:
    then, otherwise = given.subgraphs["then_branch"], given.subgraphs["else_branch"]
    known = given.array(0)
    if known is not None:
        return tuple((then if known.all() else otherwise)())
    kinds: list[list[int | None]] = []

    def branch(make: Subgraph) -> list[Any]:
        values = make()
        kinds.append([len(each) if isinstance(each, list) else None for each in values])
        return _tensors([one for each in values for one in (each if isinstance(each, list) else [each])])

    made = tf.cond(tf.reshape(given.inputs[0], []), lambda: branch(then), lambda: branch(otherwise))
    if kinds[0] != kinds[1]:
        raise ValueError(f"its branches give sequences of different lengths: {kinds[0]} and {kinds[1]}")
    left = list(made) if isinstance(made, (list, tuple)) else [made]
    return tuple([left.pop(0) for _ in range(n)] if n is not None else left.pop(0) for n in kinds[0])


def _tensors(values: Sequence[Any]) -> list[Any]:
    if not all(isinstance(value, tf.Tensor) for value in values):
        raise ValueError("sequences and optional values cannot leave a condition or a loop")
    return list(values)


@operator("Loop")
def _loop(given: Given) -> Any:
    body = given.subgraphs["body"]
    most, goes_on = given.input(0), given.input(1)
    if any(not isinstance(each, tf.Tensor) for each in given.inputs[2:]):
        return _unrolled(given)
    variables = [tf.convert_to_tensor(each) for each in _tensors(given.inputs[2:])]
    goes_on = tf.constant(True) if goes_on is None else tf.reshape(goes_on, [])
    most = None if most is None else tf.reshape(most, [])
    shapes, outputs = _settled(body, variables)

    def test(i: Any, going: Any, *_: Any) -> Any:
        return going if most is None else tf.logical_and(going, i < most)

    def advance(i: Any, going: Any, *values: Any) -> list[Any]:
        before, arrays = values[: len(variables)], values[len(variables) :]
        again, *made = _tensors(body(i, going, *before))
        after, scanned = made[: len(variables)], made[len(variables) :]
        written = [
            array.write(tf.cast(i, tf.int32), each) for array, each in zip(arrays, scanned, strict=True)
        ]
        return [i + 1, tf.reshape(again, []), *after, *written]

    arrays = [_array(dtype, 0, shape) for dtype, shape in outputs]
    invariants = [tf.TensorShape([]), tf.TensorShape([]), *shapes, *(tf.TensorShape([]) for _ in arrays)]
    start = [tf.constant(0, tf.int64), goes_on, *variables, *arrays]
    _, _, *last = tf.while_loop(test, advance, start, invariants)
    return (*last[: len(variables)], *(array.stack() for array in last[len(variables) :]))


def _unrolled(given: Given) -> tuple[Any, ...]:
    """A loop that carries sequences or optional values, written out: how often it runs must be known."""
    most, variables = given.array(0) if given.input(0) is not None else None, list(given.inputs[2:])
    if most is None or int(most.reshape([])) > _MOST_UNROLLED:
        raise ValueError("a loop that carries a sequence must run a known, small number of times")
    scanned: list[list[Any]] = [[] for _ in range(given.outputs - len(variables))]
    going = given.array(1) if given.input(1) is not None else np.array(True)
    for i in range(int(most.reshape([]))):
        if going is None:
            raise ValueError("a loop that carries a sequence must not end by what it computes")
        if not going.all():
            break
        again, *made = given.subgraphs["body"](tf.constant(i, tf.int64), tf.constant(True), *variables)
        variables = made[: len(variables)]
        for values, each in zip(scanned, made[len(variables) :], strict=True):
            values.append(each)
        going = constant_value(again)
    return *variables, *(tf.stack(values) for values in scanned)


def _array(dtype: Any, size: Any, shape: Any) -> Any:
    return tf.TensorArray(dtype, size, dynamic_size=True, infer_shape=False, element_shape=shape)


def _settled(body: Subgraph, variables: Sequence[Any]) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """The shapes that variables keep in all iterations, and types and shapes of what each iteration adds.

    The body is tried in a graph of its own, with less known of the shapes each time, until it keeps them.
    """
    shapes = [each.shape for each in variables]
    while True:
        with tf.Graph().as_default():
            given = [tf.placeholder(each.dtype, shape) for each, shape in zip(variables, shapes, strict=True)]
            _, *made = body(tf.placeholder(tf.int64, []), tf.placeholder(tf.bool, []), *given)
        made = _tensors(made)
        kept = [_common(shape, after.shape) for shape, after in zip(shapes, made)]
        if all(
            a.as_list() == b.as_list() if a.ndims is not None else b.ndims is None
            for a, b in zip(kept, shapes)
        ):
            return shapes, [(each.dtype, each.shape) for each in made[len(variables) :]]
        shapes = kept


def _common(a: Any, b: Any) -> Any:
    """What two shapes agree on."""
    if a.ndims is None or a.ndims != b.ndims:
        return tf.TensorShape(None)
    return tf.TensorShape([m if m == n else None for m, n in zip(a.as_list(), b.as_list(), strict=True)])


@operator("Scan")
def _scan(given: Given) -> Any:
    if given.opset < 9:
        raise ValueError("Scan of version 8 is not known")
    body, count = given.subgraphs["body"], given.attribute("num_scan_inputs")
    states, scanned = list(given.inputs[:-count]), list(given.inputs[-count:])
    axes = given.attribute("scan_input_axes", [0] * count)
    backward = given.attribute("scan_input_directions", [0] * count)
    sources = [_in_order(x, axis, turn) for x, axis, turn in zip(scanned, axes, backward, strict=True)]
    shapes, outputs = _settled_scan(body, states, sources)
    length = tf.shape(sources[0])[0]
    readers = [tf.TensorArray(x.dtype, length).unstack(x) for x in sources]

    def advance(i: Any, *values: Any) -> list[Any]:
        before, arrays = values[: len(states)], values[len(states) :]
        made = _tensors(body(*before, *(reader.read(i) for reader in readers)))
        written = [array.write(i, each) for array, each in zip(arrays, made[len(states) :], strict=True)]
        return [i + 1, *made[: len(states)], *written]

    arrays = [_array(dtype, length, shape) for dtype, shape in outputs]
    invariants = [tf.TensorShape([]), *shapes, *(tf.TensorShape([]) for _ in arrays)]
    _, *last = tf.while_loop(lambda i, *_: i < length, advance, [0, *states, *arrays], invariants)
    axes = given.attribute("scan_output_axes", [0] * len(arrays))
    backward = given.attribute("scan_output_directions", [0] * len(arrays))
    stacked = [array.stack() for array in last[len(states) :]]
    return (
        *last[: len(states)],
        *(_put_back(x, axis, turn) for x, axis, turn in zip(stacked, axes, backward, strict=True)),
    )


def _settled_scan(
    body: Subgraph, states: Sequence[Any], sources: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    def without_first(_: Any, __: Any, *values: Any) -> list[Any]:
        elements = [tf.placeholder(x.dtype, x.shape[1:]) for x in sources]
        return [None, *body(*values, *elements)]

    return _settled(without_first, states)


def _in_order(x: Any, axis: int, turn: int) -> Any:
    rank = x.shape.ndims
    axis %= rank
    first = tf.transpose(x, [axis, *(i for i in range(rank) if i != axis)]) if axis else x
    return tf.reverse(first, [0]) if turn else first


def _put_back(x: Any, axis: int, turn: int) -> Any:
    x = tf.reverse(x, [0]) if turn else x
    rank = x.shape.ndims
    axis %= rank
    order = [*range(1, rank)]
    order.insert(axis, 0)
    return tf.transpose(x, order) if axis else x
