"""Tables that tests take from `tensorflow.python.framework.dtypes`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

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
