"""Options of a run that name tensors to watch, and folders that their values are written to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from tideflow.graph.graph import Graph
from tideflow.programs.debugger.dumps import write
from tideflow.programs.debugger.watching import Recorder, Wanted, check_watchable, wanted_by, watching
from tideflow.session import session as sessions

_FILES = "file://"


def add_debug_tensor_watch(
    run_options: RunOptions,
    node_name: str,
    output_slot: int = 0,
    debug_ops: str | Sequence[str] = "DebugIdentity",
    debug_urls: str | Sequence[str] | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
) -> None:
    """Lets a run write the values of one tensor.

    Args:
      run_options: The options of the run.
      node_name: The name of the operation.
      output_slot: Which of its outputs.
      debug_ops: Accepted for TensorFlow's sake: values are written as they are.
      debug_urls: The folder, `file:///…`, or a list of folders.
      tolerate_debug_op_creation_failures: Accepted for TensorFlow's sake.
      global_step: The number of the step.
    """
    run_options.debug_options.global_step = global_step
    watch = run_options.debug_options.debug_tensor_watch_opts.add(
        node_name=node_name,
        output_slot=output_slot,
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
    )
    watch.debug_ops.extend([debug_ops] if isinstance(debug_ops, str) else debug_ops)
    watch.debug_urls.extend([debug_urls] if isinstance(debug_urls, str) else debug_urls or ())


def watch_graph(
    run_options: RunOptions,
    graph: Graph,
    debug_ops: str | Sequence[str] = "DebugIdentity",
    debug_urls: str | Sequence[str] | None = None,
    node_name_regex_whitelist: str | None = None,
    op_type_regex_whitelist: str | None = None,
    tensor_dtype_regex_whitelist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Lets a run write the values of all tensors of a graph, or of those that match expressions.

    Args:
      run_options: The options of the run.
      graph: The graph.
      debug_ops: Accepted for TensorFlow's sake: values are written as they are.
      debug_urls: The folder, `file:///…`, or a list of folders.
      node_name_regex_whitelist: An expression that names of operations match.
      op_type_regex_whitelist: An expression that types of operations match.
      tensor_dtype_regex_whitelist: An expression that types of values match.
      tolerate_debug_op_creation_failures: Accepted for TensorFlow's sake.
      global_step: The number of the step.
      reset_disk_byte_usage: Accepted for TensorFlow's sake.
    """
    wanted = wanted_by(node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist)
    _watch(run_options, graph, wanted, debug_ops, debug_urls, global_step)


def watch_graph_with_blacklists(
    run_options: RunOptions,
    graph: Graph,
    debug_ops: str | Sequence[str] = "DebugIdentity",
    debug_urls: str | Sequence[str] | None = None,
    node_name_regex_blacklist: str | None = None,
    op_type_regex_blacklist: str | None = None,
    tensor_dtype_regex_blacklist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Lets a run write the values of the tensors of a graph that match none of some expressions.

    Args:
      run_options: The options of the run.
      graph: The graph.
      debug_ops: Accepted for TensorFlow's sake: values are written as they are.
      debug_urls: The folder, `file:///…`, or a list of folders.
      node_name_regex_blacklist: An expression that names of operations must not match.
      op_type_regex_blacklist: An expression that types of operations must not match.
      tensor_dtype_regex_blacklist: An expression that types of values must not match.
      tolerate_debug_op_creation_failures: Accepted for TensorFlow's sake.
      global_step: The number of the step.
      reset_disk_byte_usage: Accepted for TensorFlow's sake.
    """
    given = (node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist)
    patterns = [re.compile(pattern) if pattern else None for pattern in given]

    def wanted(*facts: str) -> bool:
        return not any(p is not None and p.match(fact) for p, fact in zip(patterns, facts, strict=True))

    _watch(run_options, graph, wanted, debug_ops, debug_urls, global_step)


def _watch(
    run_options: RunOptions, graph: Graph, wanted: Wanted, debug_ops: Any, urls: Any, step: int
) -> None:
    for op in graph.get_operations():
        for output in op.outputs:
            if wanted(op.name, op.type, output.dtype.base_dtype.name):
                add_debug_tensor_watch(
                    run_options, op.name, output.value_index, debug_ops, urls, global_step=step
                )


def _run_watched(
    session: Any, fetches: Any, feed_dict: Any, options: RunOptions, run_metadata: RunMetadata | None
) -> Any:
    """Runs a step, and writes what its options name."""
    check_watchable(session)
    watches = options.debug_options.debug_tensor_watch_opts
    folders: dict[str, set[tuple[str, int]]] = {}
    for watch in watches:
        for url in watch.debug_urls:
            if not url.startswith(_FILES):
                raise ValueError(f"Values are written to folders, such as file:///tmp/dump, but got {url!r}")
            folders.setdefault(url[len(_FILES) :], set()).add((watch.node_name, watch.output_slot))
    plain = RunOptions()
    plain.CopyFrom(options)
    plain.ClearField("debug_options")
    names = {watch.node_name for watch in watches}
    recorder = Recorder(lambda name, kind, dtype: name in names)
    try:
        with watching(session, recorder):
            return session.run(fetches, feed_dict, plain, run_metadata)
    finally:
        for folder, tensors in folders.items():
            data = [datum for datum in recorder.data if (datum.node_name, datum.output_slot) in tensors]
            write(folder, data, session.graph.as_graph_def())


sessions.run_watched = _run_watched
