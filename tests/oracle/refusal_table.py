"""The cases of refusals.py, from Tideflow's op table: every refusal, and samples of many ops, damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

import tideflow as tf
from tests.ops.cases import arrays, split_attrs, vocabulary
from tideflow import ops
from tideflow.graph.arrays import as_array
from tideflow.graph.op import Op
from tideflow.graph.schema import Arg
from tideflow.ops.helpers.samples import SampleRef, scratch

# The modules of tideflow/ops whose ops do not all refuse damaged samples in TensorFlow's words yet.
IN_OTHER_WORDS = frozenset(("files/proto_messages", "nn/fused_convolution", "state/sdca"))


def _module(op: Op) -> str:
    return os.path.relpath(op.place[0], os.path.dirname(ops.__file__)).removesuffix(".py")


def table() -> dict[str, dict]:
    """Every case by name, as plain values that every engine can read."""
    found = {}
    for op in vocabulary().values():
        for number, (sample, _, _) in enumerate(op.refusals, 1):
            inputs, attrs = split_attrs(sample)
            found[f"{op.name}: refusal {number}"] = encoded(op, inputs, arrays(inputs), attrs)
        for sample in () if _module(op) in IN_OTHER_WORDS else op.sample_cases[:1]:
            inputs, attrs = split_attrs(sample)
            for what, values in damaged(op, inputs, attrs):
                found[f"{op.name}: {what}"] = encoded(op, inputs, values, attrs)
    return found


# ---------------------------------------------------------------------------------- damage


def damaged(op: Op, inputs: tuple, attrs: dict) -> Iterator[tuple[str, list[Any]]]:
    """The sample's values with one of them made wrong, each with what was done to it."""
    values = arrays(inputs)
    for place, (arg, given, value) in enumerate(zip(op.inputs, inputs, values, strict=True)):
        if arg.is_list:
            if value and not isinstance(given[0], SampleRef):
                for what, wrong in changes(as_input(arg, value[0], attrs)):
                    pieces = [wrong, *value[1:]]
                    yield f"{arg.name}[0] {what}", [*values[:place], pieces, *values[place + 1 :]]
        elif not isinstance(given, SampleRef):
            for what, wrong in changes(as_input(arg, value, attrs)):
                yield f"{arg.name} {what}", [*values[:place], wrong, *values[place + 1 :]]


def changes(value: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """What may be wrong with an array: its rank, a size, an element."""
    yield "of one rank more", value[np.newaxis]
    if value.ndim and value.size:
        yield "of one rank less", value[0]
        for axis in {0, value.ndim - 1}:
            yield f"longer along axis {axis}", np.concatenate([value, value.take([0], axis)], axis)
    if value.size and value.dtype.kind in "iu" and not value.dtype.names:
        for what, element in (("with -7", -7), ("with 97", 97)):
            if element > 0 or value.dtype.kind == "i":
                wrong = value.copy()
                wrong.reshape(-1)[-1] = element
                yield what, wrong


# ---------------------------------------------------------------------------------- plain values


def as_input(arg: Arg, value: Any, attrs: dict) -> np.ndarray:
    """An input of a sample as an array of the op's type."""
    if isinstance(value, np.ndarray):
        return value
    dtype = arg.dtype or attrs.get(arg.type_attr)
    return as_array(value, dtype)


def encoded(op: Op, inputs: tuple, values: list[Any], attrs: dict) -> dict:
    """One case: the op, its inputs by name, its attributes."""
    sources = {}
    for arg, given, value in zip(op.inputs, inputs, values, strict=True):
        if arg.is_list:
            sources[arg.name] = [_source(op, arg, g, v, attrs) for g, v in zip(given, value, strict=True)]
        else:
            sources[arg.name] = _source(op, arg, given, value, attrs)
    return {"op": op.name, "inputs": sources, "attrs": {key: _attr(value) for key, value in attrs.items()}}


def _source(op: Op, arg: Arg, given: Any, value: Any, attrs: dict) -> dict:
    kind = given.kind if isinstance(given, SampleRef) else "host" if arg.name in op.host else "array"
    array = as_input(arg, value, attrs)
    dtype = "string" if array.dtype == object else tf.as_dtype(array.dtype).name
    data = [_without_process(item) for item in array.reshape(-1)] if dtype == "string" else array.tobytes()
    return {"kind": kind, "dtype": dtype, "shape": array.shape, "data": data}


def _without_process(text: bytes) -> bytes:
    """The string with no trace of this process, which the paths of scratch files have."""
    return bytes(text).replace(scratch("").encode(), b"/tmp/tideflow-sample-")


def _attr(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_attr(item) for item in value]
    if isinstance(value, tf.DType):
        return {"dtype": value.name}
    if isinstance(value, tf.TensorShape):
        return {"shape": None if value.ndims is None else value.as_list()}
    return value.decode() if isinstance(value, bytes) else value
