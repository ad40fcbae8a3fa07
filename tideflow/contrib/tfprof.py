"""`tf.contrib.tfprof`: the profiler by its old names."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata

from tideflow.export import export, expose
from tideflow.graph.graph import Graph
from tideflow.profiler import contexts  # noqa: F401
from tideflow.profiler.logs import write_op_log
from tideflow.profiler.options import ProfileOptionBuilder
from tideflow.profiler.profiling import Profiler, advise, profile

_HERE = "contrib.tfprof.model_analyzer"

expose(
    ProfileOptionBuilder.trainable_variables_parameter(),
    f"{_HERE}.TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
)
expose(ProfileOptionBuilder.float_operation(), f"{_HERE}.FLOAT_OPS_OPTIONS")
expose({**ProfileOptionBuilder.time_and_memory(), "order_by": "name"}, f"{_HERE}.PRINT_ALL_TIMING_MEMORY")
expose(Profiler, f"{_HERE}.Profiler")
expose(write_op_log, "contrib.tfprof.tfprof_logger.write_op_log")


@export(f"{_HERE}.print_model_analysis")
def print_model_analysis(
    graph: Graph,
    run_meta: RunMetadata | None = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: dict[str, Any] | int = 0,
) -> Any:
    """`tf.profiler.profile`, with other names of its arguments.

    Args:
      graph: The graph.
      run_meta: The RunMetadata of a traced step, or None.
      op_log: An OpLogProto with facts about operations, or None.
      tfprof_cmd: By what the profile is sorted: `"scope"`, `"graph"`, `"op"` or `"code"`.
      tfprof_options: The options, as of `tf.profiler.profile`.

    Returns:
      A GraphNodeProto or MultiGraphNodeProto.
    """
    return profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)


@export(f"{_HERE}.advise")
def print_advice(
    graph: Graph, run_meta: RunMetadata | None = None, tfprof_options: dict[str, Any] | int = 0
) -> Any:
    """`tf.profiler.advise`, with another name of its options.

    Args:
      graph: The graph.
      run_meta: The RunMetadata of a traced step, or None.
      tfprof_options: The options of each checker by its name; all checkers by default.

    Returns:
      An AdviceProto.
    """
    return advise(graph, run_meta, tfprof_options)
