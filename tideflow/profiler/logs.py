"""What a program knows of its own graph: counts, trainable variables, lines; and the log of it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata

from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.graph.shapes import TensorShape
from tideflow.io.local_files import write_bytes
from tideflow.profiler.flops import get_stats_for_node_def
from tideflow.profiler.options import TRAINABLE_VARIABLES
from tideflow.profiler.protos import OpLogEntry, OpLogProto


@export("profiler.write_op_log")
def write_op_log(
    graph: Graph | None,
    log_dir: str,
    op_log: Any = None,
    run_meta: RunMetadata | None = None,
    add_trace: bool = True,
) -> None:
    """Writes `tfprof_log` into a directory: `op_log` with what is known of the graph besides.

    Args:
      graph: The graph; the default graph if None.
      log_dir: The directory.
      op_log: An OpLogProto with facts about operations, which add to those that the graph tells.
      run_meta: The RunMetadata of a traced step, with times, memory and shapes; without it, only what the
        graph tells is counted.
      add_trace: Whether the lines of the program that made the operations are written too.
    """
    graph = graph or get_default_graph()
    with shapes_of_step(graph, run_meta):
        merged = merged_log(graph, op_log, add_trace, told=run_meta is not None)
    write_bytes(os.path.join(log_dir, "tfprof_log"), merged.SerializeToString())


def merged_log(graph: Graph, op_log: Any, add_trace: bool, told: bool) -> Any:
    """The log of a graph, under the entries that the caller gives. Shapes that are open make counts
    impossible; the user is told so once.
    """
    merged = OpLogProto()
    if op_log is not None:
        merged.ParseFromString(op_log.SerializeToString())
    entries = {entry.name: entry for entry in merged.log_entries}
    words: dict[str, int] = {"none": 0}
    unknown = 0
    for op in graph.get_operations():
        entry, known = _entry(op, words if add_trace else None)
        unknown += not known
        _merge(entry, entries, merged)
    for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES):
        _merge(OpLogEntry(name=variable.op.name, types=[TRAINABLE_VARIABLES]), entries, merged)
    for word, number in words.items():
        merged.id_to_string[number] = word
    if unknown and not told:
        sys.stderr.write(f"{unknown} ops no flops stats due to incomplete shapes.\n")
    return merged


def _entry(op: Operation, words: dict[str, int] | None) -> tuple[Any, bool]:
    """What is known of an operation, and whether its shapes were enough to count it."""
    entry = OpLogEntry(name=op.name)
    try:
        entry.float_ops = get_stats_for_node_def(op.graph, op.node_def, "flops").value or 0
    except ValueError:
        return entry, False
    finally:
        for file, line, function, text, start in op.traceback_with_start_lines if words is not None else ():
            entry.code_def.traces.add(
                file_id=words.setdefault(file, len(words)),
                lineno=line,
                function_id=words.setdefault(function, len(words)),
                line_id=words.setdefault(text, len(words)) if text else 0,
                func_start_line=start,
            )
    return entry, True


def _merge(entry: Any, entries: dict[str, Any], merged: Any) -> None:
    """Adds to the log what it does not say of an operation yet."""
    if not (entry.float_ops or entry.types or entry.code_def.traces):
        return
    there = entries.get(entry.name)
    if there is None:
        merged.log_entries.append(entry)
        entries[entry.name] = merged.log_entries[-1]
        return
    there.types.extend(entry.types)
    there.float_ops = there.float_ops or entry.float_ops
    if not there.code_def.traces:
        there.code_def.CopyFrom(entry.code_def)


@contextlib.contextmanager
def shapes_of_step(graph: Graph, run_meta: RunMetadata | None) -> Iterator[None]:
    """Where the graph leaves a shape open it has, in the block, the one that a traced step saw."""
    open_shapes: dict[Tensor, TensorShape] = {}
    try:
        for device in run_meta.step_stats.dev_stats if run_meta is not None else ():
            for stats in device.node_stats:
                op = graph._by_name.get(stats.node_name)
                if op is None or len(op.outputs) != len(stats.output):
                    continue
                for tensor, output in zip(op.outputs, stats.output, strict=True):
                    shape = TensorShape([dim.size for dim in output.tensor_description.shape.dim])
                    if not tensor.shape.is_fully_defined() and tensor.shape.is_compatible_with(shape):
                        open_shapes[tensor] = tensor.shape
                        tensor._shape = shape
        yield
    finally:
        for tensor, shape in open_shapes.items():
            tensor._shape = shape
