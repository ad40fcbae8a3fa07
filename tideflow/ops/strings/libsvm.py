"""Rows in the format of LIBSVM: a label, then `index:value` for each feature that is there."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.samples import text
from tideflow.ops.helpers.types import types
from tideflow.ops.strings.numbers import parsed_number
from tideflow.runtime.values import to_torch

_NUMBERS = types("float double int32 int64")

decode_libsvm_op = Op(
    "DecodeLibsvm",
    "input: string -> label: label_dtype, feature_indices: int64, feature_values: dtype, "
    "feature_shape: int64",
    dtype=attr("type", dtypes.float32, allowed=_NUMBERS),
    label_dtype=attr("type", dtypes.int64, allowed=_NUMBERS),
    num_features=attr("int", minimum=1),
    on_host=True,
    differentiable=False,
)


@decode_libsvm_op.shape
def _decode_libsvm_shape(input, *, num_features):
    rank = None if input.ndims is None else input.ndims + 1
    return [input, [None, rank], [None], [rank]]


@decode_libsvm_op.kernel
def _decode_libsvm_kernel(input, *, dtype, label_dtype, num_features):
    labels, indices, values = [], [], []
    for place in np.ndindex(input.shape):
        row = input[place]
        words = row.split()
        if not words:
            number = np.ravel_multi_index(place, input.shape) if place else 0
            raise errors.invalid_argument(f'No label found for input[{number}]: "{_shown(row)}"')
        labels.append(_read(words[0], label_dtype, f"Label format incorrect: {_shown(words[0])}"))
        for word in words[1:]:
            index, colon, value = word.partition(b":")
            if not colon:
                raise errors.invalid_argument(f'Invalid feature "{_shown(word)}"')
            wrong = f"Feature format incorrect: {_shown(word)}"
            feature = _read(index, dtypes.int64, wrong)
            if feature < 0:
                raise errors.invalid_argument(f"Feature index should be >= 0, got {feature}")
            indices.append((*place, feature))
            values.append(_read(value, dtype, wrong))
    shape = (*input.shape, num_features)
    return (
        to_torch(np.array(labels, label_dtype.as_numpy_dtype).reshape(input.shape)),
        to_torch(np.array(indices, np.int64).reshape(-1, len(shape))),
        to_torch(np.array(values, dtype.as_numpy_dtype)),
        to_torch(np.array(shape, np.int64)),
    )


def _read(word: bytes, dtype: dtypes.DType, wrong: str) -> Any:
    found = parsed_number(word, dtype)
    if found is None:
        raise errors.invalid_argument(wrong)
    return found


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _by_regular_expressions(input: np.ndarray, num_features: int = 0, **_: Any) -> tuple[Any, ...]:
    rows = [(place, row.decode()) for place, row in np.ndenumerate(input)]
    found = [(place, *pair) for place, row in rows for pair in re.findall(r"(\S+):(\S+)", row)]
    return (
        np.array([float(row.split()[0]) for _, row in rows]).reshape(input.shape),
        np.array([(*place, int(index)) for place, index, _ in found]).reshape(-1, input.ndim + 1),
        np.array([float(value) for *_, value in found]),
        np.array([*input.shape, num_features]),
    )


decode_libsvm_op.samples(
    (text("1 1:3.5 2:0.5", "-1 5:inf"), {"num_features": 6}),
    (text("0.5", " 2  0:1 3:4 ", shape=(2, 1)), {"num_features": 4, "label_dtype": dtypes.float32}),
    (text("7 1:2 2:3"), {"num_features": 3, "dtype": dtypes.int32, "label_dtype": dtypes.int32}),
    against=_by_regular_expressions,
)
decode_libsvm_op.refuses(
    (text("x 1:1"), {"num_features": 2}), "Label format incorrect: x", InvalidArgumentError
)
decode_libsvm_op.refuses(
    (text("1 1:1", ""), {"num_features": 2}), 'No label found for input[1]: ""', InvalidArgumentError
)
decode_libsvm_op.refuses((text("1 1"), {"num_features": 2}), 'Invalid feature "1"', InvalidArgumentError)
decode_libsvm_op.refuses(
    (text("1 a:1"), {"num_features": 2}), "Feature format incorrect: a:1", InvalidArgumentError
)
decode_libsvm_op.refuses(
    (text("1 -1:1"), {"num_features": 2}), "Feature index should be >= 0, got -1", InvalidArgumentError
)
