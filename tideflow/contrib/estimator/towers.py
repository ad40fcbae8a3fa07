"""`replicate_model_fn` and `TowerOptimizer`: a model function on several devices, each with some examples.

A tower is one call of the model function. Towers share their variables; the last one applies the gradients
of all. `tf.distribute.MirroredStrategy` came after it.
"""

from __future__ import annotations

import contextlib
import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.platform import device_lib, logging
from tideflow.platform.function_arguments import fn_args
from tideflow.train.optimizer import Optimizer

_STATES = "replicate_model_fn_graph_states"
_VARIABLES = frozenset("Variable VariableV2 VarHandleOp".split())


class _Towers:
    """What the towers of a graph have done so far."""

    def __init__(self) -> None:
        self.gradients: dict[int, list[Any]] = defaultdict(list)  # by tower, each call's pairs
        self.place = 0
        self.count = 1
        self.reduction: str | None = None
        self.first_scopes: tuple[Any, str] = (None, "")
        self.optimizer_used = False

    @staticmethod
    def here() -> _Towers:
        """Those of the default graph."""
        states = tf.get_default_graph().get_collection_ref(_STATES)
        if not states:
            states.append(_Towers())
        return states[-1]

    @contextlib.contextmanager
    def tower(self, place: int, scopes: tuple[Any, str]) -> Iterator[None]:
        self.place = place
        if place == 0:
            self.first_scopes = scopes
        yield

    def latest(self) -> list[Any]:
        """The pairs of gradient and variable that all towers gave in the call that the last one has made."""
        call = len(self.gradients[self.place]) - 1
        return [pair for tower in range(self.place + 1) for pair in self.gradients[tower][call]]

    def scaled(self, loss: Any) -> Any:
        """A tower's share of the loss of all."""
        if loss is None or self.count == 1 or self.reduction == tf.losses.Reduction.SUM:
            return loss
        return tf.div(loss, 1.0 * self.count, name="averaged_loss")


@export("contrib.estimator.TowerOptimizer")
class TowerOptimizer(Optimizer):
    """An optimizer that gathers the gradients of all towers, and applies their sum once.

    Args:
      optimizer_or_optimizer_fn: The optimizer that applies them, or a function that makes it.
    """

    def __init__(self, optimizer_or_optimizer_fn: Optimizer | Callable[[], Optimizer]):
        self._optimizer_or_optimizer_fn = optimizer_or_optimizer_fn

    @staticmethod
    def has_been_used() -> bool:
        """Whether the default graph has been trained by such an optimizer.

        Returns:
          Whether it has.
        """
        return _Towers.here().optimizer_used

    def _get_optimizer(self) -> Any:
        if callable(self._optimizer_or_optimizer_fn):
            self._optimizer_or_optimizer_fn = self._optimizer_or_optimizer_fn()
        _Towers.here().optimizer_used = True
        return self._optimizer_or_optimizer_fn

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._get_optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        return self._get_optimizer().get_slot_names(*args, **kwargs)

    def get_name(self, *args: Any, **kwargs: Any) -> str:
        return self._get_optimizer().get_name(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> list[Any]:
        return self._get_optimizer().variables(*args, **kwargs)

    def compute_gradients(self, loss: Tensor, *args: Any, **kwargs: Any) -> list[Any]:
        """Computes the gradients of a tower's share of the loss.

        Args:
          loss: The loss.
          *args: Further arguments of the optimizer's `compute_gradients`.
          **kwargs: Further keyword arguments of it.

        Returns:
          A list of pairs of gradient and variable.
        """
        return self._get_optimizer().compute_gradients(_Towers.here().scaled(loss), *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any) -> Operation:
        """Keeps a tower's gradients; the last tower applies those of all.

        Args:
          grads_and_vars: Pairs of gradient and variable.
          global_step: A variable to count up.
          **kwargs: Further arguments of the optimizer's `apply_gradients`.

        Returns:
          The operation that applies them, of the last tower; one that waits for them, of the others.
        """
        towers = _Towers.here()
        if towers.count == 1:
            return self._get_optimizer().apply_gradients(grads_and_vars, global_step, **kwargs)
        pairs = list(grads_and_vars)
        towers.gradients[towers.place].append(pairs)
        if towers.place < towers.count - 1:
            with tf.control_dependencies(
                [_values(gradient) for gradient, _ in pairs if gradient is not None]
            ):
                return tf.no_op(name="train_op_placeholder")
        scope, name_scope = towers.first_scopes  # where names have no prefix
        with tf.variable_scope(scope), tf.name_scope(name_scope):
            return self._apply_sums(towers.latest(), global_step, kwargs)

    def _apply_sums(self, pairs: list[Any], global_step: Any, kwargs: dict[str, Any]) -> Operation:
        gathered: dict[Any, list[Any]] = {}
        for gradient, variable in pairs:
            if gradient is not None:
                gathered.setdefault(variable, []).append(gradient)
        with tf.name_scope("gradient_aggregating"):
            sums = [(_sum(found, variable.device), variable) for variable, found in gathered.items()]
        return self._get_optimizer().apply_gradients(sums, global_step=global_step, **kwargs)


def _values(gradient: Any) -> Any:
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def _sum(values: Sequence[Any], device: str, name: str | None = None) -> Any:
    with tf.device(device):
        if not isinstance(values[0], tf.IndexedSlices):
            return tf.add_n(values, name=name)
        rows = tf.concat([value.values for value in values], axis=0)
        places = tf.concat([value.indices for value in values], axis=0)
        return tf.IndexedSlices(rows, places, values[0].dense_shape)


@export("contrib.estimator.replicate_model_fn")
def replicate_model_fn(
    model_fn: Callable,
    loss_reduction: str = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Sequence[str] | None = None,
) -> Callable:
    """Makes a model function that calls another one for each device, with an equal part of the batch.

    Its optimizers must be wrapped in a `TowerOptimizer`.

    Args:
      model_fn: The model function.
      loss_reduction: How the function's loss is reduced over the batch: the towers' losses and gradients are
        averaged, or summed if it is `tf.losses.Reduction.SUM`.
      devices: The devices; all GPUs, or the CPU, if None.

    Returns:
      A model function.

    Raises:
      ValueError: If losses are not reduced.
    """
    if loss_reduction == tf.losses.Reduction.NONE:
        raise ValueError(
            f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is specified."
        )
    places = list(devices or _local_devices("GPU") or _local_devices("CPU"))
    alone = len(places) == 1
    center = places[0] if alone and "GPU" in places[0].upper() else "/CPU:0"
    logging.info(
        "Replicating the `model_fn` across %s.  Variables are going to be placed on %s.  Consolidation "
        "device is going to be %s.",
        places,
        [center],
        center,
    )

    def replicated_model_fn(
        features: Any, labels: Any, mode: str, params: Any = None, config: Any = None
    ) -> Any:
        parts = ([features], [labels]) if alone else _split(features, labels, len(places), center)
        specs = _towers(model_fn, mode, parts, params, config, places, center, loss_reduction)
        if alone:
            return specs[0]
        if mode == tf.estimator.ModeKeys.TRAIN:
            return specs[-1]._replace(loss=_whole_loss(specs, center))
        return _evaluated(specs, center) if mode == tf.estimator.ModeKeys.EVAL else _predicted(specs, center)

    return replicated_model_fn


def _local_devices(kind: str) -> list[str]:
    return [device.name for device in device_lib.list_local_devices() if device.device_type == kind]


def _split(features: Any, labels: Any, count: int, device: str) -> tuple[list[Any], list[Any] | None]:
    with tf.name_scope("split_inputs"), tf.device(device):
        return _parts(features, count), None if labels is None else _parts(labels, count)


def _parts(values: Any, count: int) -> list[Any]:
    if isinstance(values, dict):
        named = {name: _parts(value, count) for name, value in values.items()}
        return [{name: parts[place] for name, parts in named.items()} for place in range(count)]
    if isinstance(values, tf.SparseTensor):
        return tf.sparse_split(sp_input=values, num_split=count, axis=0)
    size = tf.convert_to_tensor(values).shape[0]
    if size.value is not None and size.value % count != 0:
        raise ValueError(f"Batch size {size} needs to be divisible by the number of GPUs, which is {count}.")
    return tf.split(values, count)


def _towers(
    model_fn: Callable,
    mode: str,
    parts: tuple[list[Any], list[Any] | None],
    params: Any,
    config: Any,
    devices: list[str],
    center: str,
    reduction: str,
) -> list[Any]:
    """What the model function returns for each device."""
    taken = fn_args(model_fn)
    given = {"params": params, "config": config}
    options = {name: copy.deepcopy(value) for name, value in given.items() if name in taken}
    towers = _Towers.here()
    towers.reduction, towers.count = reduction, len(devices)
    features, labels = parts
    specs = []
    for place, device in enumerate(devices):
        with (
            tf.variable_scope("", reuse=place > 0) as scope,
            tf.name_scope(f"tower_{place}" if place else "") as name_scope,
            towers.tower(place, (scope, name_scope)),
            tf.device(_chooser(device, center)),
        ):
            own = None if labels is None else labels[place]
            spec = model_fn(mode=mode, features=features[place], labels=own, **options)
            if spec.train_op is not None and len(devices) > 1 and not towers.optimizer_used:
                raise ValueError(
                    "Please wrap optimizers with TowerOptimizer in order to use replicate_model_fn with "
                    "multiple `devices`."
                )
            specs.append(spec if spec.loss is None else spec._replace(loss=towers.scaled(spec.loss)))
    if sum(map(len, towers.gradients.values())) % towers.count != 0:
        raise ValueError("Each invocation of model_fn was supposed to make the same optimizer calls.")
    tf.get_default_graph().clear_collection(_STATES)
    return specs


def _chooser(device: str, center: str) -> Callable[[Any], str]:
    """Variables stand in one place, the rest where its tower does; a device of the program's own wins."""

    def choose(op: Any) -> str:
        spec = tf.DeviceSpec.from_string(center if op.type in _VARIABLES else device)
        spec.merge_from(tf.DeviceSpec.from_string(op.device or ""))
        return spec.to_string()

    return choose


def _whole_loss(specs: list[Any], device: str) -> Tensor:
    return _sum([spec.loss for spec in specs], device, "loss")


def _evaluated(specs: list[Any], device: str) -> Any:
    loss = _whole_loss(specs, device)
    updates = [update for spec in specs for _, update in spec.eval_metric_ops.values()]
    with tf.control_dependencies(updates):
        reduced = _reduce_metrics(len(specs))
    metrics = {name: (value, reduced) for name, (value, _) in specs[0].eval_metric_ops.items()}
    return specs[0]._replace(loss=loss, eval_metric_ops=metrics)


def _reduce_metrics(count: int) -> Operation:
    """Adds what the metrics of all towers counted to those of the first, whose values are shown."""
    variables = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    of_each = len(variables) // count
    if len(variables) % count != 0:
        raise ValueError(
            "Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls. Expected "
            f"{of_each * count} local variables, but got {len(variables)} instead."
        )
    emptied = []
    for place in range(of_each):
        others = variables[place + of_each :: of_each]
        added = tf.assign_add(variables[place], tf.add_n(others))
        with tf.control_dependencies([added]):
            emptied += [tf.assign(other, tf.zeros(tf.shape(other), other.dtype)) for other in others]
    return tf.group(*emptied)


def _predicted(specs: list[Any], device: str) -> Any:
    with tf.device(device):
        predictions = _joined([spec.predictions for spec in specs])
        outputs = {
            name: _exported([spec.export_outputs[name] for spec in specs])
            for name in specs[0].export_outputs or {}
        }
    return specs[0]._replace(predictions=predictions, export_outputs=outputs)


def _joined(dictionaries: list[dict[str, Any]]) -> dict[str, Tensor]:
    return {
        name: tf.concat([found[name] for found in dictionaries], axis=0, name=name)
        for name in dictionaries[0]
    }


def _exported(found: list[Any]) -> Any:
    export_outputs = tf.estimator.export
    if isinstance(found[0], export_outputs.PredictOutput):
        return export_outputs.PredictOutput(_joined([output.outputs for output in found]))
    if isinstance(found[0], export_outputs.RegressionOutput):
        return export_outputs.RegressionOutput(tf.concat([output.value for output in found], axis=0))
    scores = [output.scores for output in found]
    classes = [output.classes for output in found]
    return export_outputs.ClassificationOutput(
        scores=None if scores[0] is None else tf.concat(scores, axis=0),
        classes=None if classes[0] is None else tf.stack(classes, axis=0),
    )
