"""Results of evaluations: as files that TFMA reads and writes too, and in the shape that its users know."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf import json_format, text_format

from tideflow.graph import errors
from tideflow.io.records import TFRecordWriter, tf_record_iterator
from tideflow.pipeline.evaluation.evaluator import ERROR, SlicedValues
from tideflow.pipeline.evaluation.keys import (
    AttributionsKey,
    MetricKey,
    PlotKey,
    SubKey,
    set_slice_key,
    slice_key_of,
    sub_key_of,
)
from tideflow.pipeline.evaluation.values import Interval, interval_message, value_message
from tideflow.pipeline.messages import evaluation as messages

# TFMA refuses files that say no version; these are of the form that this version writes.
_VERSION = "0.47.1"
_UNNAMED_PLOTS = ("confusion_matrix_plot", "calibration_plot")


# -------------------------------------------------------------------------------------------------- messages


def metrics_message(slice_key: Any, values: dict[MetricKey, Any]) -> Any:
    """The metrics of a slice as a MetricsForSlice."""
    message = messages.MetricsForSlice()
    set_slice_key(message, slice_key)
    if set(values) == {MetricKey(ERROR)}:
        message.metrics[ERROR].debug_message = values[MetricKey(ERROR)]
        return message
    for key in sorted((key for key in values if key.is_of_metric), key=MetricKey.order):
        value = values[key]
        into = message.metric_keys_and_values.add(key=key.message())
        if isinstance(value, Interval):
            into.value.CopyFrom(value_message(value.value))
            into.confidence_interval.CopyFrom(interval_message(value))
        else:
            into.value.CopyFrom(value_message(value))
    return message


_PLOT_FIELDS = {
    messages.CalibrationHistogramBuckets: "calibration_histogram_buckets",
    messages.ConfusionMatrixAtThresholds: "confusion_matrix_at_thresholds",
    messages.MultiClassConfusionMatrixAtThresholds: "multi_class_confusion_matrix_at_thresholds",
    messages.MultiLabelConfusionMatrixAtThresholds: "multi_label_confusion_matrix_at_thresholds",
}


def plots_message(slice_key: Any, values: dict[MetricKey, Any]) -> Any:
    """The plots of a slice as a PlotsForSlice."""
    message = messages.PlotsForSlice()
    set_slice_key(message, slice_key)
    if set(values) == {MetricKey(ERROR)}:
        message.plots[ERROR].debug_message = values[MetricKey(ERROR)]
    data: dict[PlotKey, Any] = {}
    for key in sorted((key for key in values if isinstance(key, PlotKey)), key=MetricKey.order):
        # The plots of the two default names stand together, in one message without a name.
        name = "" if key.name in _UNNAMED_PLOTS else key.name
        of = PlotKey(name, key.model_name, key.output_name, key.sub_key, None, key.example_weighted)
        if of not in data:
            data[of] = message.plot_keys_and_values.add(key=of.message()).value
        getattr(data[of], _PLOT_FIELDS[type(values[key])]).CopyFrom(values[key])
    return message


def attributions_message(slice_key: Any, values: dict[MetricKey, Any]) -> Any:
    """The attributions of a slice as an AttributionsForSlice."""
    message = messages.AttributionsForSlice()
    set_slice_key(message, slice_key)
    for key in sorted((key for key in values if isinstance(key, AttributionsKey)), key=MetricKey.order):
        into = message.attributions_keys_and_values.add(key=key.message())
        for name, value in values[key].items():
            into.values[name].CopyFrom(value_message(value))
    return message


# ----------------------------------------------------------------------------------------------------- files


def write_results(
    output_path: str | os.PathLike[str],
    sliced: SlicedValues,
    eval_config: Any,
    validation: Any,
    *,
    data_location: str = "",
    file_format: str = "",
    model_locations: dict[str, str] | None = None,
) -> None:
    """Writes metrics, plots, validation and configuration into a folder, under TFMA's names.

    Args:
      output_path: The folder; it is made if it is not there.
      sliced: The values by slice.
      eval_config: The EvalConfig they are of.
      validation: The ValidationResult, or None.
      data_location: Where the data came from, for people.
      file_format: The data's format.
      model_locations: The folders of the models, by name.
    """
    folder = Path(output_path)
    folder.mkdir(parents=True, exist_ok=True)
    _write_records(folder / "metrics-00000-of-00001.tfrecord", (metrics_message(*each) for each in sliced))
    plots = [plots_message(*each) for each in sliced]
    _write_records(folder / "plots-00000-of-00001.tfrecord", plots)
    attributions = [attributions_message(*each) for each in sliced]
    _write_records(
        folder / "attributions-00000-of-00001.tfrecord",
        (each for each in attributions if each.attributions_keys_and_values),
    )
    if validation is not None:
        _write_records(folder / "validations.tfrecord", [validation])
    run = messages.EvalRun(
        eval_config=eval_config,
        version=_VERSION,
        data_location=data_location,
        file_format=file_format,
        model_locations=model_locations or {"": "<unknown>"},
    )
    (folder / "eval_config.json").write_text(json_format.MessageToJson(run))


def _write_records(path: Path, found: Iterable[Any]) -> None:
    with TFRecordWriter(str(path)) as writer:
        for message in found:
            writer.write(message.SerializeToString())


def _read(output_path: str | os.PathLike[str], name: str, kind: Any) -> Iterator[Any]:
    folder = Path(output_path)
    paths = (
        sorted(folder.glob(f"{name}*.tfrecord")) or sorted(folder.glob(f"{name}*"))
        if folder.is_dir()
        else [folder]
    )
    for path in paths:
        for record in tf_record_iterator(str(path)):
            yield kind.FromString(record)


def load_metrics(output_path: str | os.PathLike[str]) -> Iterator[Any]:
    """Yields the MetricsForSlice messages of an evaluation, of this system's or of TFMA's.

    Args:
      output_path: The folder that the evaluation wrote.
    """
    return _read(output_path, "metrics", messages.MetricsForSlice)


def load_plots(output_path: str | os.PathLike[str]) -> Iterator[Any]:
    """Yields the PlotsForSlice messages of an evaluation.

    Args:
      output_path: The folder that the evaluation wrote.
    """
    return _read(output_path, "plots", messages.PlotsForSlice)


def load_attributions(output_path: str | os.PathLike[str]) -> Iterator[Any]:
    """Yields the AttributionsForSlice messages of an evaluation.

    Args:
      output_path: The folder that the evaluation wrote.
    """
    return _read(output_path, "attributions", messages.AttributionsForSlice)


def load_validation_result(output_path: str | os.PathLike[str]) -> Any:
    """The ValidationResult of an evaluation.

    Args:
      output_path: The folder that the evaluation wrote.
    """
    found = list(_read(output_path, "validations", messages.ValidationResult))
    if len(found) != 1:
        raise errors.not_found(f"{output_path} has {len(found)} validation results instead of one")
    return found[0]


def load_eval_config(path: str | os.PathLike[str]) -> Any:
    """Reads an EvalConfig: the text of the message, or JSON, also what an evaluation wrote.

    Args:
      path: The file.
    """
    text = Path(path).read_text()
    try:
        if not text.lstrip().startswith("{"):
            return text_format.Parse(text, messages.EvalConfig())
        run = messages.EvalRun()
        if '"evalConfig"' in text or '"eval_config"' in text:
            return json_format.Parse(text, run).eval_config
        return json_format.Parse(text, messages.EvalConfig())
    except (text_format.ParseError, json_format.ParseError) as error:
        raise ValueError(f"{path} is no EvalConfig: {error}") from error


# --------------------------------------------------------------------------------------------------- results


class EvalResult(NamedTuple):
    """The metrics and plots of one model, by slice.

    Args:
      slicing_metrics: Pairs of a slice's key and its metrics by output, class and name. A metric is a
        dictionary, as JSON says the message: `{"doubleValue": 0.5}`.
      plots: Pairs of a slice's key and its plots by output and class.
      attributions: Pairs of a slice's key and its attributions by output, class, name and feature.
      config: The EvalConfig.
      data_location: Where the data came from.
      file_format: The data's format.
      model_location: The model's folder.
    """

    slicing_metrics: list[tuple[Any, dict[str, Any]]]
    plots: list[tuple[Any, dict[str, Any]]]
    attributions: list[tuple[Any, dict[str, Any]]]
    config: Any
    data_location: str
    file_format: str
    model_location: str

    def get_metrics_for_slice(
        self,
        slice_name: Any = (),
        output_name: str = "",
        class_id: int | None = None,
        k: int | None = None,
        top_k: int | None = None,
    ) -> dict[str, Any] | None:
        """The metrics of a slice by name; None if there is no such slice."""
        for slice_key, metrics in self.slicing_metrics:
            if slice_key == slice_name:
                return metrics[output_name][_sub_key_text(class_id, k, top_k)]
        return None

    def get_metrics_for_all_slices(
        self,
        output_name: str = "",
        class_id: int | None = None,
        k: int | None = None,
        top_k: int | None = None,
    ) -> dict[Any, dict[str, Any]]:
        """The metrics by slice and name."""
        sub_key = _sub_key_text(class_id, k, top_k)
        return {slice_key: dict(metrics[output_name][sub_key]) for slice_key, metrics in self.slicing_metrics}

    def get_metric_names(self) -> Sequence[str]:
        """The names of all metrics."""
        return list(
            dict.fromkeys(
                name
                for _, by_output in self.slicing_metrics
                for by_sub_key in by_output.values()
                for metrics in by_sub_key.values()
                for name in metrics
            )
        )

    def get_slice_names(self) -> Sequence[Any]:
        """The keys of all slices."""
        return [slice_key for slice_key, _ in self.slicing_metrics]


class EvalResults:
    """The results of several models on the same data, or of one model on several.

    Args:
      results: The results.
      mode: "model_centric_mode" or "data_centric_mode".
    """

    def __init__(self, results: Sequence[EvalResult], mode: str = "model_centric_mode") -> None:
        if mode not in ("model_centric_mode", "data_centric_mode"):
            raise ValueError(f"Mode {mode} must be one of ['data_centric_mode', 'model_centric_mode']")
        self._results, self._mode = list(results), mode

    def get_results(self) -> list[EvalResult]:
        """The results."""
        return self._results

    def get_mode(self) -> str:
        """What differs between the results."""
        return self._mode


def _sub_key_text(class_id: int | None, k: int | None, top_k: int | None) -> str:
    return "" if class_id is k is top_k is None else str(SubKey(class_id, k, top_k))


def load_eval_result(output_path: str | os.PathLike[str], model_name: str | None = None) -> EvalResult:
    """Loads the result of an evaluation, of this system's or of TFMA's.

    Args:
      output_path: The folder that the evaluation wrote.
      model_name: The model, where there are several.
    """
    run = _load_run(output_path)
    locations = dict(run.model_locations)
    if model_name is None:
        location = next(iter(locations.values()), "")
    elif model_name in locations:
        location = locations[model_name]
    else:
        raise ValueError(f"{output_path} has no model {model_name!r}; it has {', '.join(sorted(locations))}")
    metrics = [_metrics_by_name(message, model_name) for message in load_metrics(output_path)]
    plots = [_plots_by_output(message, model_name) for message in load_plots(output_path)]
    attributions = [_attributions_by_name(each, model_name) for each in load_attributions(output_path)]
    return EvalResult(
        [each for each in metrics if each is not None],
        [each for each in plots if each is not None],
        [each for each in attributions if each is not None],
        run.eval_config,
        run.data_location,
        run.file_format,
        location,
    )


def load_eval_results(
    output_paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    mode: str = "model_centric_mode",
    model_name: str | None = None,
) -> EvalResults:
    """Loads the results of several evaluations, or of all models of one.

    Args:
      output_paths: The folders that the evaluations wrote.
      mode: "model_centric_mode" or "data_centric_mode".
      model_name: The model; by default all.
    """
    paths = [output_paths] if isinstance(output_paths, (str, os.PathLike)) else output_paths
    results = []
    for path in paths:
        run = _load_run(path)
        in_order = [spec.name for spec in run.eval_config.model_specs if spec.name in run.model_locations]
        names = [model_name] if model_name is not None else in_order or list(run.model_locations)
        results += [load_eval_result(path, name) for name in names]
    return EvalResults(results, mode)


def _load_run(output_path: str | os.PathLike[str]) -> Any:
    path = Path(output_path) / "eval_config.json"
    if not path.exists():
        raise errors.not_found(f"{output_path} is no result of an evaluation: it has no eval_config.json")
    return json_format.Parse(path.read_text(), messages.EvalRun(), ignore_unknown_fields=True)


def _metrics_by_name(message: Any, model_name: str | None) -> tuple[Any, dict[str, Any]] | None:
    models: dict[str, Any] = {}
    if message.metrics:
        found = {name: json_format.MessageToDict(value) for name, value in message.metrics.items()}
        models[""] = {"": {"": found}}
    compared: set[str] = set()
    for each in message.metric_keys_and_values:
        key = each.key
        name = key.name
        if key.is_diff:
            compared.add(key.model_name)
            name = f"{name}_diff"
        elif key.HasField("aggregation_type"):
            name = f"{key.aggregation_type}_{name}"
        sub_key = str(sub_key_of(key.sub_key) or "")
        by_sub_key = models.setdefault(key.model_name, {}).setdefault(key.output_name, {})
        by_sub_key.setdefault(sub_key, {})[name] = _value_with_interval(each)
    chosen = model_name or (next(iter(compared)) if len(compared) == 1 else "")
    metrics = _of_model(models, chosen)
    if metrics is None:
        return None if models else (slice_key_of(message), {})
    if chosen and "" in models:
        for output, by_sub_key in models[""].items():
            for sub_key, values in by_sub_key.items():
                metrics.setdefault(output, {}).setdefault(sub_key, {}).update(values)
    return slice_key_of(message), metrics


def _of_model(models: dict[str, Any], name: str | None) -> Any:
    if name in models:
        return models[name]
    return next(iter(models.values())) if not name and len(models) == 1 else None


def _value_with_interval(each: Any) -> dict[str, Any]:
    """A metric's value as JSON; one number with its interval as a BoundedValue."""
    value, interval = each.value, each.confidence_interval
    if not each.HasField("confidence_interval") or value.WhichOneof("type") != "double_value":
        return json_format.MessageToDict(value)
    bounded = messages.MetricValue()
    bounded.bounded_value.value.value = value.double_value.value
    bounded.bounded_value.lower_bound.value = interval.lower_bound.double_value.value
    bounded.bounded_value.upper_bound.value = interval.upper_bound.double_value.value
    return json_format.MessageToDict(bounded)


def _plots_by_output(message: Any, model_name: str | None) -> tuple[Any, dict[str, Any]] | None:
    models: dict[str, Any] = {}
    for each in message.plot_keys_and_values:
        by_sub_key = models.setdefault(each.key.model_name, {}).setdefault(each.key.output_name, {})
        by_sub_key[str(sub_key_of(each.key.sub_key) or "")] = json_format.MessageToDict(each.value)
    plots = _of_model(models, model_name)
    if plots is None and models:
        return None
    return slice_key_of(message), plots or {}


def _attributions_by_name(message: Any, model_name: str | None) -> tuple[Any, dict[str, Any]] | None:
    models: dict[str, Any] = {}
    for each in message.attributions_keys_and_values:
        by_sub_key = models.setdefault(each.key.model_name, {}).setdefault(each.key.output_name, {})
        named = by_sub_key.setdefault(str(sub_key_of(each.key.sub_key) or ""), {})
        named[each.key.name] = {name: json_format.MessageToDict(value) for name, value in each.values.items()}
    found = _of_model(models, model_name)
    return None if found is None else (slice_key_of(message), found)
