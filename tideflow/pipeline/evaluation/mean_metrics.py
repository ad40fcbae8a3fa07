"""Metrics that are quotients of sums: counts, means, errors, entropies, agreement with another model."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tideflow.pipeline.evaluation.binary_metrics import ratio
from tideflow.pipeline.evaluation.computations import Sums
from tideflow.pipeline.evaluation.inputs import Batch, View, dense, matched
from tideflow.pipeline.evaluation.metrics import Metric, key, metric

_SMALLEST = 1e-7  # Keras keeps probabilities this far from 0 and 1


def quotient(sums: np.ndarray) -> float:
    """The first sum by the last, NaN if that is 0."""
    return float(sums[0] / sums[-1]) if sums[-1] != 0 else float("nan")


# ---------------------------------------------------------------------------------------------------- counts


def weights(view: View, batch: Batch) -> np.ndarray:
    """The weights of rows; of queries, that of their first document."""
    weight = view.weight(batch)
    return (weight if batch.starts is None else weight[batch.starts])[:, None]


@metric("ExampleCount")
@metric("WeightedExampleCount")
def _example_count(view: View, name: str, query_key: str = "") -> list[Metric]:
    needs = (Sums(view, weights),)
    return [
        Metric(key(view, name), needs, lambda sums: float(sums[0]), has_interval=False, query_key=query_key)
    ]


def _feature(view: View, batch: Batch, feature: str, weight: str | None) -> np.ndarray:
    values = dense(batch.columns[feature], feature)
    by = np.ones_like(values, float) if weight is None else dense(batch.columns[weight], weight)
    return np.concatenate([values * by, by], axis=1)


@metric("Mean", lambda arguments: f"mean_{'.'.join(arguments.get('feature_key_path', ()))}")
def _mean(
    view: View,
    name: str,
    feature_key_path: Sequence[str],
    example_weights_key_path: Sequence[str] | None = None,
) -> list[Metric]:
    weight = example_weights_key_path[-1] if example_weights_key_path else None
    needs = (Sums(view, _feature, (feature_key_path[-1], weight)),)
    return [Metric(key(view, name), needs, quotient)]


# ------------------------------------------------------------------------------------- labels and predictions


def _totals(view: View, batch: Batch) -> np.ndarray:
    label, prediction, weight = view.flat(batch)
    return np.stack([(label * weight).sum(1), (prediction * weight).sum(1), weight.sum(1)], axis=1)


def _quotient_of(numerator: int, denominator: int) -> Callable[[np.ndarray], float]:
    def value(sums: np.ndarray) -> float:
        below = sums[denominator]
        return float("nan") if np.isclose(below, 0.0) else float(sums[numerator] / below)

    return value


for _class_name, _places in {"MeanLabel": (0, 2), "MeanPrediction": (1, 2), "Calibration": (1, 0)}.items():
    metric(_class_name)(
        lambda view, name, _value=_quotient_of(*_places): [
            Metric(key(view, name), (Sums(view, _totals),), _value)
        ]
    )


def _moments(view: View, batch: Batch) -> np.ndarray:
    label, prediction, weight = view.flat(batch)
    parts = (label, prediction, label**2, prediction**2, label * prediction, np.ones_like(label))
    return np.stack([(part * weight).sum(1) for part in parts], axis=1)


@metric("SquaredPearsonCorrelation")
def _pearson(view: View, name: str) -> list[Metric]:
    def value(sums: np.ndarray) -> float:
        labels, predictions, labels2, predictions2, products, count = sums
        if count <= 0:
            return float("nan")
        spread = (labels2 - labels**2 / count) * (predictions2 - predictions**2 / count)
        return float(ratio((products - labels * predictions / count) ** 2, spread))

    return [Metric(key(view, name), (Sums(view, _moments),), value)]


def _by_side(view: View, batch: Batch) -> np.ndarray:
    label, prediction, weight = view.flat(batch)
    positive, negative = label * weight, (1 - label) * weight
    parts = (positive * prediction, positive, negative * prediction, negative)
    return np.stack([part.sum(1) for part in parts], axis=1)


def _discrimination(view: View, name: str, combine: Callable[[float, float], float]) -> list[Metric]:
    def value(sums: np.ndarray) -> float:
        return combine(quotient(sums[:2]), quotient(sums[2:]))

    return [Metric(key(view, name), (Sums(view, _by_side),), value)]


metric("CoefficientOfDiscrimination")(partial(_discrimination, combine=lambda pos, neg: pos - neg))
metric("RelativeCoefficientOfDiscrimination")(
    partial(_discrimination, combine=lambda pos, neg: pos / neg if neg else float("nan"))
)


# ------------------------------------------------------------------------------------------------ regression


def _error(view: View, batch: Batch, kind: str) -> np.ndarray:
    label, prediction, weight = view.flat(batch)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = _ERRORS[kind](label, prediction)
    # An example without an error, such as a percentage of a label of 0, does not count; a prediction that is
    # NaN makes the mean NaN.
    left_out = np.isnan(error) & ~np.isnan(prediction)
    error, weight = np.where(left_out, 0.0, error), np.where(left_out, 0.0, weight)
    return np.stack([(error * weight).sum(1), weight.sum(1)], axis=1)


_ERRORS: dict[str, Callable[..., np.ndarray]] = {
    "MeanAbsoluteError": lambda label, prediction: np.abs(label - prediction),
    "MeanSquaredError": lambda label, prediction: (label - prediction) ** 2,
    "MeanAbsolutePercentageError": lambda label, prediction: np.where(
        label == 0, np.nan, 100 * np.abs((label - prediction) / label)
    ),
    "MeanSquaredLogarithmicError": lambda label, prediction: (np.log1p(label) - np.log1p(prediction)) ** 2,
}


def _mean_error(
    view: View, name: str, dtype: str | None = None, reduction: str | None = None, *, kind: str
) -> list[Metric]:
    return [Metric(key(view, name), (Sums(view, _error, (kind,)),), quotient)]


for _class_name in _ERRORS:
    metric(_class_name)(partial(_mean_error, kind=_class_name))


@metric("RootMeanSquaredError")
def _root_mean_squared_error(view: View, name: str, dtype: str | None = None) -> list[Metric]:
    needs = (Sums(view, _error, ("MeanSquaredError",)),)
    return [Metric(key(view, name), needs, lambda sums: float(np.sqrt(quotient(sums))))]


# ---------------------------------------------------------------------------- values of rows, and their mean


def _row_values(view: View, batch: Batch, kind: str, options: tuple[tuple[str, Any], ...]) -> np.ndarray:
    arrays = view.flat(batch) if view.aggregation_type else view.rows(batch)
    label, prediction, weight = arrays
    with np.errstate(divide="ignore", invalid="ignore"):
        value = _ROW_VALUES[kind](label, prediction, **dict(options))
        weight = weight.sum(1) if weight.ndim == 2 else weight
        return np.stack([value * weight, weight], axis=1)


def _smoothed(label: np.ndarray, smoothing: float, share: float) -> np.ndarray:
    return np.asarray(label, float) * (1 - smoothing) + smoothing * share


def _probability(prediction: np.ndarray) -> np.ndarray:
    return np.clip(np.asarray(prediction, float), _SMALLEST, 1 - _SMALLEST)


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _logits_entropy(label: np.ndarray, logits: np.ndarray) -> np.ndarray:
    return np.maximum(logits, 0) - logits * label + np.log1p(np.exp(-np.abs(logits)))


def _binary_entropy(
    label: np.ndarray, prediction: np.ndarray, from_logits: bool = False, label_smoothing: float = 0.0
) -> np.ndarray:
    label = _smoothed(label, label_smoothing, 0.5)
    if from_logits:
        return _logits_entropy(label, prediction).mean(axis=1)
    return (-label * np.log(prediction) - (1 - label) * np.log(1 - prediction)).mean(axis=1)


def _keras_binary_entropy(
    label: np.ndarray, prediction: np.ndarray, from_logits: bool = False, label_smoothing: float = 0.0
) -> np.ndarray:
    label = _smoothed(label, label_smoothing, 0.5)
    if from_logits:
        return _logits_entropy(label, prediction).mean(axis=1)
    kept = _probability(prediction)
    entropy = label * np.log(kept + _SMALLEST) + (1 - label) * np.log(1 - kept + _SMALLEST)
    return -entropy.mean(axis=1)


def _entropy_of_classes(
    label: np.ndarray,
    prediction: np.ndarray,
    from_logits: bool,
    label_smoothing: float,
    logarithm: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    label = _smoothed(matched(label, prediction), label_smoothing, 1 / prediction.shape[1])
    prediction = np.asarray(prediction, float)
    if from_logits:
        return -(label * _log_softmax(prediction)).sum(axis=1)
    return -(label * logarithm(prediction / prediction.sum(axis=1, keepdims=True))).sum(axis=1)


def _categorical_entropy(
    label: np.ndarray, prediction: np.ndarray, from_logits: bool = False, label_smoothing: float = 0.0
) -> np.ndarray:
    def logarithm(share: np.ndarray) -> np.ndarray:
        return np.where(share > 0, np.log(share), np.where(np.isnan(share), np.nan, 0.0))

    return _entropy_of_classes(label, prediction, from_logits, label_smoothing, logarithm)


def _keras_categorical_entropy(
    label: np.ndarray, prediction: np.ndarray, from_logits: bool = False, label_smoothing: float = 0.0
) -> np.ndarray:
    def logarithm(share: np.ndarray) -> np.ndarray:
        return np.log(_probability(share))

    return _entropy_of_classes(label, prediction, from_logits, label_smoothing, logarithm)


def _classes(label: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return label.argmax(axis=1) if label.shape[1] > 1 else label[:, 0]


def _is_best(label: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    hit = (_classes(label, prediction) == prediction.argmax(axis=1)).astype(float)
    return np.where(np.isnan(prediction).any(axis=1), np.nan, hit)


def _in_top(label: np.ndarray, prediction: np.ndarray, k: int = 5) -> np.ndarray:
    classes = _classes(label, prediction).astype(int)
    score = np.take_along_axis(prediction, classes[:, None], axis=1)
    hit = ((prediction > score).sum(axis=1) < k).astype(float)
    return np.where(np.isnan(prediction).any(axis=1), np.nan, hit)


def _cosine(label: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    def unit(each: np.ndarray) -> np.ndarray:
        each = np.asarray(each, float)
        return each / np.sqrt(np.maximum((each**2).sum(axis=1, keepdims=True), 1e-12))

    return (unit(label) * unit(prediction)).sum(axis=1)


def _signed(label: np.ndarray) -> np.ndarray:
    return 2.0 * label - 1 if np.isin(label, (0, 1)).all() else label


def _categorical_hinge(label: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.maximum(((1 - label) * prediction).max(1) - (label * prediction).sum(1) + 1, 0)


def _divergence(label: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    label = np.clip(label, _SMALLEST, 1)
    return (label * np.log(label / np.clip(prediction, _SMALLEST, 1))).sum(axis=1)


def _log_cosh(label: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    error = np.asarray(prediction - label, float)
    return (error + np.log1p(np.exp(-2 * error)) - np.log(2)).mean(axis=1)


def _exact_match(label: np.ndarray, prediction: np.ndarray, convert_to: str | None = None) -> np.ndarray:
    if convert_to == "json":
        label, prediction = (np.vectorize(json.loads, otypes=[object])(each) for each in (label, prediction))
    elif convert_to:
        raise ValueError(f"convert_to can only be one of the following: {convert_to}")
    return (label == prediction).astype(float).mean(axis=1)


_ROW_VALUES: dict[str, Callable[..., np.ndarray]] = {
    "BinaryCrossEntropy": _binary_entropy,
    "CategoricalCrossEntropy": _categorical_entropy,
    "ExactMatch": _exact_match,
    # Keras's own, by the names of its classes
    "Accuracy": lambda label, prediction: (label == prediction).mean(axis=1),
    "CategoricalAccuracy": _is_best,
    "SparseCategoricalAccuracy": _is_best,
    "TopKCategoricalAccuracy": _in_top,
    "SparseTopKCategoricalAccuracy": _in_top,
    "BinaryCrossentropy": _keras_binary_entropy,
    "CategoricalCrossentropy": _keras_categorical_entropy,
    "SparseCategoricalCrossentropy": _keras_categorical_entropy,
    "CategoricalHinge": _categorical_hinge,
    "CosineSimilarity": _cosine,
    "Hinge": lambda label, prediction: np.maximum(1 - _signed(label) * prediction, 0).mean(axis=1),
    "SquaredHinge": lambda label, prediction: (np.maximum(1 - _signed(label) * prediction, 0) ** 2).mean(
        axis=1
    ),
    "KLDivergence": _divergence,
    "LogCoshError": _log_cosh,
    "Poisson": lambda label, prediction: (prediction - label * np.log(prediction + _SMALLEST)).mean(axis=1),
}
_NAMES = {
    "BinaryCrossEntropy": "binary_crossentropy",
    "CategoricalCrossEntropy": "categorical_crossentropy",
    "KLDivergence": "kl_divergence",
    "LogCoshError": "logcosh",
}


def _mean_of_rows(view: View, name: str, *, kind: str, **options: Any) -> list[Metric]:
    for unused in ("dtype", "reduction", "axis"):
        options.pop(unused, None)
    try:
        inspect.signature(_ROW_VALUES[kind]).bind(None, None, **options)
    except TypeError as error:
        raise ValueError(f"metric {kind}: {error}") from error
    needs = (Sums(view, _row_values, (kind, tuple(sorted(options.items())))),)
    return [Metric(key(view, name), needs, quotient)]


for _class_name in _ROW_VALUES:
    metric(_class_name, _NAMES.get(_class_name))(partial(_mean_of_rows, kind=_class_name))
