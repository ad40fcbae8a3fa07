"""Tables that tests take from `tensorflow.python.framework.dtypes`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
from tensorboard.compat.proto.types_pb2 import DataType

from tideflow.graph import dtypes


def _known() -> Iterator[tuple[int, dtypes.DType]]:
    """The types by number, without those that later versions have added."""
    for number in DataType.values():
        with contextlib.suppress(TypeError):
            yield number, dtypes.as_dtype(number)


_INTERN_TABLE = dict(_known())
_TYPE_TO_STRING = {number: dtype.name for number, dtype in _INTERN_TABLE.items()}
_STRING_TO_TF = {name: _INTERN_TABLE[number] for number, name in _TYPE_TO_STRING.items()}

_REFERENCES = 100  # what is added to a type's number for a reference to it
_np_bfloat16 = dtypes.bfloat16.as_numpy_dtype
_HANDLES = (dtypes.resource, dtypes.variant)  # their values are no arrays
_TF_TO_NP = {
    n: dtype.as_numpy_dtype for n, dtype in _INTERN_TABLE.items() if dtype.base_dtype not in _HANDLES
}
_NP_TO_TF = {kind: _INTERN_TABLE[number] for number, kind in _TF_TO_NP.items() if number < _REFERENCES}
_PYTHON_TO_TF = {float: dtypes.float32, bool: dtypes.bool, object: dtypes.string}
_ANY_TO_TF = {**_INTERN_TABLE, **_STRING_TO_TF, **_NP_TO_TF, **_PYTHON_TO_TF}
TF_VALUE_DTYPES = set(_NP_TO_TF.values())
_INTEGERS = (np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64)
dtype_range = {
    np.bool_: (False, True),
    np.float16: (-1, 1),
    np.float32: (-1, 1),
    np.float64: (-1, 1),
    **{kind: (np.iinfo(kind).min, np.iinfo(kind).max) for kind in _INTEGERS},
}
