"""Names of `tensorflow.python.ops.summary_ops_v2`, beside those of `tf.contrib.summary`."""

from __future__ import annotations

from tideflow.compat_v2.summary import create_file_writer as create_file_writer_v2
from tideflow.compat_v2.summary import get_step, set_step, summary_scope, write, write_raw_pb
from tideflow.compat_v2.traces import (
    keras_model,
    run_metadata,
    run_metadata_graphs,
    trace_export,
    trace_off,
    trace_on,
)
from tideflow.summary.functions import all_v2_summary_ops
from tideflow.summary.recording import ResourceSummaryWriter, SummaryWriter, record_if

NoopSummaryWriter = SummaryWriter

__all__ = [
    "NoopSummaryWriter",
    "ResourceSummaryWriter",
    "all_v2_summary_ops",
    "create_file_writer_v2",
    "get_step",
    "keras_model",
    "record_if",
    "run_metadata",
    "run_metadata_graphs",
    "set_step",
    "summary_scope",
    "trace_export",
    "trace_off",
    "trace_on",
    "write",
    "write_raw_pb",
]
