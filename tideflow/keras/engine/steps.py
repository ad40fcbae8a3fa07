"""The steps of a model in eager mode: functions of the tensors of a batch. They are compiled, each as a graph
beside eager mode, unless the model runs eagerly.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.graph import nest
from tideflow.keras.engine import compiling, loops
from tideflow.layers import keras_state
from tideflow.layers.keras_graph import BesideEager
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
        key = tuple((array.dtype, array.shape[1:], array.ndim) for array in arrays)
        if key not in self._traced:
            self._traced[key] = self._trace(arrays)
        return self._traced[key](*arrays)

    def _trace(self, arrays: list[Any]) -> Callable[..., list[Any]]:
        graph = BesideEager()
        sizes = [*self._batch_sizes, *[None] * len(arrays)]
        with graph.as_default():
            given = [
                tf.placeholder(_type_of(array), [size, *array.shape[1:]] if array.ndim else [])
                for array, size in zip(arrays, sizes, strict=False)
            ]
            outputs = [tf.identity(output) for output in self._function(given)]
            effects = [op for op in graph.get_operations() if _is_effect(op)]
        run = tf.Session(graph=graph).make_callable([*outputs, *effects], given)
        number = len(outputs)
        return lambda *values: run(*values)[:number]


def _is_effect(op: Any) -> bool:
    """Whether a compiled function runs an operation even if none of its outputs needs it."""
    kind = op.definition
    return kind.stateful and not kind.outputs and op._control_flow_context is None


def step(model: Any, mode: str) -> Callable[[list[Any]], list[Any]]:
    """A function of a batch's arrays: inputs, targets, weights of samples. It gives the loss and the metrics,
    or the outputs.
    """
    function = {loops.TRAIN: _train, loops.TEST: _test, loops.PREDICT: _predict}[mode]

    def on_tensors(tensors: list[Any]) -> list[Any]:
        with keras_state.learning_phase_scope(int(mode == loops.TRAIN)):
            found = function(model, tensors)
        if not tf.executing_eagerly():
            model._clear_losses()  # they are of the graph that is being traced
        return found

    if not model.run_eagerly:
        return Compiled(on_tensors, [tensor.shape.as_list()[0] for tensor in model.inputs])

    def eagerly(arrays: list[Any]) -> list[Any]:
        tensors = [tf.constant(array, _type_of(array)) for array in arrays]
        return [output.numpy() for output in on_tensors(tensors)]

    return eagerly


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
        endpoint.target = next(rest) if endpoint.target is None else endpoint.target
    for endpoint in trained:
        endpoint.sample_weight = next(rest) if endpoint.weighted else None
    return compiling.total_loss(model, endpoints), endpoints


def _results(model: Any, loss: Any, endpoints: list[compiling.Endpoint]) -> list[Any]:
    compiling.add_metrics(endpoints)
    return [loss, *(metric.result() for metric in model._reported_metrics)]


def _test(model: Any, tensors: list[Any]) -> list[Any]:
    return _results(model, *_loss(model, tensors, training=False))


def _train(model: Any, tensors: list[Any]) -> list[Any]:
    with tf.GradientTape() as tape:
        loss, endpoints = _loss(model, tensors, training=True)
    weights = model.trainable_weights
    if weights:
        eager = tf.executing_eagerly()
        grads = tape.gradient(loss, weights) if eager else tf.gradients(loss, weights)
        model.optimizer.apply_gradients(zip(grads, weights, strict=True))
    else:
        logging.warning(
            "The list of trainable weights is empty. Make sure that you are not setting model.trainable to "
            "False before compiling the model."
        )
    return _results(model, loss, endpoints)
