"""By what metrics and plots are known: names, models, outputs, classes; and the slices they are of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tideflow.pipeline.messages import evaluation as messages

SliceValue = str | int | float
SliceKey = tuple[tuple[str, SliceValue], ...]
CrossSliceKey = tuple[SliceKey, SliceKey]
OVERALL: SliceKey = ()


@dataclass(frozen=True)
class SubKey:
    """One class, the k-th best class, or the k best classes of a prediction."""

    class_id: int | None = None
    k: int | None = None
    top_k: int | None = None

    def __post_init__(self) -> None:
        for name in ("k", "top_k"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"attempt to create metric with {name} < 1: {name}={value}")

    def __str__(self) -> str:
        if self.k is not None:
            return f"k:{self.k}"
        parts = (("classId", self.class_id), ("topK", self.top_k))
        return " ".join(f"{name}:{value}" for name, value in parts if value is not None)

    def message(self) -> Any:
        message = messages.SubKey()
        for name in ("class_id", "k", "top_k"):
            if getattr(self, name) is not None:
                getattr(message, name).value = getattr(self, name)
        return message


def sub_key_of(message: Any) -> SubKey | None:
    values = {
        name: getattr(message, name).value for name in ("class_id", "k", "top_k") if message.HasField(name)
    }
    return SubKey(**values) if values else None


@dataclass(frozen=True)
class MetricKey:
    """By what a metric of a slice is known.

    Args:
      name: The metric's name.
      model_name: The model's name; empty where there is one model.
      output_name: The output's name; empty for models of one output.
      sub_key: The class or classes that the metric is of.
      aggregation_type: `micro_average`, `macro_average` or `weighted_macro_average`, if classes are averaged.
      example_weighted: Whether examples count by their weights. None where a threshold does not say.
      is_diff: Whether the value is the difference to the baseline.
    """

    name: str = ""
    model_name: str = ""
    output_name: str = ""
    sub_key: SubKey | None = None
    aggregation_type: str | None = None
    example_weighted: bool | None = False
    is_diff: bool = False
    is_of_metric: ClassVar[bool] = True  # so that it has differences and confidence intervals

    def difference(self) -> MetricKey:
        """The key of the difference to the baseline."""
        return replace(self, is_diff=True)

    def of_baseline(self, model_name: str) -> MetricKey:
        """The key of the same metric of the baseline."""
        return replace(self, model_name=model_name, is_diff=False)

    def message(self) -> Any:
        message = messages.MetricKey(
            name=self.name, model_name=self.model_name, output_name=self.output_name, is_diff=self.is_diff
        )
        _set_shared(self, message)
        if self.aggregation_type:
            setattr(message.aggregation_type, self.aggregation_type, True)
        return message

    def order(self) -> tuple[str, ...]:
        """What keys are sorted by."""
        return (
            self.model_name,
            self.output_name,
            self.name,
            str(self.sub_key or ""),
            self.aggregation_type or "",
            str(self.example_weighted),
            str(self.is_diff),
        )


@dataclass(frozen=True)
class PlotKey(MetricKey):
    """By what a plot of a slice is known."""

    is_of_metric: ClassVar[bool] = False

    def message(self) -> Any:
        message = messages.PlotKey(name=self.name, model_name=self.model_name, output_name=self.output_name)
        _set_shared(self, message)
        return message


@dataclass(frozen=True)
class AttributionsKey(MetricKey):
    """By what the attributions of features are known."""

    is_of_metric: ClassVar[bool] = False

    def message(self) -> Any:
        message = messages.AttributionsKey(
            name=self.name, model_name=self.model_name, output_name=self.output_name, is_diff=self.is_diff
        )
        _set_shared(self, message)
        return message


def _set_shared(key: MetricKey, message: Any) -> None:
    if key.sub_key is not None:
        message.sub_key.CopyFrom(key.sub_key.message())
    if key.example_weighted is not None:
        message.example_weighted.value = key.example_weighted


def metric_key_of(message: Any) -> MetricKey:
    """The key that a message says."""
    weighted = message.example_weighted.value if message.HasField("example_weighted") else None
    return MetricKey(
        name=message.name,
        model_name=message.model_name,
        output_name=message.output_name,
        sub_key=sub_key_of(message.sub_key),
        aggregation_type=message.aggregation_type.WhichOneof("type"),
        example_weighted=weighted,
        is_diff=message.is_diff,
    )


def is_cross(slice_key: SliceKey | CrossSliceKey) -> bool:
    """Whether a key is of two slices, a baseline and one compared with it."""
    return len(slice_key) == 2 and not (slice_key[0] and isinstance(slice_key[0][0], str))


def slice_key_message(slice_key: SliceKey) -> Any:
    """A slice's key as a message."""
    message = messages.SliceKey()
    for column, value in slice_key:
        single = message.single_slice_keys.add(column=column)
        if isinstance(value, str):
            single.bytes_value = value.encode()
        elif isinstance(value, int):
            single.int64_value = value
        else:
            single.float_value = value
    return message


def set_slice_key(message: Any, slice_key: Any) -> None:
    """Puts a key of one or of two slices into a message."""
    if is_cross(slice_key):
        baseline, comparison = slice_key
        message.cross_slice_key.baseline_slice_key.CopyFrom(slice_key_message(baseline))
        message.cross_slice_key.comparison_slice_key.CopyFrom(slice_key_message(comparison))
    else:
        message.slice_key.CopyFrom(slice_key_message(slice_key))


def slice_key_of(message: Any) -> SliceKey | CrossSliceKey:
    """The key that a message of a slice's metrics, plots or failures is of."""
    if message.HasField("cross_slice_key"):
        cross = message.cross_slice_key
        return _single(cross.baseline_slice_key), _single(cross.comparison_slice_key)
    return _single(message.slice_key)


def _single(message: Any) -> SliceKey:
    key = []
    for each in message.single_slice_keys:
        value = getattr(each, each.WhichOneof("kind"))
        key.append((each.column, value.decode() if isinstance(value, bytes) else value))
    return tuple(key)


def slice_name(slice_key: Any) -> str:
    """A slice's name for people: `Overall`, `hour:7`, `hour_X_day:7_X_3`."""
    if is_cross(slice_key):
        return " vs. ".join(slice_name(each) for each in slice_key)
    if not slice_key:
        return "Overall"
    columns, values = zip(*slice_key, strict=True)
    return f"{'_X_'.join(columns)}:{'_X_'.join(str(value) for value in values)}"
