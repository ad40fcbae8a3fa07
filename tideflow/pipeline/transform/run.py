"""A whole transform: analysis of the data, the transform's output, and the transformed Examples."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tideflow as tf
from tideflow.pipeline.data.sources import Source
from tideflow.pipeline.engine import run as engine
from tideflow.pipeline.transform import columns, trace
from tideflow.pipeline.transform.analyze import (
    Progress,
    Step,
    Transformation,
    analyze,
    needed_inputs,
)
from tideflow.pipeline.transform.feature_specs import as_feature_spec, schema_from_feature_spec
from tideflow.pipeline.transform.output import TFTransformOutput, write_output
from tideflow.pipeline.transform.trace import components


def analyze_data(
    sources: Sequence[Source],
    schema: Any,
    preprocessing_fn: Callable[[Any], Any],
    output_dir: str | os.PathLike[str],
    workers: int | None = None,
    ray: str | None = None,
    progress: Progress | None = None,
) -> TFTransformOutput:
    """Finds the results of a preprocessing function's analyzers, and writes its graph with them.

    Args:
      sources: The data (`data.sources.find_sources`).
      schema: A Schema message or a feature spec: the features that the function gets.
      preprocessing_fn: A function of tensors by name that returns tensors by name.
      output_dir: The folder that is written.
      workers: The number of processes; by default as many as cores.
      ray: The address of a Ray cluster whose tasks do it instead.
      progress: Called with the number of sources that are done and of all, in each pass.

    Returns:
      The output.
    """
    feature_spec = as_feature_spec(schema)
    raw_schema = schema_from_feature_spec(schema) if isinstance(schema, Mapping) else schema
    traced = trace.trace(preprocessing_fn, lambda: columns.placeholders(feature_spec))
    with tempfile.TemporaryDirectory(prefix="transform-") as folder:
        results = analyze(traced, feature_spec, sources, folder, workers, ray, progress)
        write_output(os.fspath(output_dir), traced, results, raw_schema)
    return TFTransformOutput(output_dir)


def analyze_and_transform(
    sources_by_split: Mapping[str, Sequence[Source]],
    schema: Any,
    preprocessing_fn: Callable[[Any], Any],
    output_dir: str | os.PathLike[str],
    examples_dir: str | os.PathLike[str] | None = None,
    analyze_splits: Sequence[str] = ("train",),
    workers: int | None = None,
    ray: str | None = None,
    progress: Progress | None = None,
    rows: dict[str, int] | None = None,
) -> TFTransformOutput:
    """Analyzes some splits of the data, writes the transform's graph, and transforms all splits by it.

    Args:
      sources_by_split: The data.
      schema: A Schema message or a feature spec: the features that the function gets.
      preprocessing_fn: A function of tensors by name that returns tensors by name.
      output_dir: The folder of the graph, its assets and the schemas.
      examples_dir: The folder of the transformed Examples, `Split-NAME/transformed_examples-*.gz`; none are
        written if None.
      analyze_splits: The splits that analyzers see.
      workers: The number of processes; by default as many as cores.
      ray: The address of a Ray cluster whose tasks do it instead.
      progress: Called with the number of sources that are done and of all, in each pass.
      rows: Gets the number of transformed rows by split, if there is an `examples_dir`.

    Returns:
      The output.
    """
    analyzed = [source for split in analyze_splits for source in sources_by_split[split]]
    output = analyze_data(analyzed, schema, preprocessing_fn, output_dir, workers, ray, progress)
    if examples_dir is not None:
        function = transform_blocks(output, portable=ray is not None)
        for split, sources in sources_by_split.items():
            written = engine.transform_blocks(
                sources,
                function,
                os.path.join(examples_dir, f"Split-{split}"),
                workers=workers,
                ray=ray,
                progress=progress,
                file_name="transformed_examples",
            )
            if rows is not None:
                rows[split] = sum(written.values())
    return output


def transform_blocks(
    output: TFTransformOutput, feature_spec: Mapping[str, Any] | None = None, portable: bool = False
) -> Callable[[Any], Any]:
    """The function that transforms blocks of raw rows by the graph that a transform wrote.

    Args:
      output: A transform's output.
      feature_spec: How raw features are read; as the output says if None.
      portable: Whether it takes the vocabularies along, for machines that do not have them.

    Returns:
      A function of a `pyarrow.RecordBatch` that returns one. It can be pickled.
    """
    spec = dict(feature_spec or output.raw_feature_spec())
    with tf.Graph().as_default() as graph:
        inputs = columns.placeholders(spec)
        outputs = output.transform_raw_features(inputs)
        initializers = tuple(op.name for op in graph.get_collection(tf.GraphKeys.TABLE_INITIALIZERS))
        traced = trace.Trace(graph, inputs, outputs)
        files = output.asset_files() if portable else []
        return Transformation.of(Step.of(graph, traced, spec, initializers, files), traced)


def get_analyze_input_columns(preprocessing_fn: Callable[[Any], Any], specs: Mapping[str, Any]) -> list[str]:
    """The features that analyzers need.

    Args:
      preprocessing_fn: The function.
      specs: Feature specs by name.

    Returns:
      Their names.
    """
    traced = trace.trace(preprocessing_fn, lambda: columns.placeholders(specs))
    return needed_inputs(traced, [tensor for analysis in traced.analyses for tensor in analysis.inputs])


def get_transform_input_columns(
    preprocessing_fn: Callable[[Any], Any], specs: Mapping[str, Any]
) -> list[str]:
    """The features that outputs need.

    Args:
      preprocessing_fn: The function.
      specs: Feature specs by name.

    Returns:
      Their names.
    """
    traced = trace.trace(preprocessing_fn, lambda: columns.placeholders(specs))
    return needed_inputs(traced, [part for value in traced.outputs.values() for part in components(value)])
