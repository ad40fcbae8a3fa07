"""`tf.compat.v2.summary.trace_on`: the graphs of the functions that a program calls, as summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

import tideflow as tf
from tideflow.compat_v2 import summary
from tideflow.eager.compiled_body import called_bodies
from tideflow.graph import errors
from tideflow.platform import logging

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike


def trace_on(graph: bool = True, profiler: bool = False) -> None:
    """Begins to collect the graphs of the functions that eager mode calls.

    Args:
      graph: Whether graphs are collected.
      profiler: Must be False: `tf.profiler` and `tf.RunMetadata` say how long steps take.
    """
    if tf.get_default_graph().building_function:
        logging.warn("Cannot enable trace inside a tf.function.")
    elif not tf.executing_eagerly():
        logging.warn("Must enable trace in eager mode.")
    elif called_bodies.since is not None:
        logging.warn("Trace already enabled")
    elif profiler:
        raise errors.unimplemented("trace_on(profiler=True): tf.profiler and tf.RunMetadata profile steps.")
    else:
        called_bodies.since = []


def trace_export(name: str, step: TensorLike | None = None, profiler_outdir: str | None = None) -> None:
    """Writes what was collected as a summary, and ends collecting.

    Args:
      name: The name of the summary.
      step: The step; that of `set_step` if None.
      profiler_outdir: Ignored: there is no profile.

    Raises:
      ValueError: If nothing is being collected.
    """
    if tf.get_default_graph().building_function:
        logging.warn("Cannot export trace inside a tf.function.")
    elif not tf.executing_eagerly():
        logging.warn("Can only export trace while executing eagerly.")
    elif called_bodies.since is None:
        raise ValueError("Must enable trace before export.")
    else:
        found = RunMetadata()
        for graph in dict.fromkeys(body.graph for body in called_bodies.since):
            graph_def = graph.as_graph_def()
            found.function_graphs.add(pre_optimization_graph=graph_def)
            found.partition_graphs.add().CopyFrom(graph_def)
        run_metadata_graphs(name, found, step)
        trace_off()


def trace_off() -> None:
    """Ends collecting, without a summary."""
    called_bodies.since = None


def run_metadata(name: str, data: RunMetadata, step: TensorLike | None = None) -> Tensor:
    """Writes what is known of a step.

    Args:
      name: The name of the summary.
      data: The message.
      step: The step; that of `set_step` if None.

    Returns:
      Whether it was written.
    """
    return _write(name, data.SerializeToString, step, "graph_run_metadata", [data, step])


def run_metadata_graphs(name: str, data: RunMetadata, step: TensorLike | None = None) -> Tensor:
    """Writes the graphs of a step; the arguments are those of `run_metadata`."""
    graphs = RunMetadata(function_graphs=data.function_graphs, partition_graphs=data.partition_graphs)
    return _write(name, graphs.SerializeToString, step, "graph_run_metadata_graph", [data, step])


def keras_model(name: str, data: Any, step: TensorLike | None = None) -> Tensor | bool:
    """Writes the layers of a Keras model.

    Args:
      name: The name of the summary.
      data: The model.
      step: The step; that of `set_step` if None.

    Returns:
      Whether it was written: False, with a warning, of a model that has no configuration.
    """
    try:
        text = data.to_json()
    except Exception as error:  # a model's own methods may raise anything
        logging.warn(f"Model failed to serialize as JSON. Ignoring... {error}")
        return False
    return _write(name, lambda: text, step, "graph_keras_model", [data, step])


def _write(
    name: str, content: Callable[[], str | bytes], step: Any, plugin: str, values: Sequence[Any]
) -> Tensor:
    told = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=b"1"))
    with summary.summary_scope(name, f"{plugin}_summary", values) as (tag, _):
        return summary.write(tag, tf.constant(content(), tf.string), step, told)


NAMES = {f"summary.{function.__name__}": function for function in (trace_export, trace_off, trace_on)}
