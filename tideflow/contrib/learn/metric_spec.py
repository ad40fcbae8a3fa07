"""MetricSpec: a metric, and which predictions, labels and weights it is computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated
from tideflow.platform.function_arguments import fn_args

# The names under which metric functions take what they measure, the usual one first.
_LABELS = ("labels", "label", "targets", "target")
_PREDICTIONS = ("predictions", "prediction", "logits", "logit")
_WEIGHTS = ("weights", "weight")


@export("contrib.learn.MetricSpec")
class MetricSpec:
    """A metric function, and the keys of what it is given.

    Args:
      metric_fn: A function of predictions, and of labels and weights if it names them, that returns a metric:
        a pair of a value and an update.
      prediction_key: The key of the predictions; None where there is only one tensor.
      label_key: The key of the labels; None where there is only one tensor.
      weight_key: The key of the weights among the features; None without weights.

    Raises:
      ValueError: If the function takes no labels or weights, and a key of them is given.
    """

    @deprecated(None, "Use tf.estimator.EstimatorSpec.eval_metric_ops.")
    def __init__(
        self,
        metric_fn: Callable,
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ):
        self._name = _name_of(metric_fn)
        self._metric_fn = _with_usual_names(metric_fn, label_key is not None, weight_key is not None)
        self._prediction_key = prediction_key
        self._label_key = label_key
        self._weight_key = weight_key

    @property
    def prediction_key(self) -> str | None:
        """The key of the predictions."""
        return self._prediction_key

    @property
    def label_key(self) -> str | None:
        """The key of the labels."""
        return self._label_key

    @property
    def weight_key(self) -> str | None:
        """The key of the weights."""
        return self._weight_key

    @property
    def metric_fn(self) -> Callable:
        """The metric as a function of `labels`, `predictions` and `weights`, given by name."""
        return self._metric_fn

    def __str__(self) -> str:
        return (
            f"MetricSpec(metric_fn={self._name}, prediction_key={self.prediction_key}, "
            f"label_key={self.label_key}, weight_key={self.weight_key})"
        )

    def create_metric_ops(
        self,
        inputs: Mapping[str, Any],
        labels: Tensor | Mapping[str, Tensor],
        predictions: Tensor | Mapping[str, Tensor],
    ) -> Any:
        """Makes the metric.

        Args:
          inputs: The features, by name.
          labels: The labels: a tensor, or tensors by name.
          predictions: The predictions: a tensor, or tensors by name.

        Returns:
          What the metric function returns.

        Raises:
          ValueError: If a key is missing where there are several tensors, or given where there is one.
          KeyError: If there is no tensor of a key.
        """
        prediction = _chosen("prediction", predictions, self.prediction_key)
        label = _chosen("label", labels, self.label_key)
        weights = inputs[self.weight_key] if self.weight_key else None
        try:
            return self.metric_fn(labels=label, predictions=prediction, weights=weights)
        except Exception as error:
            logging.error("Could not create metric ops for %s, %s.", self, error)
            raise


def _chosen(kind: str, given: Any, key: str | None) -> Any:
    if not isinstance(given, dict):
        if key:
            raise ValueError(
                f"MetricSpec with {kind}_key specified requires {kind}s dict, got {given}.\nYou must not "
                f"provide a {kind}_key if you only have a single Tensor as {kind}s."
            )
        return given
    if key:
        if key not in given:
            raise KeyError(f"Key '{key}' missing from {given.keys()}.")
        return given[key]
    if len(given) != 1:
        raise ValueError(
            f"MetricSpec without specified {kind}_key requires {kind}s tensor or single element dict, got "
            f"{given}"
        )
    return next(iter(given.values()))


def _name_of(fn: Callable) -> str:
    return getattr(fn, "__name__", None) or getattr(getattr(fn, "func", None), "__name__", None) or str(fn)


def _with_usual_names(fn: Callable, needs_labels: bool, needs_weights: bool) -> Callable:
    """The function with arguments `labels`, `predictions` and `weights`, whatever its own are called.

    A function that does not name its predictions takes them first, or second after its labels.
    """
    names = fn_args(fn)
    labels_name = _match(fn, names, _LABELS, needs_labels)
    predictions_name = _match(fn, names, _PREDICTIONS, False)
    weights_name = _match(fn, names, _WEIGHTS, needs_weights)

    def metric_fn(
        _sentinel: Any = None, labels: Any = None, predictions: Any = None, weights: Any = None
    ) -> Any:
        if _sentinel is not None:
            raise ValueError(
                "`metric_fn` requires named args: `labels`, `predictions`, and optionally `weights`."
            )
        named = {} if weights is None else {weights_name: weights}
        if labels_name and labels_name == names[0] and not predictions_name:
            return fn(labels, predictions, **named)
        if labels_name:
            named[labels_name] = labels
        if predictions_name:
            return fn(**named, **{predictions_name: predictions})
        return fn(predictions, **named)

    return metric_fn


def _match(fn: Callable, names: tuple[str, ...], candidates: tuple[str, ...], needed: bool) -> str | None:
    found = [name for name in candidates if name in names]
    if len(found) > 1:
        raise ValueError(f"Ambiguous arguments {set(found)}, must provide only one of {set(candidates)}.")
    if not found:
        if needed:
            raise ValueError(f"{set(candidates)} missing from {_name_of(fn)}({names}).")
        return None
    if found[0] != candidates[0]:
        logging.warning(
            "Canonical arg %s missing from %s(%s), using %s.", candidates[0], _name_of(fn), names, found[0]
        )
    return found[0]
