"""Datasets as graphs: a dataset written as the graph that makes it, and made of one; snapshots, which are
told apart by their graphs.
"""

from __future__ import annotations

import hashlib

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.graph import errors
from tideflow.graph.functions import FunctionBody, FunctionGraph, add_function, effects_of, outermost
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.dataset_origins import fingerprint, graph_of
from tideflow.ops.helpers.datasets import dataset_op
from tideflow.runtime.dataset_snapshots import Places, Snapshot
from tideflow.runtime.datasets import as_cell, dataset_in, refuse
from tideflow.runtime.waiting import StepContext

_TESTS = "tests/ops/datasets/test_dataset_graphs.py"
_SHARD_BYTES, _EXPIRY_SECONDS = 10 << 30, 24 * 60 * 60  # of snapshots, where the program gives -1

# --------------------------------------------------------------------------------------------------- graphs

dataset_to_graph_op = Op(
    "DatasetToGraph",
    "input_dataset: variant -> graph: string",
    on_host=True,
    differentiable=False,
    stateful_whitelist=attr("list(string)", [], minimum=0),
    allow_stateful=False,
    strip_device_assignment=False,
)
dataset_to_graph_op.shape(lambda input_dataset: [])


@dataset_to_graph_op.kernel
def _dataset_to_graph_kernel(input_dataset):
    return np.array(graph_of(dataset_in(input_dataset)).SerializeToString(), dtype=object)


dataset_to_graph_op.samples(covered_by=_TESTS)

dataset_from_graph_op = Op(
    "DatasetFromGraph",
    "graph_def: string -> handle: variant",
    host="graph_def",
    on_host=True,
    differentiable=False,
)
dataset_from_graph_op.shape(lambda graph_def: [])


@dataset_from_graph_op.kernel
def _dataset_from_graph_kernel(graph_def, *, node, planned):
    library = outermost(node.source.graph)
    name = f"_dataset_{hashlib.blake2b(graph_def, digest_size=8).hexdigest()}"
    if name not in library._functions:
        add_function(library, name, _body_of(graph_def, library))
    node.attrs["f"] = NameAttrList(name=name)  # where `planned` looks for the function
    (cell,) = planned("f")(StepContext())
    return cell


def _body_of(graph_def, library):
    """A serialized graph, whose `_Retval` takes a dataset, as a function of no arguments."""
    try:
        message = GraphDef.FromString(graph_def)
    except DecodeError as error:
        raise errors.invalid_argument(f"Could not parse the graph of a dataset: {error}") from None
    results = [each for each in message.node if each.op == "_Retval"]
    if len(results) != 1:
        raise refuse(f"The graph of a dataset has one _Retval, not {len(results)}.")
    message.node.remove(results[0])
    body = FunctionGraph(library)
    with body.as_default():
        (output,) = import_graph_def(message, return_elements=[f"{results[0].input[0]}:0"], name="")
    return FunctionBody(body, [], [output], effects_of(body))


dataset_from_graph_op.samples(covered_by=_TESTS)

# ------------------------------------------------------------------------------------------------ snapshots


def _snapshot(
    input_dataset,
    path,
    *,
    compression,
    reader_path_prefix,
    writer_path_prefix,
    shard_size_bytes,
    pending_snapshot_expiry_seconds,
    shuffle_on_read,
    seed,
    seed2,
    mode,
    snapshot_name,
):
    seconds = _EXPIRY_SECONDS if pending_snapshot_expiry_seconds == -1 else pending_snapshot_expiry_seconds
    shard = _SHARD_BYTES if shard_size_bytes == -1 else shard_size_bytes
    if compression not in ("", "GZIP"):
        raise refuse("compression must be either '' or 'GZIP'.")
    if seconds < 1:
        raise refuse("pending_snapshot_expiry_seconds must be at least 1 second.")
    if shard < 1:
        raise refuse("shard_size_bytes must be greater than 0.")
    if mode not in ("auto", "read", "write", "passthrough"):
        raise refuse(f"mode must be auto, read, write or passthrough, not {mode!r}.")
    places = Places(path.decode(), compression, reader_path_prefix, writer_path_prefix, shard, seconds)
    order = (seed, seed2) if shuffle_on_read else None
    source = dataset_in(input_dataset)
    folder = f"custom-{snapshot_name}" if snapshot_name else fingerprint(source)
    return as_cell(Snapshot(source, places, folder, "custom" if snapshot_name else None, mode, order))


snapshot_dataset_op = dataset_op(
    "SnapshotDataset",
    "input_dataset: variant, path: string",
    _snapshot,
    host="path",
    metadata=False,
    touches="files",
    covered_by=_TESTS,
    compression="",
    reader_path_prefix="",
    writer_path_prefix="",
    shard_size_bytes=_SHARD_BYTES,
    pending_snapshot_expiry_seconds=_EXPIRY_SECONDS,
    num_reader_threads=1,
    reader_buffer_size=1,
    num_writer_threads=1,
    writer_buffer_size=1,
    shuffle_on_read=False,
    seed=0,
    seed2=0,
    mode="auto",
    snapshot_name="",
)
