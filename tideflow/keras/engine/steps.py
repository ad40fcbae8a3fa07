"""The steps of a model in eager mode. `tf.function` compiles them, unless the model runs eagerly."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.graph import nest
from tideflow.graph.scopes import graph_outside
from tideflow.keras.engine import compiling, composites, loops
from tideflow.keras.optimizers.loss_scale_optimizer import LossScaleOptimizer
from tideflow.keras.optimizers.optimizer import Optimizer
from tideflow.layers import keras_state
from tideflow.layers.keras_graph import note_update, noted_updates
from tideflow.platform import logging


def _type_of(array: Any) -> Any:
    """The type in which a model takes an array: floats of any size have Keras's."""
    return keras_state.floatx() if array.dtype.kind == "f" else array.dtype


class Compiled:
    """A function of arrays that runs as a graph. It is traced once for each set of types and shapes."""

    def __init__(self, function: Callable[..., Any], batch_sizes: list[int | None]):
        self._function = function
        self._batch_sizes = batch_sizes  # of the first arrays; open for the others
        self._traced: dict[Any, Callable[..., list[Any]]] = {}

    def __call__(self, arrays: list[Any]) -> list[Any]:
        """What the function gives for arrays, as arrays."""
        if any(isinstance(array, composites.Samples) for array in arrays):
            return self._of_composites(arrays)
        pairs = zip(arrays, self._batch_sizes, strict=False)
        fits = all(size is None or len(array) == size for array, size in pairs)
        key = fits, *((array.dtype, array.shape[1:], array.ndim) for array in arrays)
        if key not in self._traced:
            # A batch of another size, such as the last of some arrays, has a function of its own.
            sizes = [*(self._batch_sizes if fits else []), *[None] * len(arrays)]
            signature = [
                tf.TensorSpec([size, *array.shape[1:]] if array.ndim else [], _type_of(array))
                for array, size in zip(arrays, sizes, strict=False)
            ]
            self._traced[key] = tf.function(
                lambda *tensors: self._function(list(tensors)), input_signature=signature, autograph=False
            )
        outputs = self._traced[key](*[tf.constant(array, _type_of(array)) for array in arrays])
        return list(map(composites.value_of, outputs))

    def _of_composites(self, arrays: list[Any]) -> list[Any]:
        """The same where some are sparse or ragged: the function is traced for tensors like these."""
        if None not in self._traced:
            self._traced[None] = tf.function(lambda *tensors: self._function(list(tensors)), autograph=False)
        outputs = self._traced[None](*_tensors(arrays))
        return list(map(composites.value_of, outputs))


def step(model: Any, mode: str) -> Callable[[list[Any]], list[Any]]:
    """A function of a batch's arrays: inputs, targets, weights of samples. It gives the loss and the metrics,
    or the outputs.
    """
    if model.run_eagerly:
        return eager_step(model, mode)
    sizes = [tensor.shape.as_list()[0] for tensor in model.inputs]
    return Compiled(lambda tensors: run(model, mode, tensors), sizes)


def runs_single_batches(model: Any) -> bool:
    """Whether eager mode runs batches that the program hands over itself, and no graph of Keras's does."""
    return (
        tf.executing_eagerly()
        and model._is_compiled
        and isinstance(model.optimizer, Optimizer)
        and model.sample_weight_mode is None
        and model._target_tensors is None
    )


def eager_step(model: Any, mode: str) -> Callable[[list[Any]], list[Any]]:
    """The same, operation by operation."""
    return lambda arrays: eagerly(lambda tensors: run(model, mode, tensors), arrays)


def eagerly(function: Callable[[list[Any]], list[Any]], arrays: list[Any]) -> list[Any]:
    """What a function of tensors gives for arrays, operation by operation."""
    return list(map(composites.value_of, function(_tensors(arrays))))


def _tensors(arrays: list[Any]) -> list[Any]:
    return [composites.tensor_of(array, _type_of(array)) for array in arrays]


def run(model: Any, mode: str, tensors: list[Any]) -> list[Any]:
    """The step itself: of the tensors of a batch, or in a graph, of those that will be fed."""
    function = {loops.TRAIN: _train, loops.TEST: _test, loops.PREDICT: _predict}[mode]
    with keras_state.learning_phase_scope(int(mode == loops.TRAIN)):
        found = function(model, tensors)
    if not tf.executing_eagerly():
        model._clear_losses()  # they are of the graph that is being made
    return found


def _called(model: Any, tensors: list[Any], training: bool) -> list[Any]:
    given = tensors[: len(model.inputs)]
    nested = model._nested_inputs
    inputs = nest.pack_sequence_as(nested, given) if nest.is_nested(nested) else given[0]
    return nest.flatten(model(inputs, training=training))


def _predict(model: Any, tensors: list[Any]) -> list[Any]:
    return _called(model, tensors, training=False)


def _loss(model: Any, tensors: list[Any], training: bool) -> tuple[Any, list[compiling.Endpoint]]:
    """The loss of a batch, and the outputs that it was computed of."""
    outputs = _called(model, tensors, training)
    rest = iter(tensors[len(model.inputs) :])
    endpoints = [copy.copy(endpoint) for endpoint in model._endpoints]
    trained = [endpoint for endpoint in endpoints if endpoint.trained]
    for endpoint, output in zip(endpoints, outputs, strict=True):
        endpoint.output = output
    for endpoint in trained:
        target = next(rest) if endpoint.target is None else endpoint.target
        floating = target.dtype.is_floating and endpoint.output.dtype.is_floating
        endpoint.target = tf.cast(target, endpoint.output.dtype) if floating else target
    for endpoint in trained:
        endpoint.sample_weight = next(rest) if endpoint.weighted else None
    return compiling.total_loss(model, endpoints), endpoints


def _results(model: Any, loss: Any, endpoints: list[compiling.Endpoint]) -> list[Any]:
    compiling.add_metrics(endpoints, weighted=False)
    compiling.add_metrics(endpoints, weighted=True)
    with tf.control_dependencies(noted_updates()):
        return [loss, *(tf.identity(metric.result()) for metric in model._reported_metrics)]


def _test(model: Any, tensors: list[Any]) -> list[Any]:
    return _results(model, *_loss(model, tensors, training=False))


def _train(model: Any, tensors: list[Any]) -> list[Any]:
    with tf.GradientTape() as tape:
        loss, endpoints = _loss(model, tensors, training=True)
        scales = isinstance(model.optimizer, LossScaleOptimizer)
        scaled = model.optimizer.get_scaled_loss(loss) if scales else loss
    weights = model.trainable_weights
    if weights and graph_outside().is_eager:
        grads = tape.gradient(scaled, weights)
        grads = model.optimizer.get_unscaled_gradients(grads) if scales else grads
        model.optimizer.apply_gradients(zip(grads, weights, strict=True))
    elif weights:
        for update in model.optimizer.get_updates(loss, weights):
            note_update(update)
    else:
        logging.warning(
            "The list of trainable weights is empty. Make sure that you are not setting model.trainable to "
            "False before compiling the model."
        )
    return _results(model, loss, endpoints)
