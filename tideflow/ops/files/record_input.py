"""RecordInput: batches of records of many files, in random order."""

from __future__ import annotations

import threading

import numpy as np

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.runtime.record_input import ShuffledRecords

record_input_op = Op(
    "RecordInput",
    " -> records: string",
    stateful=True,
    differentiable=False,
    touches="files",
    file_pattern=attr("string"),
    file_random_seed=301,
    file_shuffle_shift_ratio=0.0,
    file_buffer_size=10000,
    file_parallelism=16,
    batch_size=32,
    compression_type="",
)
record_input_op.shape(lambda: None)

_making = threading.Lock()


@record_input_op.kernel
def _record_input_kernel(
    *,
    file_pattern,
    file_random_seed,
    file_shuffle_shift_ratio,
    file_buffer_size,
    batch_size,
    compression_type,
    state,
):
    with _making:
        if "records" not in state:
            state["records"] = ShuffledRecords(
                file_pattern, file_random_seed, file_shuffle_shift_ratio, file_buffer_size, compression_type
            )
    made = np.empty(batch_size, object)
    made[:] = state["records"].take(batch_size)
    return made


record_input_op.samples(covered_by="tests/queues/test_barriers_and_staging.py")
