"""Watched steps: every operation runs for itself, and what it gives is written to the folders of its watches.

The options of a run name what is watched (`debug_options.debug_tensor_watch_opts`). Such a step runs on the
token executor, without rewrites, so that constants, switches and merges give their values as well.
"""

from __future__ import annotations

import dataclasses
import json
import os
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.compile.ir import Node, Value
from tideflow.compile.request import Hook
from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Operation, Tensor
from tideflow.programs.debugger.debug_ops import DebugOp, parse
from tideflow.programs.debugger.dumps import CoreMetadata
from tideflow.programs.debugger.run_keys import get_flattened_names
from tideflow.programs.debugger.values import (
    CORE_METADATA_TAG,
    FEED_KEYS_INFO_FILE_TAG,
    FETCHES_INFO_FILE_TAG,
    GRAPH_FILE_TAG,
    HASH_TAG,
    METADATA_FILE_PREFIX,
    Uninitialized,
    device_name_to_device_path,
    tensor_message,
)
from tideflow.runtime.values import to_numpy
from tideflow.runtime.waiting import StepContext
from tideflow.session import checks
from tideflow.session import session as sessions
from tideflow.session.config import every_rule
from tideflow.session.feeds import flat_feeds
from tideflow.session.partitions import Devices
from tideflow.session.step import Step
from tideflow.session.traced_step import TracedStep, TraceRequest

_FILES = "file://"
_TASK = "/job:localhost/replica:0/task:0"
_EVERY = "*"  # the name of the operation in a watch of all
_LIMIT = "TFDBG_DISK_BYTES_LIMIT"
_LIMIT_IF_UNSAID = 100 * 2**30


class Record(NamedTuple):
    """One value that an operation gave: where, and when, in microseconds."""

    node_name: str
    output_slot: int
    dtype: DType
    device: str
    timestamp: int
    value: Any  # an array, a handle's name, or `Uninitialized`


class Recorder:
    """Keeps copies of the values of a step.

    Args:
      watches: What is watched.
    """

    def __init__(self, watches: _Watches):
        self.records: list[Record] = []
        self._watches = watches
        self._lock = threading.Lock()
        self._last = 0
        self.hook = Hook(self._after)

    def _after(self, context: Any, node: Node, outputs: tuple[Any, ...], inputs: tuple[Any, ...]) -> None:
        for slot, (made, value) in enumerate(zip(outputs, node.outputs, strict=False)):
            if not self._watches.of(node.name, slot):
                continue
            kept = _kept(made, value)
            if kept is not _NOTHING:
                self._add(node.name, slot, value.dtype, _device_name(value.device), kept)

    def add_feeds(self, step: Step, feeds: Iterable[Tensor], values: Iterable[Any]) -> None:
        """Keeps what a step is fed, under the names that feeds have in its graph."""
        for position, (tensor, value, feed) in enumerate(zip(feeds, values, step.feeders, strict=True)):
            name = f"_arg_{tensor.op.name}_{tensor.value_index}_{position}"
            if self._watches.of(name, 0):
                self._add(name, 0, tensor.dtype, _device_name(None), np.array(to_numpy(feed(value))))

    def _add(self, name: str, slot: int, dtype: DType, device: str, kept: Any) -> None:
        with self._lock:
            # Times tell values apart, and their order.
            self._last = max(self._last + 1, time.time_ns() // 1000)
            self.records.append(Record(name, slot, dtype, device, self._last, kept))


_NOTHING = object()


def _kept(made: Any, value: Value) -> Any:
    """A copy of what an operation gave; `_NOTHING` for the side of a switch that is not taken."""
    if value.dtype._is_ref_dtype and hasattr(made, "read"):
        if not made.initialized:
            return Uninitialized(value.sizes if value.shape.is_fully_defined() else (1,))
        made = made.read()
    if isinstance(made, (torch.Tensor, np.ndarray)):
        return np.array(to_numpy(made))
    is_handle = value.dtype.base_dtype.name in ("resource", "variant")
    return value.op.name.encode() if is_handle else _NOTHING


def _device_name(device: Any) -> str:
    is_gpu = device is not None and device.type == "cuda"
    return f"{_TASK}/device:GPU:{device.index or 0}" if is_gpu else f"{_TASK}/device:CPU:0"


class _Watches:
    """The watches of a run: by tensor, which debug ops are written to which folders."""

    def __init__(self, options: RunOptions):
        self._of: dict[tuple[str, int], list[tuple[DebugOp, list[str], bool]]] = defaultdict(list)
        for watch in options.debug_options.debug_tensor_watch_opts:
            folders = list(map(_folder, watch.debug_urls))
            for spec in watch.debug_ops:
                entry = (parse(spec), folders, watch.tolerate_debug_op_creation_failures)
                self._of[watch.node_name, watch.output_slot].append(entry)

    @property
    def folders(self) -> list[str]:
        """All folders."""
        return list(
            dict.fromkeys(f for entries in self._of.values() for _, folders, _ in entries for f in folders)
        )

    def of(self, node_name: str, slot: int) -> list[tuple[DebugOp, list[str], bool]]:
        """The debug ops, folders and tolerance of a tensor: its own, or those of all."""
        return self._of.get((node_name, slot)) or self._of.get((_EVERY, -1), [])

    def check(self, operations: Iterable[Operation]) -> None:
        """FailedPreconditionError for a debug op that cannot look at the tensors of these operations."""
        for op in operations:
            for tensor in op.outputs:
                for number, (debug_op, _, tolerated) in enumerate(self.of(op.name, tensor.value_index)):
                    if not tolerated:
                        debug_op.check(tensor.name, number, tensor.dtype)

    def write(self, records: Iterable[Record]) -> None:
        """Writes values to the folders of their watches."""
        for record in records:
            for number, (debug_op, folders, _) in enumerate(self.of(record.node_name, record.output_slot)):
                try:
                    debug_op.check(f"{record.node_name}:{record.output_slot}", number, record.dtype)
                except errors.FailedPreconditionError:
                    continue  # tolerated: `check` has let it pass
                kept = debug_op(record.value, record.dtype)
                for folder in folders if kept is not None else ():
                    _write_value(folder, record, debug_op.name, *kept)


def _folder(url: str) -> str:
    if not url.startswith(_FILES):
        raise ValueError(f"Values are written to folders, such as file:///tmp/dump, but got {url!r}")
    return url[len(_FILES) :]


def _write_value(folder: str, record: Record, debug_op: str, value: Any, dtype: DType) -> None:
    event = Event(wall_time=record.timestamp)
    key = f"{record.node_name}:{record.output_slot}:{debug_op}"
    said = event.summary.value.add(tag=record.node_name, node_name=key)
    said.tensor.CopyFrom(tensor_message(value, dtype))
    where = {"device": record.device, "outputSlot": record.output_slot, "numChunks": 1, "chunkIndex": 0}
    said.metadata.plugin_data.plugin_name = "debugger"
    said.metadata.plugin_data.content = json.dumps(where, separators=(",", ":")).encode()
    name = f"{record.node_name}_{record.output_slot}_{debug_op}_{record.timestamp}"
    _disk_usage.add(event.ByteSize())
    _write_event(os.path.join(folder, device_name_to_device_path(record.device), *name.split("/")), event)


class _DiskUsage:
    """How many bytes of values were written, which a variable of the environment limits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes = 0

    def reset(self) -> None:
        """Counts from zero."""
        with self._lock:
            self._bytes = 0

    def add(self, size: int) -> None:
        """ResourceExhaustedError for a value that does not fit."""
        limit = int(os.environ.get(_LIMIT) or _LIMIT_IF_UNSAID)
        with self._lock:
            if self._bytes + size > limit:
                raise errors.resource_exhausted(
                    f"TensorFlow Debugger has exhausted file-system byte-size allowance ({limit}), therefore "
                    f"it cannot dump an additional {size} byte(s) of tensor data to the debug dump "
                    f"directory. You may use the environment variable {_LIMIT} to set a higher limit."
                )
            self._bytes += size


_disk_usage = _DiskUsage()


def _write_event(path: str, event: Event) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(event.SerializeToString())


def write_message(path: str, text: str) -> None:
    """Writes a text to a file, as an Event."""
    event = Event(wall_time=time.time())
    event.log_message.message = text
    _write_event(path, event)


def write_run_info(folder: str, fetches: Any, feed_dict: Any) -> None:
    """Writes what a step fetches and is fed to its folder.

    Args:
      folder: The folder.
      fetches: What it fetches.
      feed_dict: What it is fed.
    """
    write_message(os.path.join(folder, METADATA_FILE_PREFIX + FETCHES_INFO_FILE_TAG), repr(fetches))
    keys = repr(feed_dict.keys()) if feed_dict else repr(feed_dict)
    write_message(os.path.join(folder, METADATA_FILE_PREFIX + FEED_KEYS_INFO_FILE_TAG), keys)


class _Counts:
    """How many steps a session has run that were watched, in all and of each kind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs = 0
        self._of_kind: dict[Any, int] = defaultdict(int)

    def next(self, kind: Any) -> tuple[int, int]:
        """The numbers of the next step, which is of this kind."""
        with self._lock:
            numbers = self._runs, self._of_kind[kind]
            self._runs += 1
            self._of_kind[kind] += 1
            return numbers


_counts: weakref.WeakKeyDictionary[Any, _Counts] = weakref.WeakKeyDictionary()


def check_watchable(session: Any) -> None:
    """ValueError for a session whose steps run in other processes."""
    if getattr(session, "_target", ""):
        raise ValueError(
            f"The debugger watches sessions of this process, but this one is at {session._target!r}. "
            "tf.Session(check_finite=True) and session.explain(fetches) need no debugger."
        )


def _run_watched(
    session: Any, fetches: Any, feed_dict: Any, options: RunOptions, run_metadata: RunMetadata | None
) -> Any:
    """Runs a step, and writes what its options name, also when it fails."""
    check_watchable(session)
    watches = _Watches(options)
    recorder = Recorder(watches)
    feeds, values = flat_feeds(session.graph, feed_dict)
    timeout = options.timeout_in_ms / 1000 or session._timeout or None
    request, found = session._request(fetches, feeds, checks.combined(session._hook(timeout), recorder.hook))
    request = dataclasses.replace(
        request, disabled_rules=request.disabled_rules | every_rule() | {"structure"}
    )
    step = TracedStep(session._executor, request, found, session._placement)
    watches.check(Devices(request, session._placement).of_operations)
    if options.debug_options.reset_disk_byte_usage:
        _disk_usage.reset()
    made, asked = RunMetadata(), TraceRequest(options.trace_level > 0, True, False)
    _write_metadata(session, watches.folders, fetches, feed_dict, options.debug_options.global_step)
    recorder.add_feeds(step, feeds, values)
    try:
        return step.run(values, StepContext(timeout), session.graph, asked, made)
    finally:
        for folder in watches.folders:
            _write_graphs(folder, made.partition_graphs)
        watches.write(recorder.records)
        if run_metadata is not None:
            if not options.output_partition_graphs:
                made.ClearField("partition_graphs")
            run_metadata.CopyFrom(made)


def _write_metadata(
    session: Any, folders: Iterable[str], fetches: Any, feed_dict: Any, global_step: int
) -> None:
    """Writes what a step is."""
    names = get_flattened_names(fetches)
    tensors = [name for name in names if ":" in name]
    targets = [name for name in names if ":" not in name]
    fed = get_flattened_names(list(feed_dict or ()))
    run, of_kind = _counts.setdefault(session, _Counts()).next((*tensors, None, *targets, None, *fed))
    facts = CoreMetadata(global_step, run, of_kind, fed, tensors, targets)
    for folder in folders:
        name = f"{METADATA_FILE_PREFIX}{CORE_METADATA_TAG}sessionrun{run:014d}"
        write_message(os.path.join(folder, name), json.dumps(facts._asdict(), separators=(",", ":")))


def _write_graphs(folder: str, graphs: Iterable[GraphDef]) -> None:
    for number, graph in enumerate(graphs):
        device = next((node.device for node in graph.node if node.device), f"{_TASK}/device:CPU:0")
        name = f"{METADATA_FILE_PREFIX}{GRAPH_FILE_TAG}{HASH_TAG}{number}_{time.time_ns() // 1000}"
        event = Event(graph_def=graph.SerializeToString())
        _write_event(os.path.join(folder, device_name_to_device_path(device), name), event)


sessions.run_watched = _run_watched
