"""A preprocessing function as a graph, with the analyzers that it calls.

An analyzer adds placeholders for its results to the graph, and an `Analysis` to the trace: which tensors it
reduces over all rows, and how. Passes over the data find the values (`analyze.py`), which then stand in the
graph as constants. A file that an analyzer writes is a constant with its name, an asset of the SavedModel.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tideflow as tf
from tideflow.pipeline.engine.accumulators import Accumulator

_active: contextvars.ContextVar[Trace | None] = contextvars.ContextVar("trace", default=None)


@dataclass(frozen=True, eq=False)
class Analysis:
    """What an analyzer reduces over all rows.

    Args:
      inputs: The tensors whose values of each block it reduces.
      reduction: How: an accumulator of tuples of arrays, whose result are the values of `outputs`. Where
        `filename` is given, the result is the content of that file.
      outputs: The placeholders of its results.
      filename: The asset that it writes, if it does: `outputs` is then the path.
      extras: Tensors that do not depend on the data, and whose values `reduction.extract` gets as well.
    """

    inputs: tuple[Any, ...]
    reduction: Accumulator
    outputs: tuple[Any, ...]
    filename: str | None = None
    extras: tuple[Any, ...] = ()


@dataclass
class Trace:
    """The graph of a preprocessing function, and what its analyzers and mappers have said about its tensors.

    Args:
      graph: The graph.
      inputs: Its inputs by name: placeholders, sparse ones for features of varying length.
      outputs: What the function returned.
      analyses: In the order in which they were made.
      ranges: By the name of an int64 tensor, the least and the largest value that it can have, as tensors.
      assets: The names of files by the key under which programs ask for them.
      vocabulary_sizes: The number of entries of a vocabulary, by its key.
    """

    graph: Any
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    analyses: list[Analysis] = field(default_factory=list)
    ranges: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    assets: dict[str, str] = field(default_factory=dict)
    vocabulary_sizes: dict[str, Any] = field(default_factory=dict)


def trace(preprocessing_fn: Callable[[Any], Any], inputs_of: Callable[[], Mapping[str, Any]]) -> Trace:
    """Calls a preprocessing function in a graph of its own.

    Args:
      preprocessing_fn: A function of the input tensors by name, which returns output tensors by name.
      inputs_of: Adds the inputs to the default graph.
    """
    traced = Trace(tf.Graph())
    with traced.graph.as_default():
        traced.inputs = inputs_of()
        token = _active.set(traced)
        try:
            with tf.name_scope("inputs_copy"):
                copied = {name: _copied(value) for name, value in traced.inputs.items()}
            outputs = _checked(preprocessing_fn(copied))
            # A result that is an output itself needs an operation that takes it, as others do.
            made = {tensor for analysis in traced.analyses for tensor in analysis.outputs}
            traced.outputs = {
                name: tf.identity(value) if value in made else value for name, value in outputs.items()
            }
        finally:
            _active.reset(token)
    if traced.graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES):
        raise ValueError("preprocessing_fn made variables; a transform graph has constants and tables only")
    return traced


def _copied(value: Any) -> Any:
    """The same value by another tensor, so that outputs are never inputs themselves."""
    if isinstance(value, tf.SparseTensor):
        return tf.SparseTensor(*map(tf.identity, (value.indices, value.values, value.dense_shape)))
    return tf.identity(value)


def _checked(outputs: Any) -> dict[str, Any]:
    if not isinstance(outputs, Mapping):
        raise ValueError(f"A preprocessing_fn must return a dictionary of tensors, not {outputs!r}")
    for name, value in outputs.items():
        if not isinstance(value, (tf.Tensor, tf.SparseTensor)):
            raise TypeError(
                f"Expected a Tensor or SparseTensor, got {value} of type {type(value)} for feature {name}"
            )
    return dict(outputs)


def active_trace() -> Trace:
    """The trace of the preprocessing function that is being called.

    Raises:
      RuntimeError: If none is.
    """
    traced = _active.get()
    if traced is None or tf.get_default_graph() is not traced.graph:
        raise RuntimeError("Analyzers can only be called inside of a preprocessing_fn")
    return traced


def analyzed(
    reduction: Accumulator,
    inputs: Sequence[Any],
    dtypes: Sequence[Any],
    shapes: Sequence[Any],
    filename: str | None = None,
    extras: Iterable[Any] = (),
) -> tuple[Any, ...]:
    """Adds an analysis; returns the placeholders of its results.

    Raises:
      TypeError: If an input is sparse or ragged: its values are to be given.
    """
    traced = active_trace()
    for tensor in inputs:
        if not isinstance(tensor, tf.Tensor):
            raise TypeError(f"tensor must be a Tensor, got {tensor}")
    outputs = tuple(
        tf.placeholder(dtype, shape, name="result") for dtype, shape in zip(dtypes, shapes, strict=True)
    )
    traced.analyses.append(Analysis(tuple(inputs), reduction, outputs, filename, tuple(extras)))
    return outputs


def set_range(tensor: Any, least: Any, largest: Any) -> None:
    """Says which values an int64 tensor can have; that becomes the domain of a feature."""
    traced = _active.get()
    if traced is not None:
        traced.ranges[tensor.name] = (least, largest)


def range_of(tensor: Any) -> tuple[Any, Any]:
    """What `set_range` said.

    Raises:
      ValueError: If it said nothing.
    """
    found = active_trace().ranges.get(values_of(tensor).name)
    if found is None:
        raise ValueError("Requested tensor does not have recorded min/max values")
    return found


def values_of(x: Any) -> Any:
    """The elements of a tensor: those that are there, of a sparse or ragged one."""
    if isinstance(x, tf.SparseTensor):
        return x.values
    return x.flat_values if isinstance(x, tf.RaggedTensor) else x


def components(value: Any) -> list[Any]:
    """The tensors of which a tensor is made: one, or the three of a sparse one."""
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [tf.convert_to_tensor(value)]


def with_values(x: Any, values: Any) -> Any:
    """A tensor in the form of `x` with other elements."""
    if isinstance(x, tf.SparseTensor):
        return tf.SparseTensor(x.indices, values, x.dense_shape)
    if isinstance(x, tf.RaggedTensor):
        return tf.RaggedTensor.from_nested_row_splits(values, x.nested_row_splits, validate=False)
    return values


def annotate_asset(asset_key: str, asset_filename: str) -> None:
    """Gives a file of the graph a name by which programs ask for it.

    Args:
      asset_key: The name.
      asset_filename: The file's own name, without folders.
    """
    active_trace().assets[asset_key] = asset_filename
