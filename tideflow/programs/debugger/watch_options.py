"""Options of a run that name tensors to watch, and what is done with their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tensorboard.compat.proto.config_pb2 import RunOptions

from tideflow.graph.graph import Graph

Wanted = Callable[[str, str, str], bool]  # of the name of an operation, its type, and the type of a value


def _listed(given: str | Sequence[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


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
      debug_ops: What is written: `DebugIdentity`, `DebugNanCount`, `DebugNumericSummary`, or a list of these.
      debug_urls: The folder, `file:///…`, or a list of folders.
      tolerate_debug_op_creation_failures: Whether values that a debug op cannot look at are left out; they
        are an error otherwise.
      global_step: The number of the step.
    """
    run_options.debug_options.global_step = global_step
    watch = run_options.debug_options.debug_tensor_watch_opts.add(
        node_name=node_name,
        output_slot=output_slot,
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
    )
    watch.debug_ops.extend(_listed(debug_ops))
    watch.debug_urls.extend(_listed(debug_urls))


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
      debug_ops: As of `add_debug_tensor_watch`.
      debug_urls: The folder, `file:///…`, or a list of folders.
      node_name_regex_whitelist: An expression that names of operations match.
      op_type_regex_whitelist: An expression that types of operations match.
      tensor_dtype_regex_whitelist: An expression that types of values match.
      tolerate_debug_op_creation_failures: As of `add_debug_tensor_watch`.
      global_step: The number of the step.
      reset_disk_byte_usage: Whether the bytes written are counted from zero.
    """
    if not debug_ops:
        raise ValueError("debug_ops must not be empty or None.")
    if not debug_urls:
        raise ValueError("debug_urls must not be empty or None.")
    given = (node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist)
    patterns = [re.compile(pattern) if pattern else None for pattern in given]

    def wanted(*facts: str) -> bool:
        return all(p is None or p.match(fact) for p, fact in zip(patterns, facts, strict=True))

    def add(name: str, slot: int) -> None:
        add_debug_tensor_watch(
            run_options, name, slot, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step
        )

    _add_each(graph, wanted, add)
    if not any(patterns):
        add("*", -1)  # what is added to the graph for the step
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


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
      debug_ops: As of `add_debug_tensor_watch`.
      debug_urls: The folder, `file:///…`, or a list of folders.
      node_name_regex_blacklist: An expression that names of operations must not match.
      op_type_regex_blacklist: An expression that types of operations must not match.
      tensor_dtype_regex_blacklist: An expression that types of values must not match.
      tolerate_debug_op_creation_failures: As of `add_debug_tensor_watch`.
      global_step: The number of the step.
      reset_disk_byte_usage: Whether the bytes written are counted from zero.
    """
    given = (node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist)
    patterns = [re.compile(pattern) if pattern else None for pattern in given]

    def wanted(*facts: str) -> bool:
        return not any(p is not None and p.match(fact) for p, fact in zip(patterns, facts, strict=True))

    def add(name: str, slot: int) -> None:
        add_debug_tensor_watch(
            run_options, name, slot, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step
        )

    _add_each(graph, wanted, add)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def _add_each(graph: Graph, wanted: Wanted, add: Callable[[str, int], None]) -> None:
    for op in graph.get_operations():
        for output in op.outputs:
            if wanted(op.name, op.type, output.dtype.name):
                add(op.name, output.value_index)
