"""Metrics by name: what each computes, and how its value follows from that."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tideflow.pipeline.evaluation.computations import Computation
from tideflow.pipeline.evaluation.inputs import View
from tideflow.pipeline.evaluation.keys import MetricKey, PlotKey


@dataclass(frozen=True)
class Metric:
    """One value of each slice.

    Args:
      key: By what it is known.
      needs: What is computed of the rows.
      value: Of the results of those, in order, the value.
      has_interval: Whether its confidence interval is computed where one is asked for.
      query_key: The feature by which rows are grouped first; empty for metrics of single rows.
    """

    key: MetricKey
    needs: tuple[Computation, ...]
    value: Callable[..., Any]
    has_interval: bool = True
    query_key: str = ""


Maker = Callable[..., Sequence[Metric]]
Naming = str | Callable[[Mapping[str, Any]], str]
METRICS: dict[str, tuple[Maker, Naming]] = {}


def metric(class_name: str, name: Naming | None = None) -> Callable[[Maker], Maker]:
    """Registers the maker of a metric under the name that configurations say.

    Args:
      class_name: The name in MetricConfig.class_name.
      name: What the metric is called if the configuration gives no name, or a function that says it of the
        arguments; by default the class name in snake case.
    """

    def register(maker: Maker) -> Maker:
        METRICS[class_name] = (maker, name or snake_case(class_name))
        return maker

    return register


def snake_case(class_name: str) -> str:
    """AUCPrecisionRecall -> auc_precision_recall"""
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", class_name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()


def metric_config(message: Any) -> dict[str, Any]:
    """The arguments in a MetricConfig, with the metric's name."""
    text = message.config if message.config[:1] in ("", "{") else f"{{{message.config}}}"
    config = json.loads(text) if text else {}
    if config.get("name") is None:
        name = (
            METRICS[message.class_name][1]
            if message.class_name in METRICS
            else snake_case(message.class_name)
        )
        config["name"] = name if isinstance(name, str) else name(config)
    return config


def make(
    class_name: str,
    config: Mapping[str, Any],
    view: View,
    *,
    query_key: str = "",
    baseline: str = "",
    module: str = "",
) -> Sequence[Metric]:
    """The metrics of a class, with the arguments of its configuration.

    Args:
      class_name: The name in MetricConfig.class_name.
      config: The arguments in MetricConfig.config.
      view: The labels, predictions and weights.
      query_key: The feature that rows are grouped by, for metrics of rankings.
      baseline: The name of the model that others are compared with.
      module: The module that registers the metric, if it is none of these.
    """
    if module and class_name not in METRICS:
        importlib.import_module(module)
    if class_name not in METRICS:
        raise ValueError(f"unknown metric {class_name!r}; known are {', '.join(sorted(METRICS))}")
    signature = inspect.signature(METRICS[class_name][0])
    context = {"query_key": query_key, "baseline": baseline}
    given = {name: value for name, value in context.items() if name in signature.parameters}
    try:
        bound = signature.bind(view, **config, **given)
    except TypeError as error:
        raise ValueError(f"metric {class_name}: {error}") from error
    return METRICS[class_name][0](*bound.args, **bound.kwargs)


def key(view: View, name: str, *, aggregated: bool = False, kind: type[MetricKey] = MetricKey) -> MetricKey:
    """The key of a metric of a view. Not every metric says by what its classes were averaged."""
    return kind(
        name=name,
        model_name=view.model_name,
        output_name=view.output_name,
        sub_key=view.sub_key,
        aggregation_type=view.aggregation_type if aggregated else None,
        example_weighted=view.example_weighted,
    )


def plot_key(view: View, name: str) -> MetricKey:
    """The key of a plot of a view."""
    return key(view, name, kind=PlotKey)
