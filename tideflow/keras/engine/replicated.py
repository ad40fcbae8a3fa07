"""The steps of a model under a strategy: each replica runs the step on its part of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.distribute.reductions import ReduceOp
from tideflow.distribute.values import regroup, select
from tideflow.keras.backend.functions import function
from tideflow.keras.callbacks.schedules import LearningRateScheduler, ReduceLROnPlateau
from tideflow.keras.engine import loops, steps
from tideflow.keras.optimizers.optimizer import Optimizer
from tideflow.layers.keras_graph import step_in_graph


def check_compile(
    model: Any,
    run_eagerly: bool | None,
    sample_weight_mode: Any,
    target_tensors: Any,
    weighted_metrics: Any,
) -> None:
    """Refuses what TensorFlow's older loops do not train under a strategy.

    Raises:
      NotImplementedError: If time steps or metrics are weighted.
      ValueError: If the true values are tensors, steps run operation by operation, or, in a graph, the model
        does not know its inputs yet.
    """
    if sample_weight_mode:
        raise NotImplementedError("sample_weight_mode is not supported with tf.distribute.Strategy.")
    if weighted_metrics:
        raise NotImplementedError("weighted_metrics is not supported with tf.distribute.Strategy.")
    if target_tensors:
        raise ValueError("target_tensors is not supported with tf.distribute.Strategy.")
    if run_eagerly:
        raise ValueError(
            "We currently do not support enabling `run_eagerly` with distribution strategy. Compile the "
            "model without `experimental_run_tf_function=False`."
        )
    if not tf.executing_eagerly() and not (model.built and model.inputs and model.outputs):
        raise ValueError(
            "We currently do not support distribution strategy with a `Sequential` model that is created "
            "without `input_shape`/`input_dim` set in its first layer or a subclassed model. Say the shape "
            "of the inputs, or enable eager execution."
        )


def check_callbacks(callbacks: Any, optimizer: Any) -> None:
    """ValueError for callbacks that set the learning rate of an optimizer which is not Keras's."""
    given = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    for callback in given:
        sets_rate = isinstance(callback, (LearningRateScheduler, ReduceLROnPlateau))
        if sets_rate and not isinstance(optimizer, Optimizer):
            raise ValueError(
                f"You must specify a Keras Optimizer V2 when using {callback} callback with "
                "DistributionStrategy."
            )


def prepare(model: Any) -> None:
    """Prepares for training a model that is being compiled in the scope of a strategy.

    Raises:
      ValueError: If the strategy cannot train it, because variables were made outside its scope.
    """
    strategy = model._strategy
    if not model.run_eagerly and not tf.executing_eagerly():
        target = strategy.extended._session_target()
        if target:
            config = strategy.update_config_proto(tf.ConfigProto(allow_soft_placement=True))
            tf.keras.backend.set_session(tf.Session(target, config=config))
    for variable in model.weights if model.built else ():
        if not strategy.extended.variable_created_in_scope(variable):
            raise ValueError(
                f"Variable ({variable}) was not created in the distribution strategy scope of ({strategy}). "
                "It is most likely due to not all layers or the model or optimizer being created outside the "
                "distribution strategy scope. Try to make sure your code looks similar to the following.\n"
                "with strategy.scope():\n  model=_create_model()\n  model.compile(...)"
            )


def batch_size(samples: int, given: int | None, steps: int | None) -> int:
    """The size of a batch of all replicas: as given, or such that so many steps have all samples."""
    if given is None:
        if steps is None:
            return min(samples, 32)
        if samples % steps:
            raise ValueError(
                f"The number of samples {samples} is not divisible by steps {steps}. Please change the "
                "number of steps to a value that can consume all the samples"
            )
        return samples // steps
    if steps is not None and samples <= given * (steps - 1):
        raise ValueError(
            f"Number of samples {samples} is less than samples required for specified batch_size {given} and "
            f"steps {steps}"
        )
    return given


def step(model: Any, mode: str) -> Callable[[list[Any]], list[Any]]:
    """A function of the arrays of a batch of all replicas. It gives the loss and the metrics of all of them,
    or the outputs.
    """
    numbers, count = _places(model._strategy, mode)
    run = _traced(model, mode) if tf.executing_eagerly() else _built(model, mode)

    def on_batch(arrays: list[Any]) -> list[Any]:
        size = -(-len(arrays[0]) // count)
        parts = [[array[i * size : (i + 1) * size] for array in arrays] for i in numbers]
        outputs = run([array for part in parts for array in part])
        if mode != loops.PREDICT or len(parts) == 1:
            return outputs
        together = len(parts)
        return [np.concatenate(outputs[i : i + together]) for i in range(0, len(outputs), together)]

    return on_batch


def _places(strategy: Any, mode: str) -> tuple[list[int], int]:
    """Which parts of a batch the replicas of this worker have, and into how many it is divided. Each worker
    predicts by itself.
    """
    here = len(strategy.extended.worker_devices)
    workers = 1 if mode == loops.PREDICT else strategy.num_replicas_in_sync // here
    worker = strategy.extended._input_context().input_pipeline_id if workers > 1 else 0
    return [worker + i * workers for i in range(here)], here * workers


def _together(model: Any, mode: str, replicas: list[list[Any]]) -> tuple[list[Any], Any]:
    """What a step gives for the tensors of each replica, and in a graph the operation of its updates."""
    strategy = model._strategy

    def on_replica(tensors: list[Any]) -> tuple[list[Any], Any]:
        with step_in_graph() as updates:
            found = steps.run(model, mode, tensors)
        return found, None if tf.executing_eagerly() else tf.group(*updates)

    given = replicas[0] if len(replicas) == 1 else regroup(replicas, strategy.extended.worker_devices)
    with strategy.scope():
        found, done = strategy.extended.call_for_each_replica(on_replica, args=(given,))
        if mode == loops.PREDICT:
            outputs = [each for output in found for each in strategy.experimental_local_results(output)]
        else:
            outputs = [strategy.reduce(ReduceOp.SUM, found[0]), *select(0, found[1:])]
        return outputs, None if done is None else strategy.group(done)


def _traced(model: Any, mode: str) -> Callable[[list[Any]], list[Any]]:
    here = len(model._strategy.extended.worker_devices)

    def on_tensors(tensors: list[Any]) -> list[Any]:
        size = len(tensors) // here
        return _together(model, mode, [tensors[i * size : (i + 1) * size] for i in range(here)])[0]

    if model.run_eagerly:
        return lambda arrays: steps.eagerly(on_tensors, arrays)
    return steps.Compiled(on_tensors, [])


def _built(model: Any, mode: str) -> Callable[[list[Any]], list[Any]]:
    """The step in the graph, with placeholders for the part of each replica."""
    specs = [(tensor.dtype, [None, *tensor.shape.as_list()[1:]]) for tensor in model.inputs]
    if mode != loops.PREDICT:
        trained = [endpoint for endpoint in model._endpoints if endpoint.trained]
        specs += [(end.output.dtype.base_dtype, [None] * len(end.shape)) for end in trained]
        specs += [(tf.float32, None) for endpoint in trained if endpoint.weighted]
    replicas = []
    for device in model._strategy.extended.worker_devices:
        with tf.device(device):
            replicas.append([tf.placeholder(dtype, shape) for dtype, shape in specs])
    outputs, updates = _together(model, mode, replicas)
    flat = [tensor for tensors in replicas for tensor in tensors]
    return function(flat, outputs, updates=[updates], name=f"distributed_{mode}_function")
