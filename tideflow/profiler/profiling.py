"""tf.profiler: where a model's time, memory, parameters and operations are."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import get_default_graph
from tideflow.io.local_files import write_bytes
from tideflow.profiler import report
from tideflow.profiler.advice import advice
from tideflow.profiler.files import write_pprof, write_timelines
from tideflow.profiler.logs import merged_log, shapes_of_step
from tideflow.profiler.model import Model
from tideflow.profiler.options import Options, ProfileOptionBuilder
from tideflow.profiler.protos import ProfileProto
from tideflow.profiler.views import VIEWS, Entry

_OUTPUTS = ("none", "stdout", "file", "timeline", "pprof")


@export("profiler.profile")
def profile(
    graph: Graph | None = None,
    run_meta: RunMetadata | None = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: dict[str, Any] | int = 0,
) -> Any:
    """A profile of a graph, with the times and memory of a traced step where `run_meta` has one.

    It is printed or written as the options say.

    Args:
      graph: The graph; the default graph if None.
      run_meta: The RunMetadata of a traced step, with times, memory and shapes; without it, only what the
        graph tells is counted.
      op_log: An OpLogProto with facts about operations, which add to those that the graph tells.
      cmd: By what the profile is sorted: `"scope"` (names), `"graph"` (dataflow), `"op"` (types) or `"code"`
        (lines of the program).
      options: The options, which `tf.profiler.ProfileOptionBuilder` builds; the parameters of trainable
        variables by default.

    Returns:
      For names and dataflow a GraphNodeProto, for types and lines a MultiGraphNodeProto.

    Raises:
      InvalidArgumentError: If `cmd` is not known.
    """
    if cmd not in VIEWS:
        raise errors.invalid_argument(f"unknown cmd: {cmd}\n")
    graph = graph or get_default_graph()
    model = _model(graph, op_log, run_meta, add_trace=cmd == "code")
    return _profile(
        model, cmd, ProfileOptionBuilder.trainable_variables_parameter() if options == 0 else options
    )


@export("profiler.advise")
def advise(
    graph: Graph | None = None, run_meta: RunMetadata | None = None, options: dict[str, Any] | int = 0
) -> Any:
    """What is worth a look: the most expensive operations, formats that are slow, idle accelerators.

    Args:
      graph: The graph; the default graph if None.
      run_meta: The RunMetadata of a traced step, with times, memory and shapes; without it, only what the
        graph tells is counted.
      options: The options of each checker by its name; all checkers with their defaults by default.

    Returns:
      An AdviceProto: what each checker reports.
    """
    graph = graph or get_default_graph()
    model = _model(graph, None, run_meta, add_trace=True)
    return advice(model, None if options == 0 else options)


@export("profiler.Profiler")
class Profiler:
    """Profiles over several steps: `add_step` takes the trace of each.

    Args:
      graph: The graph; the default graph if None.
      op_log: An OpLogProto with facts about operations, which add to those that the graph tells.
    """

    def __init__(self, graph: Graph | None = None, op_log: Any = None):
        self._graph = graph or get_default_graph()
        self._model = _model(self._graph, op_log, None, add_trace=True)

    def add_step(self, step: int, run_meta: RunMetadata) -> None:
        """Takes in the trace of a step.

        Args:
          step: The number of the step.
          run_meta: Its RunMetadata.
        """
        with shapes_of_step(self._graph, run_meta):
            self._model.add_graph(self._graph)
            self._model.add_log(merged_log(self._graph, None, add_trace=True, told=True))
        self._model.add_step(step, run_meta)

    def profile_python(self, options: dict[str, Any]) -> Any:
        """Profiles by lines of the program.

        Args:
          options: The options, which `tf.profiler.ProfileOptionBuilder` builds.

        Returns:
          A MultiGraphNodeProto.
        """
        return _profile(self._model, "code", options)

    def profile_operations(self, options: dict[str, Any]) -> Any:
        """Profiles by op types.

        Args:
          options: The options, which `tf.profiler.ProfileOptionBuilder` builds.

        Returns:
          A MultiGraphNodeProto.
        """
        return _profile(self._model, "op", options)

    def profile_name_scope(self, options: dict[str, Any]) -> Any:
        """Profiles by names.

        Args:
          options: The options, which `tf.profiler.ProfileOptionBuilder` builds.

        Returns:
          A GraphNodeProto.
        """
        return _profile(self._model, "scope", options)

    def profile_graph(self, options: dict[str, Any]) -> Any:
        """Profiles by dataflow.

        Args:
          options: The options, which `tf.profiler.ProfileOptionBuilder` builds.

        Returns:
          A GraphNodeProto.
        """
        return _profile(self._model, "graph", options)

    def advise(self, options: dict[str, Any] | None) -> Any:
        """Finds what is worth a look.

        Args:
          options: The options of each checker by its name.

        Returns:
          An AdviceProto.
        """
        return advice(self._model, options)

    def serialize_to_string(self) -> bytes:
        """Everything that is known, as a ProfileProto."""
        return _profile_message(self._model).SerializeToString()


def _model(graph: Graph, op_log: Any, run_meta: RunMetadata | None, add_trace: bool) -> Model:
    with shapes_of_step(graph, run_meta):
        model = Model(graph)
        model.add_log(merged_log(graph, op_log, add_trace, told=run_meta is not None))
    if run_meta is not None:
        model.add_step(-1, run_meta)
    return model


def _profile(model: Model, cmd: str, given: dict[str, Any]) -> Any:
    options = Options(given)
    if options.kind not in _OUTPUTS:
        raise errors.invalid_argument(
            f"Unknown output option: {options.kind}. It is one of {', '.join(_OUTPUTS)}."
        )
    if options.kind == "pprof" and cmd != "code":
        raise errors.invalid_argument(f"pprof output shows the 'code' view only, not '{cmd}'.")
    root = VIEWS[cmd](model, options)
    _put_out(root, model, cmd, options, given)
    if cmd in ("scope", "graph"):
        return report.graph_message(root)
    return report.multi_message(root, options, with_nodes=cmd == "op")


def _put_out(root: Entry, model: Model, cmd: str, options: Options, given: dict[str, Any]) -> None:
    if options.kind == "stdout":
        print(
            report.heading(options, given),
            "\n==================Model Analysis Report======================",
            report.text(root, cmd, options),
            "\n======================End of Report==========================",
            sep="",
        )
    elif options.kind == "file":
        write_bytes(options.outfile, report.text(root, cmd, options).encode())
    elif options.kind == "timeline":
        write_timelines(root, model, options.outfile)
    elif options.kind == "pprof":
        write_pprof(model, options.step, options.outfile)


def _profile_message(model: Model) -> Any:
    message = ProfileProto(steps=model.steps)
    message.has_trace = any(node.traces for node in model.nodes.values())
    ids = {name: i for i, name in enumerate(model.nodes)}
    for node in model.nodes.values():
        entry = message.nodes[ids[node.name]]
        entry.name, entry.op, entry.id = node.name, node.op, ids[node.name]
        entry.canonical_device, entry.float_ops = node.device, node.float_ops
        entry.shape.extend(node.shape)
        entry.op_types.extend(sorted(node.all_types))
        for i, source in enumerate(node.inputs):
            entry.inputs[i] = ids[source]
        for i, dims in node.input_shapes.items():
            entry.input_shapes[i].int64_values.extend(dims or ())
        for step, ran in node.steps.items():
            run = entry.execs[step]
            run.run_count = ran.counts["run_count"]
            run.devices.extend({**ran.cpu, **ran.accelerator})
            for into, times in ((run.cpu_execs, ran.cpu), (run.accelerator_execs, ran.accelerator)):
                for device, spans in times.items():
                    for span in spans:
                        into[device].times.add(int64_values=span)
            starts = [span for spans in (*ran.cpu.values(), *ran.accelerator.values()) for span in spans]
            run.all_start_micros = min(start for start, _ in starts)
            run.latest_end_micros = max(start + micros for start, micros in starts)
            run.memory_execs.add(**ran.memory)
    return message
