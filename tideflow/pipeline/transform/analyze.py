"""Passes over the data that find the results of analyzers, phase by phase.

An analyzer whose inputs depend on another one's result has to wait for it: all analyzers that wait for
nothing make up a phase, and share a pass. Before the next, their results stand in the graph as constants.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

import tideflow as tf
from tideflow.io.local_files import make_folder
from tideflow.pipeline.data.sources import Source
from tideflow.pipeline.engine.accumulators import Accumulator
from tideflow.pipeline.engine.run import accumulate
from tideflow.pipeline.transform.columns import block_of, feeds_of
from tideflow.pipeline.transform.trace import Analysis, Trace, components
from tideflow.pipeline.transform.vocabularies import File

Progress = Callable[[int, int], None]


@dataclass
class Results:
    """What is known of the results of analyzers.

    Args:
      values: Arrays by the names of the placeholders that stand for them.
      files: The paths of the files that analyzers wrote, likewise; they become assets.
    """

    values: dict[str, np.ndarray] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def __contains__(self, tensor: Any) -> bool:
        return tensor.name in self.values or tensor.name in self.files


def analyze(
    traced: Trace,
    feature_spec: Mapping[str, Any],
    sources: Sequence[Source],
    folder: str,
    workers: int | None = None,
    ray: str | None = None,
    progress: Progress | None = None,
) -> Results:
    """Finds the results of all analyzers.

    Args:
      traced: A preprocessing function's trace.
      feature_spec: How its inputs are read from the data.
      sources: The data.
      folder: Where files are written.
      workers: The number of processes (`engine.run.accumulate`).
      ray: The address of a Ray cluster.
      progress: Called with the number of sources that are done and of all, in each pass.
    """
    results = Results()
    waiting = list(traced.analyses)
    links = _initializers_of_tables(traced.graph)
    pending = {
        analysis: _placeholders_before(analysis.inputs + analysis.extras, traced, links)
        for analysis in waiting
    }
    while waiting:
        ready = [analysis for analysis in waiting if all(tensor in results for tensor in pending[analysis])]
        graph = resolved_graph(traced, results)
        tensors = [tensor for analysis in ready for tensor in analysis.inputs + analysis.extras]
        initializers = _initializers_before(tensors, links)
        extras = _values_of(graph, [analysis.extras for analysis in ready], initializers)
        step = Step.of(graph, traced, feature_spec, initializers, results.files.values() if ray else ())
        one_pass = AnalyzerPass(
            step,
            tuple(tuple(tensor.name for tensor in analysis.inputs) for analysis in ready),
            tuple(analysis.reduction for analysis in ready),
            tuple(map(tuple, extras)),
        )
        found = accumulate(sources, {"pass": one_pass}, workers=workers, ray=ray, progress=progress)["pass"]
        for analysis, result in zip(ready, found, strict=True):
            _keep(analysis, result, results, folder)
        waiting = [analysis for analysis in waiting if analysis not in ready]
    return results


def _keep(analysis: Analysis, result: Any, results: Results, folder: str) -> None:
    outputs = list(analysis.outputs)
    if analysis.filename is not None:
        path = os.path.join(folder, analysis.filename)
        if os.path.exists(path):
            raise ValueError(f"Two analyzers write a file with the name {analysis.filename}")
        make_folder(folder)
        with open(path, "wb") as file:
            file.write(result.content)
        results.files[outputs.pop(0).name] = path
        result = [np.int64(result.entries)] if outputs else []
    for tensor, value in zip(outputs, result, strict=True):
        array = np.asarray(value, None if tensor.dtype == tf.string else tensor.dtype.as_numpy_dtype)
        if (
            not array.size and tensor.shape.ndims and None in tensor.shape.as_list()
        ):  # of no rows: nothing, in the shape of something
            array = array.reshape([size or 0 for size in tensor.shape.as_list()])
        results.values[tensor.name] = array


# ------------------------------------------------------------------------------------ what depends on what


def _initializers_of_tables(graph: Any) -> dict[Any, list[Any]]:
    """By the operation that makes a table, those that fill it."""
    links: dict[Any, list[Any]] = {}
    for initializer in graph.get_collection(tf.GraphKeys.TABLE_INITIALIZERS):
        for tensor in initializer.inputs:
            if tensor.dtype == tf.resource:
                links.setdefault(tensor.op, []).append(initializer)
    return links


def ops_before(tensors: Iterable[Any], links: Mapping[Any, list[Any]]) -> set[Any]:
    """The operations that tensors depend on, those that fill tables among them."""
    seen: set[Any] = set()
    waiting = [tensor.op for tensor in tensors]
    while waiting:
        op = waiting.pop()
        if op not in seen:
            seen.add(op)
            waiting += [tensor.op for tensor in op.inputs] + list(op.control_inputs) + links.get(op, [])
    return seen


def _placeholders_before(tensors: Iterable[Any], traced: Trace, links: Mapping[Any, list[Any]]) -> list[Any]:
    ops = ops_before(tensors, links)
    return [tensor for analysis in traced.analyses for tensor in analysis.outputs if tensor.op in ops]


def _initializers_before(tensors: Iterable[Any], links: Mapping[Any, list[Any]]) -> tuple[str, ...]:
    """The names of the operations that must run once before tensors can be computed."""
    ops = ops_before(tensors, links)
    return tuple(sorted({init.name for table, inits in links.items() if table in ops for init in inits}))


def needed_inputs(traced: Trace, tensors: Iterable[Any]) -> list[str]:
    """The names of the inputs that tensors depend on."""
    ops = ops_before(tensors, _initializers_of_tables(traced.graph))
    return [
        name for name, value in traced.inputs.items() if any(part.op in ops for part in components(value))
    ]


# ---------------------------------------------------------------------------------------------- the graph


def resolved_graph(traced: Trace, results: Results) -> Any:
    """The graph with the known results as constants. Files are in its collection of assets."""
    # A result that nothing takes cannot be replaced, nor does it have to be.
    used = {tensor.name for op in traced.graph.get_operations() for tensor in op.inputs}
    with tf.Graph().as_default() as graph:
        known: dict[str, Any] = {}
        with tf.name_scope("analyzer_results"):
            for name, value in results.values.items():
                if name in used:
                    known[name] = tf.constant(value)
            for name, path in results.files.items():
                constant = tf.constant(path)
                graph.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, constant)
                if name in used:
                    known[name] = constant
        tf.import_graph_def(traced.graph.as_graph_def(add_shapes=True), input_map=known, name="")
        for op in traced.graph.get_collection(tf.GraphKeys.TABLE_INITIALIZERS):
            graph.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, graph.get_operation_by_name(op.name))
    return graph


def _values_of(graph: Any, tensors: Any, initializers: Sequence[str]) -> Any:
    """The values of tensors that do not depend on the data."""
    if not any(tensors):
        return tensors
    with tf.Session(graph=graph) as session:
        session.run([graph.get_operation_by_name(name) for name in initializers])
        return session.run([[tensor.name for tensor in group] for group in tensors])


@dataclass(frozen=True)
class Step:
    """A graph that blocks are fed to, in whatever process.

    Args:
      graph_def: The graph.
      inputs: By feature, the names of the tensors that it is fed to: one, or those of a sparse tensor.
      feature_spec: How features are read, as a dictionary.
      initializers: The names of operations to run first.
      files: The contents of files that the graph reads, by path, for other machines; they are written where
        they are not there.
    """

    graph_def: bytes
    inputs: tuple[tuple[str, tuple[str, ...]], ...]
    feature_spec: Mapping[str, Any]
    initializers: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...] = ()

    @classmethod
    def of(
        cls,
        graph: Any,
        traced: Trace,
        feature_spec: Mapping[str, Any],
        initializers: tuple[str, ...],
        files: Iterable[str] = (),
    ) -> Step:
        """The step of a graph, with files that other machines need."""
        inputs = tuple((name, _parts(value)) for name, value in traced.inputs.items())
        contents = tuple((path, _content(path)) for path in files)
        return cls(
            graph.as_graph_def().SerializeToString(), inputs, dict(feature_spec), initializers, contents
        )

    def run(self, block: pa.RecordBatch, fetches: Any) -> Any:
        """The values of tensors, by their names, for the rows of a block."""
        session = _session(self.graph_def, self.initializers, self.files)
        feeds: dict[str, Any] = {}
        for name, value in feeds_of(block, self.feature_spec).items():
            names = dict(self.inputs)[name]
            feeds.update(zip(names, value if len(names) > 1 else [value], strict=True))
        return session.run(fetches, feeds)


def _parts(value: Any) -> tuple[str, ...]:
    return tuple(part.name for part in components(value))


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


@functools.lru_cache(maxsize=2)
def _session(graph_def: bytes, initializers: Sequence[str], files: Sequence[tuple[str, bytes]]) -> Any:
    """A session that has run the initializers: one in each process for each phase."""
    for path, content in files:
        if not os.path.exists(path):
            make_folder(os.path.dirname(path))
            with open(path, "wb") as file:
                file.write(content)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(graph_def), name="")
        session = tf.Session(graph=graph)
        if initializers:
            session.run([graph.get_operation_by_name(name) for name in initializers])
    return session


@dataclass(frozen=True)
class AnalyzerPass(Accumulator):
    """The reductions of a phase: a step gives the arrays of each block.

    Args:
      step: The graph.
      inputs: The names of the tensors that each reduction is of.
      reductions: The reductions.
      extras: Further arguments of `extract`, for each.
    """

    step: Step
    inputs: tuple[tuple[str, ...], ...]
    reductions: tuple[Accumulator, ...]
    extras: tuple[tuple[Any, ...], ...]

    def create(self) -> list[Any]:
        return [reduction.create() for reduction in self.reductions]

    def add(self, state: list[Any], block: pa.RecordBatch) -> list[Any]:
        arrays = self.step.run(block, [list(names) for names in self.inputs])
        return [
            reduction.add(own, tuple(map(np.asarray, given)))
            for reduction, own, given in zip(self.reductions, state, arrays, strict=True)
        ]

    def merge(self, states: Sequence[list[Any]]) -> list[Any]:
        return [
            reduction.merge(list(parts))
            for reduction, parts in zip(self.reductions, zip(*states, strict=True), strict=True)
        ]

    def extract(self, state: list[Any]) -> list[tuple[np.ndarray, ...] | File]:
        return [
            reduction.extract(own, *extras)
            for reduction, own, extras in zip(self.reductions, state, self.extras, strict=True)
        ]


@dataclass(frozen=True)
class Transformation:
    """A function of blocks: the outputs of a preprocessing function for their rows.

    Args:
      step: The graph.
      outputs: By name, the name of the tensor, or those of a sparse tensor.
    """

    step: Step
    outputs: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, step: Step, traced: Trace) -> Transformation:
        """The transformation of a preprocessing function's graph."""
        return cls(step, tuple((name, _parts(value)) for name, value in traced.outputs.items()))

    def __call__(self, block: pa.RecordBatch) -> pa.RecordBatch:
        values = self.step.run(block, [list(names) for _, names in self.outputs])
        return block_of(
            {
                name: tf.SparseTensorValue(*parts) if len(parts) > 1 else parts[0]
                for (name, _), parts in zip(self.outputs, values, strict=True)
            }
        )
