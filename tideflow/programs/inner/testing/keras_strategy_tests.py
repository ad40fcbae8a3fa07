"""`tensorflow.python.keras.distribute.distribute_strategy_test`: what tests of Keras and strategies share."""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf
from tideflow.programs.inner.keras.distribution_names import is_tpu_strategy
from tideflow.programs.inner.testing import strategy_combinations as named
from tideflow.programs.inner.testing.distribution_combinations import combine, times
from tideflow.programs.inner.testing.keras_testing import get_test_data

_SEED, _SAMPLES, _TESTED = 1337, 200, 50

strategies_minus_tpu = list(named.strategies_minus_tpu)
strategies_minus_default_minus_tpu = strategies_minus_tpu[1:]
tpu_strategies = list(named.tpu_strategies)
_V2_OPTIMIZERS = [
    named.adagrad_optimizer_keras_v2_fn,
    named.adam_optimizer_keras_v2_fn,
    named.gradient_descent_optimizer_keras_v2_fn,
    named.rmsprop_optimizer_keras_v2_fn,
]
_OPTIMIZERS = [
    named.adagrad_optimizer_v1_fn,
    named.adam_optimizer_v1_fn,
    named.gradient_descent_optimizer_v1_fn,
    named.rmsprop_optimizer_v1_fn,
    *_V2_OPTIMIZERS,
]
_MODES = ["graph", "eager"]

# ------------------------------------------------------------------------------------------------- models


def simple_sequential_model() -> Any:
    """A classifier of two classes with a layer that drops values."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Dense(16, activation="relu", input_shape=(10,)),
            layers.Dropout(0.1),
            layers.Dense(2, activation="softmax"),
        ]
    )


class _OneLayer(tf.keras.Model):
    def __init__(self, units: int):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units)

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)


def simple_subclassed_model(num_labels: int = 2) -> Any:
    """A subclassed model of one layer."""
    return _OneLayer(num_labels)


def _one_layer(size: int, units: int, **given: Any) -> Any:
    x = tf.keras.Input((size,), name="input")
    return tf.keras.Model(x, tf.keras.layers.Dense(units, name="dense", **given)(x))


def get_model() -> Any:
    """A model of one layer, from three numbers to four."""
    return _one_layer(3, 4)


def get_sample_weights_model() -> Any:
    """A model that gives its input."""
    return _one_layer(1, 1, kernel_initializer="ones", bias_initializer="zeros")


def simple_multi_inputs_multi_outputs_model() -> Any:
    """A model of two inputs side by side, and two outputs."""
    layers = tf.keras.layers
    inputs = [tf.keras.Input((16,), name=name) for name in ("input_a", "input_b")]
    merged = layers.concatenate(inputs, name="merge")
    outputs = [layers.Dense(units, "softmax", name=f"dense_{i}")(merged) for i, units in ((2, 3), (3, 2))]
    return tf.keras.Model(inputs, outputs)


def multi_input_output_model() -> Any:
    """A model of two inputs of their own sizes, each with an output."""
    layers = tf.keras.layers
    a, b = tf.keras.Input((3,), name="input_a"), tf.keras.Input((5,), name="input_b")
    first, second = (layers.Dense(7, name=f"dense_{i + 1}")(x) for i, x in enumerate((a, b)))
    return tf.keras.Model([a, b], [second, layers.Dropout(0.5, name="dropout")(first)])


# --------------------------------------------------------------------------------------------------- data


def get_multi_inputs_multi_outputs_data() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Data by names of inputs and outputs, for training and for tests."""
    train: dict[str, np.ndarray] = {}
    test: dict[str, np.ndarray] = {}
    for name, target, size, classes in (("a", "c", 16, 3), ("b", "d", 16, 2), ("m", None, 8, 2)):
        for place, (x, y) in zip(
            (train, test), get_test_data(_SAMPLES, _TESTED, (size,), classes, _SEED), strict=True
        ):
            place[f"input_{name}"] = x
            if target is not None:
                place[f"output_{target}"] = tf.keras.utils.to_categorical(y)
    return train, test


def batch_wrapper(dataset: Any, batch_size: int, distribution: Any, repeat: int | None = None) -> Any:
    """Batches of a dataset; for TPUs all of the same size."""
    dataset = dataset.repeat(repeat) if repeat else dataset
    return dataset.batch(batch_size, drop_remainder=is_tpu_strategy(distribution))


def get_dataset(distribution: Any) -> Any:
    """A hundred batches of zeros, with true values of zero."""
    data = np.zeros((10, 3), np.float32), np.zeros((10, 4), np.float32)
    return batch_wrapper(tf.data.Dataset.from_tensor_slices(data).repeat(100), 10, distribution)


def get_predict_dataset(distribution: Any) -> Any:
    """A hundred batches of zeros."""
    data = np.zeros((10, 3), np.float32)
    return batch_wrapper(tf.data.Dataset.from_tensor_slices(data).repeat(100), 10, distribution)


def convert_numpy_to_dataset_with_unknown_cardinality(inputs: Any, targets: Any = None) -> Any:
    """Batches of ten of arrays, through a filter that keeps all."""
    slices = inputs if targets is None else (inputs, targets)
    dataset = tf.data.Dataset.from_tensor_slices(slices).filter(lambda *element: True)
    return dataset.batch(10, drop_remainder=True)


# ------------------------------------------------------------------------------------------- combinations


def strategy_minus_tpu_combinations() -> list[Any]:
    """The strategies that need no TPU, in both modes."""
    return combine(distribution=strategies_minus_tpu, mode=_MODES)


def tpu_strategy_combinations() -> list[Any]:
    """The strategies of TPUs, in both modes."""
    return combine(distribution=tpu_strategies, mode=_MODES)


def tpu_strategy_combinations_graph_only() -> list[Any]:
    """The strategies of TPUs, in graphs."""
    return combine(distribution=tpu_strategies, mode=["graph"])


def all_strategy_combinations() -> list[Any]:
    """All strategies, in both modes."""
    return strategy_minus_tpu_combinations() + tpu_strategy_combinations()


def all_strategy_minus_default_and_tpu_combinations() -> list[Any]:
    """The strategies that need no TPU and are not the default, in both modes."""
    return combine(distribution=strategies_minus_default_minus_tpu, mode=_MODES)


def all_strategy_combinations_minus_default() -> list[Any]:
    """All strategies but the default, in both modes."""
    return all_strategy_minus_default_and_tpu_combinations() + tpu_strategy_combinations()


def all_strategy_combinations_plus_run_distributed() -> list[Any]:
    """All strategies in both modes, with and without functions where there is a choice."""
    both = combine(experimental_run_tf_function=[True, False])
    alone = combine(experimental_run_tf_function=[False])
    return times(strategy_minus_tpu_combinations(), both) + times(tpu_strategy_combinations(), alone)


def strategy_and_optimizer_combinations() -> list[Any]:
    """All strategies with every optimizer that they train with."""
    both = combine(optimizer=_OPTIMIZERS, experimental_run_tf_function=[True, False])
    eager = combine(
        distribution=tpu_strategies,
        mode=["eager"],
        experimental_run_tf_function=[False],
        optimizer=_V2_OPTIMIZERS,
    )
    graph = combine(
        distribution=tpu_strategies,
        mode=["graph"],
        experimental_run_tf_function=[True],
        optimizer=_OPTIMIZERS,
    )
    return times(strategy_minus_tpu_combinations(), both) + eager + graph
