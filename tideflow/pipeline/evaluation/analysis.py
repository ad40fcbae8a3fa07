"""Evaluations: of models on data, or of predictions that are in the data already."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tideflow.pipeline.data.sources import Blocks, Source, find_sources
from tideflow.pipeline.engine.run import accumulate
from tideflow.pipeline.evaluation.evaluator import plan_of
from tideflow.pipeline.evaluation.metrics import metric_config
from tideflow.pipeline.evaluation.models import ModelPredictions
from tideflow.pipeline.evaluation.results import (
    EvalResult,
    EvalResults,
    load_eval_result,
    load_eval_results,
    write_results,
)
from tideflow.pipeline.evaluation.specs import BASELINE, CANDIDATE, complete
from tideflow.pipeline.evaluation.validation import validate
from tideflow.pipeline.messages import evaluation as messages

PathLike = str | os.PathLike[str]
Progress = Callable[[int, int], None]


def run_model_analysis(
    models: PathLike | Mapping[str, PathLike],
    eval_config: Any,
    data: PathLike | Sequence[PathLike] | Sequence[Source],
    output_path: PathLike | None = None,
    *,
    schema: Any = None,
    rubber_stamp: bool = False,
    workers: int | None = None,
    ray: str | None = None,
    progress: Progress | None = None,
) -> EvalResult | EvalResults:
    """Evaluates a model, or a candidate beside a baseline, on data.

    Args:
      models: The folder of a SavedModel, or folders by the names of the ModelSpecs. `candidate` and
        `baseline` are names that a configuration with one unnamed ModelSpec need not say.
      eval_config: The EvalConfig: labels, slices, metrics, thresholds.
      data: Files, folders or patterns, or sources.
      output_path: The folder for metrics, plots and the validation; by default a temporary one.
      schema: The data's Schema; the range of the label, if it says one, is that of calibration plots.
      rubber_stamp: Whether a first model passes that has no baseline to be compared with.
      workers: The number of processes; by default as many as cores, and one for small data.
      ray: The address of a Ray cluster that computes instead.
      progress: Called with the number of parts of the data that are done, and of all.

    Returns:
      The result, or that of each model.
    """
    given = {"": models} if isinstance(models, (str, os.PathLike)) else models
    folders = {name: os.path.abspath(folder) for name, folder in given.items()}
    config, folders = _named(eval_config, folders, rubber_stamp)
    predict: dict[str, ModelPredictions] = {}
    for spec in config.model_specs:
        if spec.name not in folders:
            raise ValueError(
                f"no model is given for the ModelSpec {spec.name!r}; given are {sorted(folders)}"
            )
        size = {"batch_size": spec.inference_batch_size} if spec.inference_batch_size else {}
        predict[spec.name] = ModelPredictions(
            folders[spec.name],
            spec.signature_name,
            preprocessing=tuple(spec.preprocessing_function_names),
            **size,
        )
    if schema is not None:
        _set_label_ranges(config, schema)
    path = output_path if output_path is not None else tempfile.mkdtemp()
    _evaluate(
        config,
        predict,
        _sources(data),
        path,
        rubber_stamp=rubber_stamp,
        model_locations=folders,
        data_location=_shown(data),
        workers=workers,
        ray=ray,
        progress=progress,
    )
    return load_eval_result(path) if len(folders) == 1 else load_eval_results(path)


def analyze_raw_data(
    data: Any, eval_config: Any, output_path: PathLike | None = None
) -> EvalResult | EvalResults:
    """Evaluates predictions that are columns of a table.

    Args:
      data: A mapping of names to columns, a pyarrow Table or RecordBatch, or a DataFrame.
      eval_config: The EvalConfig. Without keys in its ModelSpecs, `label` and `prediction` are taken,
        if the table has them.
      output_path: The folder for metrics, plots and the validation; by default a temporary one.

    Returns:
      The result, or that of each model.
    """
    block = as_block(data)
    config = messages.EvalConfig()
    config.CopyFrom(eval_config)
    for spec in config.model_specs or [config.model_specs.add()]:
        for field, default in (("label_key", "label"), ("prediction_key", "prediction")):
            several = getattr(spec, f"{field}s")
            if not several and not getattr(spec, field) and default in block.schema.names:
                setattr(spec, field, default)
            for column in several.values() if several else filter(None, [getattr(spec, field)]):
                if column not in block.schema.names:
                    raise KeyError(
                        f"The {field} column was not found. Looked for {column} but found: "
                        f"{block.schema.names}"
                    )
    config = complete(config, has_baseline=any(spec.is_baseline for spec in config.model_specs))
    path = output_path if output_path is not None else tempfile.mkdtemp()
    names = [spec.name for spec in config.model_specs]
    _evaluate(config, {}, [Blocks([block])], path, model_locations={name: "<unknown>" for name in names})
    return load_eval_result(path) if len(names) == 1 else load_eval_results(path)


def _evaluate(
    config: Any,
    predict: Mapping[str, ModelPredictions],
    sources: Sequence[Source],
    output_path: PathLike,
    *,
    model_locations: Mapping[str, str],
    rubber_stamp: bool = False,
    data_location: str = "<user provided data>",
    **running: Any,
) -> None:
    plan = plan_of(config)
    result = accumulate(sources, {"evaluation": plan.accumulator(predict)}, **running)
    sliced = plan.values(result["evaluation"])
    validation = validate(sliced, config, rubber_stamp=rubber_stamp)
    write_results(
        output_path,
        sliced,
        config,
        validation,
        data_location=data_location,
        model_locations=dict(model_locations),
    )


def _named(eval_config: Any, folders: Mapping[str, str], rubber_stamp: bool) -> tuple[Any, dict[str, str]]:
    """The completed configuration, and the models by the names in it."""
    baselines = [spec.name for spec in eval_config.model_specs if spec.is_baseline] or [BASELINE]
    has_baseline = baselines[0] in folders
    config = complete(eval_config, has_baseline=has_baseline, rubber_stamp=rubber_stamp)
    names = [spec.name for spec in config.model_specs]
    if len(names) == 1 and len(folders) == 1:
        return config, {names[0]: next(iter(folders.values()))}
    if names == [""] and CANDIDATE in folders:
        return config, {"": folders[CANDIDATE]}
    return config, dict(folders)


def _sources(data: Any) -> Sequence[Source]:
    if isinstance(data, Sequence) and data and all(isinstance(each, Source) for each in data):
        return data
    return find_sources(data)


def _shown(data: Any) -> str:
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    return ",".join(
        dict.fromkeys(each.path if isinstance(each, Source) else os.fspath(each) for each in data)
    )


def _set_label_ranges(config: Any, schema: Any) -> None:
    """Gives calibration plots the range of the label's domain, where they say none."""
    domains = {feature.name: feature for feature in schema.feature}
    for spec in config.metrics_specs:
        for each in spec.metrics:
            if each.class_name != "CalibrationPlot":
                continue
            label = next((model.label_key for model in config.model_specs), "")
            feature = domains.get(label)
            kind = feature.WhichOneof("domain_info") if feature is not None else None
            if kind not in ("int_domain", "float_domain"):
                continue
            domain = getattr(feature, kind)
            arguments = metric_config(each)
            for side, bound in (("left", "min"), ("right", "max")):
                if arguments.get(side) is None and domain.HasField(bound):
                    arguments[side] = float(getattr(domain, bound))
            each.config = json.dumps(arguments)


def as_block(data: Any) -> pa.RecordBatch:
    """A table as one block: every cell a list, a missing one null."""
    if isinstance(data, pa.RecordBatch):
        table = pa.Table.from_batches([data])
    elif isinstance(data, pa.Table):
        table = data
    elif hasattr(data, "to_dict") and hasattr(data, "columns"):
        table = pa.table({str(name): pa.array(data[name].tolist()) for name in data.columns})
    else:
        table = pa.table({name: _array(values) for name, values in data.items()})
    names, arrays = [], []
    for name, column in zip(table.schema.names, table.columns, strict=True):
        names.append(name)
        arrays.append(_lists(column.combine_chunks() if hasattr(column, "combine_chunks") else column))
    return pa.RecordBatch.from_arrays(arrays, names=names)


def _array(values: Any) -> pa.Array:
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return pa.array(list(values))
    return pa.array(values)


def _lists(column: pa.Array) -> pa.Array:
    if pa.types.is_fixed_size_list(column.type):
        column = column.cast(pa.list_(column.type.value_type))
    if not pa.types.is_list(column.type) and not pa.types.is_large_list(column.type):
        present = np.asarray(column.is_valid())
        offsets = pa.array(np.concatenate([[0], np.cumsum(present)]).astype(np.int32))
        mask = None if present.all() else pa.array(~present)
        column = pa.ListArray.from_arrays(offsets, column.drop_null(), mask=mask)
    flat = column.type.value_type
    if pa.types.is_string(flat) or pa.types.is_large_string(flat):
        return column.cast(pa.list_(pa.binary()))
    if pa.types.is_boolean(flat) or (pa.types.is_integer(flat) and flat != pa.int64()):
        return column.cast(pa.list_(pa.int64()))
    return column
