"""What `compile` adds to a model: targets, weights of samples, losses and metrics of each output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tideflow as tf
from tideflow.distribute.context import get_strategy
from tideflow.graph import nest
from tideflow.keras import losses, metrics
from tideflow.keras.losses import Loss, LossFunctionWrapper, Reduction
from tideflow.keras.metrics.accuracies import (
    binary_accuracy,
    categorical_accuracy,
    sparse_categorical_accuracy,
)
from tideflow.keras.metrics.metric import Mean, MeanMetricWrapper, Metric
from tideflow.layers.keras_graph import runs_as_function
from tideflow.platform import logging
from tideflow.variables.behavior import v2_behavior_enabled


def loss_function(loss: Any) -> Any:
    """A loss as models call it."""
    if loss is None or isinstance(loss, Loss):
        return loss
    if isinstance(loss, Mapping):
        loss = losses.get(loss)
    if callable(loss) and not hasattr(loss, "__name__"):
        return loss
    function = losses.get(loss)
    if isinstance(function, Loss):
        return function
    return LossFunctionWrapper(function, Reduction.SUM_OVER_BATCH_SIZE, name=function.__name__)


def _is_loss(loss: Any, function: Any, kind: type) -> bool:
    return isinstance(loss, kind) or (isinstance(loss, LossFunctionWrapper) and loss.fn is function)


_ACCURACY, _CROSSENTROPY = ("accuracy", "acc"), ("crossentropy", "ce")


def metric_function(metric: Any, output_shape: list[Any], loss: Any) -> Any:
    """A metric's function. What accuracy means follows from the output and its loss."""
    if not isinstance(metric, str) or metric not in (*_ACCURACY, *_CROSSENTROPY):
        return metrics.get(metric)
    sparse = _is_loss(loss, losses.sparse_categorical_crossentropy, losses.SparseCategoricalCrossentropy)
    binary = _is_loss(loss, losses.binary_crossentropy, losses.BinaryCrossentropy)
    if metric in _ACCURACY:
        if output_shape[-1] == 1 or binary:
            return binary_accuracy
        return sparse_categorical_accuracy if sparse else categorical_accuracy
    if output_shape[-1] == 1 or binary:
        return losses.binary_crossentropy
    return losses.sparse_categorical_crossentropy if sparse else losses.categorical_crossentropy


def metric_name(metric: Any, weighted: bool) -> str:
    """The name under which a metric is reported: after `tf.enable_v2_behavior` the one that was given."""
    if v2_behavior_enabled() and isinstance(metric, str):
        return metric
    if isinstance(metric, str) and metric in (*_ACCURACY, *_CROSSENTROPY):
        name = "acc" if metric in _ACCURACY else "ce"
    else:
        found = metrics.get(metric)
        name = found.name if hasattr(found, "name") else found.__name__
    return f"weighted_{name}" if weighted and not v2_behavior_enabled() else name


class Endpoint:
    """An output of a model while it is trained: its target, the weights of samples, loss and metrics."""

    def __init__(self, output: Any, name: str, loss: Any):
        self.output = output
        self.name = name
        self.loss = loss
        self.loss_weight: Any = None
        self.target: Any = None
        self.fed = True  # whether each batch has true values of this output
        self.sample_weight: Any = None
        self.weighted = False  # whether samples have weights
        self.sample_weight_mode: str | None = None
        self.metrics: list[tuple[str, Metric, bool]] = []  # name, metric, and whether samples are weighted
        self.loss_metric: Metric | None = None

    @property
    def loss_name(self) -> str:
        """The name under which the loss of this output is reported."""
        return f"{self.name}_loss"

    @property
    def trained(self) -> bool:
        """Whether the output has a loss."""
        return self.loss is not None

    @property
    def shape(self) -> list[Any]:
        """The static shape of the output."""
        return self.output.shape.as_list()

    def make_target(self, target: Any = None) -> None:
        """Makes the placeholder of the true values, or takes a tensor: a placeholder is fed."""
        if self.trained:
            self.fed = target is None or _is_placeholder(target)
            if self.fed and tf.executing_eagerly():
                return
            open_shape = [None] * len(self.shape)
            self.target = (
                tf.placeholder(self.output.dtype.base_dtype, open_shape, name=f"{self.name}_target")
                if target is None
                else tf.convert_to_tensor(target)
            )

    def weigh_samples(self, wanted: bool) -> None:
        """Says whether samples have weights."""
        self.weighted = wanted and self.trained
        self.sample_weight = None

    def make_sample_weight(self) -> None:
        """Makes the placeholder of the weights of samples, if they have any."""
        if not self.weighted:
            return
        temporal = self.sample_weight_mode == "temporal"
        first, shape = ([[1.0]], [None, None]) if temporal else ([1.0], [None])
        self.sample_weight = tf.placeholder_with_default(
            tf.constant(first, tf.float32), shape=shape, name=f"{self.name}_sample_weights"
        )

    @property
    def feed_shape(self) -> Any:
        """The shape that fed true values must have; None where the loss does not say."""
        if not isinstance(self.loss, LossFunctionWrapper):
            return None
        if _is_loss(self.loss, losses.sparse_categorical_crossentropy, losses.SparseCategoricalCrossentropy):
            return (*self.shape[:-1], 1)
        if getattr(losses, getattr(self.loss.fn, "__name__", ""), None) is self.loss.fn:
            return tuple(self.shape)
        return None


def _is_placeholder(target: Any) -> bool:
    made_by = getattr(target, "op", None)
    return isinstance(made_by, tf.Operation) and made_by.definition.role == "placeholder"


def targets_per_output(given: Any, names: list[str]) -> list[Any]:
    """The tensors of true values that `compile` was given: for each output one, or None where they are fed.

    Raises:
      ValueError: If they are not as many, or not named, like the outputs.
      TypeError: If they are no tensors.
    """
    if given is None or given == []:
        return [None] * len(names)
    if isinstance(given, dict):
        if unknown := set(given).difference(names):
            raise ValueError(
                f'Unknown entry in `target_tensors` dictionary: "{unknown}". Only expected the following '
                f"keys: {names}"
            )
        return [given.get(name) for name in names]
    if isinstance(given, list):
        if len(given) != len(names):
            raise ValueError(
                "When passing a list as `target_tensors`, it should have one entry per model output. The "
                f"model has {len(names)} outputs, but you passed target_tensors={given}"
            )
        return list(given)
    if tf.is_tensor(given):
        return [given]
    raise TypeError(
        "Expected `target_tensors` to be a list or tuple or dict or a single tensor, but got:", given
    )


def per_output(given: Any, names: list[str], what: str) -> list[Any]:
    """An argument of `compile` for each output: one for all, a list, or a dictionary by output names."""
    if isinstance(given, dict):
        unknown = set(given) - set(names)
        if unknown:
            raise ValueError(
                f"Unknown entries in {what} dictionary: {sorted(unknown)}. Only expected following keys: "
                f"{names}"
            )
        return [given.get(name) for name in names]
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            each = "model outputs" if what == "loss" else "model output"
            raise ValueError(
                f"When passing a list as {what}, it should have one entry per {each}. The model has "
                f"{len(names)} outputs, but you passed {what}={given}"
            )
        return list(given)
    return [given] * len(names)


def metrics_per_output(given: Any, names: list[str]) -> list[list[Any]]:
    """The metrics of each output."""
    if not given:
        return [[] for _ in names]
    if isinstance(given, list):
        nested = any(isinstance(metric, (list, tuple)) for metric in given)
        if not nested:
            if len(names) > 1 and any(isinstance(metric, Metric) for metric in given):
                return [[_copy(metric) for metric in given] for _ in names]
            return [list(given) for _ in names]
        if len(given) != len(names):
            raise ValueError(
                "When passing a list of lists as `metrics`, it should have one entry per model output. The "
                f"model has {len(names)} outputs, but you passed metrics={given}"
            )
        return [list(metric) if isinstance(metric, (list, tuple)) else [metric] for metric in given]
    if isinstance(given, dict):
        unknown = set(given) - set(names)
        if unknown:
            raise ValueError(
                f"Unknown entries in metrics dictionary: {sorted(unknown)}. Only expected following "
                f"keys: {names}"
            )
        found = [given.get(name, []) for name in names]
        return [list(metric) if isinstance(metric, (list, tuple)) else [metric] for metric in found]
    raise TypeError(
        f"Type of `metrics` argument not understood. Expected a list or dictionary, found: {given}"
    )


def _copy(metric: Any) -> Any:
    return type(metric).from_config(metric.get_config()) if isinstance(metric, Metric) else metric


def _masked_weight(weight: Any, mask: Any, like: Any) -> Any:
    """The weights of samples, with zeros where a mask says so."""
    if mask is None:
        return weight
    mask = tf.cast(mask, like.dtype)
    if weight is None:
        return mask
    mask, _, weight = losses.squeeze_or_expand(mask, None, weight)
    return weight * mask


def add_metrics(endpoints: list[Endpoint], weighted: bool) -> None:
    """Adds the metrics of all outputs, either those that weights of samples change or the others."""
    with tf.name_scope("metrics"):
        for endpoint in endpoints:
            if not endpoint.trained:
                continue
            mask = getattr(endpoint.output, "_keras_mask", None)
            for name, metric, is_weighted in endpoint.metrics:
                if is_weighted != weighted:
                    continue
                weight = endpoint.sample_weight if weighted else None
                with tf.name_scope(name):
                    weight = _masked_weight(weight, mask, endpoint.output)
                    given = {} if weight is None else {"sample_weight": weight}
                    _add_to(metric, endpoint.target, endpoint.output, **given)


def _add_to(metric: Metric, *values: Any, **weights: Any) -> None:
    """Adds the values of a batch to a metric. A step that is a function reads the result itself."""
    if runs_as_function():
        metric.update_state(*values, **weights)
    else:
        metric(*values, **weights)


def total_loss(model: Any, endpoints: list[Endpoint]) -> Any:
    """The loss that a step makes smaller: those of the outputs by their weights, and those of the layers."""
    total: Any = None
    with tf.name_scope("loss"):
        for endpoint in endpoints:
            if not endpoint.trained:
                continue
            with tf.name_scope(endpoint.loss_name):
                loss = _output_loss(endpoint)
            if len(model.outputs) > 1:
                _add_to(endpoint.loss_metric, loss)
            if getattr(endpoint.loss, "reduction", None) != Reduction.SUM:
                loss = _share_of_replica(loss)
            scaled = (1.0 if endpoint.loss_weight is None else endpoint.loss_weight) * loss
            total = scaled if total is None else total + scaled
        extra = model.losses
        if total is None:
            if not extra:
                raise ValueError("The model cannot be compiled because it has no loss to optimize.")
            total = 0.0
        if extra:
            total += _share_of_replica(tf.add_n(extra))
    return total


def _share_of_replica(loss: Any) -> Any:
    """A replica's part of a mean: the gradients of all replicas will be added."""
    replicas = get_strategy().num_replicas_in_sync
    return loss if replicas == 1 else loss * (1.0 / replicas)


def _output_loss(endpoint: Endpoint) -> Any:
    mask = getattr(endpoint.output, "_keras_mask", None)
    weight = endpoint.sample_weight
    if mask is not None:
        mask = tf.cast(mask, endpoint.output.dtype)
        if weight is None:
            weight = mask
        else:
            mask, _, weight = losses.squeeze_or_expand(mask, None, weight)
            weight = weight * mask
    function = endpoint.loss
    if not hasattr(function, "reduction"):  # the program's own object
        loss = function(endpoint.target, endpoint.output, sample_weight=weight)
        return losses.reduced(loss, Reduction.SUM_OVER_BATCH_SIZE) if loss.shape.ndims else loss
    each = function.call(endpoint.target, endpoint.output)
    weighted = losses.weighted(each, weight)
    reduction = function.reduction
    if reduction == Reduction.AUTO:
        reduction = Reduction.SUM_OVER_BATCH_SIZE
    if reduction == Reduction.NONE:
        return losses.reduced(weighted, Reduction.SUM_OVER_BATCH_SIZE)
    return losses.reduced(weighted, reduction)


def endpoints_of(model: Any, arguments: dict[str, Any]) -> list[Endpoint]:
    """The outputs of a model with what `compile` was given for each."""
    names = model.output_names
    given = arguments["loss"]
    if isinstance(given, dict):
        per_output(given, names, "loss")
        for name in names:
            if name not in given:
                logging.warning(
                    f"Output {name} missing from loss dictionary. We assume this was done on purpose. The "
                    f"fit and evaluate APIs will not be expecting any data to be passed to {name}."
                )
    found = per_output(given, names, "loss")
    ends = [
        Endpoint(output, name, loss_function(loss))
        for output, name, loss in zip(model.outputs, names, found, strict=True)
    ]
    weights = arguments["loss_weights"]
    if weights is not None and not isinstance(weights, (list, tuple, dict)):
        raise TypeError(f"Could not interpret loss_weights argument: {weights} - expected a list of dicts.")
    modes = arguments["sample_weight_mode"]
    for end, weight, mode in zip(
        ends,
        per_output(weights, names, "loss_weights"),
        per_output(modes, names, "sample_weight_mode"),
        strict=True,
    ):
        end.loss_weight = weight
        end.sample_weight_mode = mode
    return ends


def make_metrics(model: Any, endpoints: list[Endpoint], plain: Any, weighted: Any) -> None:
    """Makes the metric objects of each output, with names that no other metric of the model has."""
    names = model.output_names
    if len(names) > 1:
        for endpoint in endpoints:
            if endpoint.trained:
                endpoint.loss_metric = Mean(name=endpoint.loss_name)
    taken: list[str] = ["loss", *(e.loss_name for e in endpoints if e.loss_metric is not None)]
    per = zip(endpoints, metrics_per_output(plain, names), metrics_per_output(weighted, names), strict=True)
    for endpoint, own, own_weighted in per:
        if not endpoint.trained:
            continue
        for metric, is_weighted in [(m, False) for m in own] + [(m, True) for m in own_weighted]:
            if metric is None:
                continue
            name = metric_name(metric, is_weighted)
            if len(names) > 1:
                name = f"{endpoint.name}_{name}"
            number, unique = 1, name
            while unique in taken:
                unique = f"{name}_{number}"
                number += 1
            taken.append(unique)
            found = metric_function(metric, endpoint.shape, endpoint.loss)
            if not isinstance(found, Metric):
                found = MeanMetricWrapper(found, name=unique)
            found._name = unique
            endpoint.metrics.append((unique, found, is_weighted))


def is_symbolic(value: Any) -> bool:
    """Whether a structure has tensors of a graph."""
    return any(isinstance(leaf, (tf.Tensor, tf.Variable)) for leaf in nest.flatten(value))
