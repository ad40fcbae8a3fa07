"""`tensorflow.python.keras.distribute.keras_correctness_test_base`: tests that a model learns the same with a
strategy as without.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
from absl.testing import parameterized

import tideflow as tf
from tideflow.graph import nest
from tideflow.programs.inner.keras.distribution_names import global_batch_size_supported, is_tpu_strategy
from tideflow.programs.inner.testing import strategy_combinations as named
from tideflow.programs.inner.testing.distribution_combinations import combine, times

_RANDOM_SEED = 1337
_EVAL_STEPS = 20
_GLOBAL_BATCH_SIZE = 64

all_strategies = [
    named.default_strategy,
    named.one_device_strategy,
    named.mirrored_strategy_with_gpu_and_cpu,
    named.mirrored_strategy_with_two_gpus,
    named.tpu_strategy,
    named.tpu_strategy_one_step,
]

# ------------------------------------------------------------------------------------------- combinations


def eager_mode_test_configuration() -> list[Any]:
    """Arrays and datasets, with and without validation, in eager mode."""
    return combine(mode="eager", use_numpy=[True, False], use_validation_data=[True, False])


def graph_mode_test_configuration() -> list[Any]:
    """Arrays and datasets, with and without validation, in graphs."""
    return combine(mode="graph", use_numpy=[True, False], use_validation_data=[True, False])


def all_strategy_and_input_config_combinations() -> list[Any]:
    """All strategies with all kinds of data."""
    strategies = combine(distribution=all_strategies, experimental_run_tf_function=[True, False])
    return times(strategies, eager_mode_test_configuration() + graph_mode_test_configuration())


def strategy_minus_tpu_and_input_config_combinations_eager() -> list[Any]:
    """The strategies that need no TPU with all kinds of data, in eager mode."""
    return times(combine(distribution=named.strategies_minus_tpu), eager_mode_test_configuration())


def strategies_for_embedding_models() -> list[Any]:
    """The strategies for models that train for long: not the default."""
    return [each for each in all_strategies if each is not named.default_strategy]


def test_combinations_for_embedding_model() -> list[Any]:
    """Strategies and data for models that train for long."""
    strategies = strategies_for_embedding_models()
    without_tpu = [each for each in strategies if not each.required_tpu]
    graph = combine(distribution=strategies, experimental_run_tf_function=[True, False])
    eager = combine(distribution=without_tpu, experimental_run_tf_function=[False])
    return times(graph, graph_mode_test_configuration()) + times(eager, eager_mode_test_configuration())


def test_combinations_with_tpu_strategies() -> list[Any]:
    """The strategies of TPUs with all kinds of data, in graphs."""
    return times(combine(distribution=list(named.tpu_strategies)), graph_mode_test_configuration())


# --------------------------------------------------------------------------------------------------- data


class MaybeDistributionScope:
    """The scope of a strategy, or none.

    Args:
      distribution: The strategy; None for no scope.
    """

    def __init__(self, distribution: Any):
        self._scope = distribution.scope() if distribution else None

    def __enter__(self) -> None:
        if self._scope is not None:
            self._scope.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._scope is not None:
            self._scope.__exit__(kind, value, trace)


def batch_wrapper(dataset: Any, batch_size: int, repeat: int | None = None) -> Any:
    """Batches of a dataset, or of its repetitions."""
    return (dataset.repeat(repeat) if repeat else dataset).batch(batch_size)


def get_batch_size(global_batch_size: int, distribution: Any) -> int:
    """The size of a batch as a strategy counts it."""
    if distribution and not global_batch_size_supported(distribution):
        return global_batch_size // distribution.num_replicas_in_sync
    return global_batch_size


def get_data_size(data: Any) -> int:
    """The number of samples of an array, or of several."""
    return len(nest.flatten(data)[0])


def get_shapes(data: Any) -> Any:
    """The shapes of arrays; None of data that has none."""
    if all(hasattr(array, "shape") for array in nest.flatten(data)):
        return nest.map_structure(lambda array: array.shape, data)
    return None


def _steps(samples: int) -> int:
    return -(-samples // _GLOBAL_BATCH_SIZE)


def get_correctness_test_inputs(
    use_numpy: bool,
    use_validation_data: bool,
    with_distribution: Any,
    x_train: Any,
    y_train: Any,
    x_eval: Any,
    y_eval: Any,
    x_predict: Any,
    training_epochs: int,
) -> tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any]]:
    """The arguments of `fit`, of `evaluate` (None where `fit` validates) and of `predict`."""
    size = get_batch_size(_GLOBAL_BATCH_SIZE, with_distribution)
    train: dict[str, Any] = {"epochs": training_epochs, "shuffle": False}
    if use_numpy:
        train.update(batch_size=size, x=x_train, y=y_train)
        predict: dict[str, Any] = {"x": x_predict}
        evaluate = {"batch_size": size, "x": x_eval, "y": y_eval}
        validation: dict[str, Any] = {"validation_data": (x_eval, y_eval)}
    else:
        slices = tf.data.Dataset.from_tensor_slices
        batches = batch_wrapper(slices((x_train, y_train)), size, repeat=training_epochs)
        train.update(batch_size=None, x=batches, y=None, steps_per_epoch=_steps(get_data_size(x_train)))
        tested = batch_wrapper(slices((x_eval, y_eval)), size)
        evaluate = {"batch_size": None, "x": tested, "y": None, "steps": _steps(get_data_size(x_eval))}
        validation = {"validation_data": tested, "validation_steps": 5}
        whole = get_batch_size(get_data_size(x_predict), with_distribution)
        predict = {"steps": 1, "x": batch_wrapper(slices(x_predict), whole)}
    return ({**train, **validation}, None, predict) if use_validation_data else (train, evaluate, predict)


# ------------------------------------------------------------------------------------- training, comparing


def fit_eval_and_predict(
    initial_weights: Any,
    input_fn: Callable[[], tuple[Any, Any, Any]],
    model_fn: Callable[..., Any],
    experimental_run_tf_function: bool | None = None,
    distribution: Any = None,
    is_stateful_model: bool = False,
) -> dict[str, Any]:
    """What a model gives while it is trained twice: histories, results, weights and predictions."""
    train, evaluate, predict = input_fn()
    model = model_fn(
        experimental_run_tf_function=experimental_run_tf_function,
        initial_weights=initial_weights,
        distribution=distribution,
        input_shapes=get_shapes(train["x"]),
    )
    found: dict[str, Any] = {}
    for time in (1, 2):
        found[f"training_history_{time}"] = model.fit(**train).history
        if evaluate is not None:
            found[f"eval_result_{time}"] = model.evaluate(**evaluate)
        found[f"weights_{time}"] = model.get_weights()
        if time == 1 and predict is not None:
            for i in range(3 if is_stateful_model else 1):
                found[f"predict_result_{i}"] = model.predict(**predict)
    return found


def compare_results(
    results_with_ds: dict[str, Any],
    results_without_ds: dict[str, Any],
    distribution: Any,
    testcase: Any,
    partial_last_batch: str | None = None,
) -> None:
    """Fails a test unless a model learned the same with a strategy as without."""
    uneven = partial_last_batch == "train_and_eval"
    default, relaxed = (1e-3, 1e-3) if uneven else (1e-5, 1e-4)
    without_strategy = type(tf.distribute.get_strategy())
    is_relaxed = isinstance(distribution, (tf.distribute.MirroredStrategy, without_strategy))
    for key in sorted(results_with_ds):
        if key.startswith("training_history") and _counts_several_steps(distribution):
            continue
        loose = is_relaxed and key.startswith(("weights_", "predict_result"))
        values = [results_with_ds[key], results_without_ds[key]]
        if partial_last_batch is not None:
            values = [_without_loss(key, value) for value in values]
        tolerance = relaxed if loose else default
        testcase.assertAllClose(*values, atol=tolerance, rtol=tolerance, msg=f"Fail to assert {key}.")


def _counts_several_steps(distribution: Any) -> bool:
    return is_tpu_strategy(distribution) and distribution.extended.steps_per_run > 1


def _without_loss(key: str, value: Any) -> Any:
    """A result without the loss of evaluation, which a smaller last batch changes."""
    if key.startswith("eval_result"):
        return value[1:]
    return {**value, "val_loss": 0} if key.startswith("training_history") else value


def should_skip_tpu_with_eager(distribution: Any) -> bool:
    """Whether this is a strategy of TPUs in eager mode."""
    return tf.executing_eagerly() and is_tpu_strategy(distribution)


class LearningRateBatchScheduler(tf.keras.callbacks.Callback):
    """Another learning rate for each batch.

    Args:
      update_freq: How many batches lie between two changes; one if None.
    """

    def __init__(self, update_freq: int | None = None):
        super().__init__()
        self._update_freq = update_freq

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Sets the learning rate."""
        if not self._update_freq or batch % self._update_freq == 0:
            tf.keras.backend.set_value(self.model.optimizer.lr, 0.001 * (batch % 10))


class TestDistributionStrategyCorrectnessBase(tf.test.TestCase, parameterized.TestCase):
    """Trains the model of `get_model` with a strategy and without, and compares."""

    use_numpy = use_validation_data = with_batch_norm = False

    def set_up_test_config(
        self, use_numpy: bool = False, use_validation_data: bool = False, with_batch_norm: bool = False
    ) -> None:
        """Seeds, and what the test is of."""
        self.use_numpy = use_numpy
        self.use_validation_data = use_validation_data
        self.with_batch_norm = with_batch_norm
        tf.keras.backend.set_image_data_format("channels_last")
        np.random.seed(_RANDOM_SEED)
        tf.set_random_seed(_RANDOM_SEED)

    def get_data(self) -> tuple[Any, Any, Any]:
        """Inputs, true values, and inputs of predictions."""
        x = np.random.randint(0, 2, 10000).reshape(-1, 1).astype(np.float32)
        return x, x.copy(), None

    def get_data_with_partial_last_batch(self) -> tuple[Any, Any, Any, Any, Any]:
        """The same with data of evaluation, where all last batches are smaller."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_data_with_partial_last_batch_eval(self) -> tuple[Any, Any, Any, Any, Any]:
        """The same, where the last batch of evaluation is smaller."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_input_for_correctness_test(self, **kwargs: Any) -> tuple[Any, Any, Any]:
        """The arguments of `fit`, `evaluate` and `predict`."""
        return get_correctness_test_inputs(**kwargs)

    def get_input_for_dynamic_lr_test(self, **kwargs: Any) -> tuple[Any, Any, Any]:
        """The same for a test of learning rates."""
        return kwargs, None, None

    def get_model(
        self,
        distribution: Any = None,
        experimental_run_tf_function: bool | None = None,
        input_shapes: Any = None,
    ) -> Any:
        """The model, compiled."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def _data_of(self, partial_last_batch: str | None) -> tuple[Any, Any, Any, Any, Any]:
        if partial_last_batch == "eval":
            return self.get_data_with_partial_last_batch_eval()
        if partial_last_batch == "train_and_eval":
            return self.get_data_with_partial_last_batch()
        x, y, predicted = self.get_data()
        return x, y, x, y, predicted

    def _with_and_without(
        self, distribution: Any, x_train: Any, input_fn: Callable[[Any], Any], **given: Any
    ) -> list[dict[str, Any]]:
        as_function = given["experimental_run_tf_function"]
        model = self.get_model(experimental_run_tf_function=as_function, input_shapes=get_shapes(x_train))
        weights = model.get_weights()

        def results(strategy: Any) -> dict[str, Any]:
            return fit_eval_and_predict(
                weights, lambda: input_fn(strategy), self.get_model, distribution=strategy, **given
            )

        return [results(distribution), results(None)]

    def run_correctness_test(
        self,
        distribution: Any,
        use_numpy: bool,
        use_validation_data: bool,
        experimental_run_tf_function: bool | None = None,
        with_batch_norm: bool = False,
        is_stateful_model: bool = False,
        partial_last_batch: str | None = None,
        training_epochs: int = 2,
    ) -> None:
        """Fails unless the model learns the same; with batches normalized on each replica, unless not."""
        with self.cached_session():
            self.set_up_test_config(use_numpy, use_validation_data, with_batch_norm)
            x_train, y_train, x_eval, y_eval, x_predict = self._data_of(partial_last_batch)

            def inputs(strategy: Any) -> Any:
                return self.get_input_for_correctness_test(
                    use_numpy=use_numpy,
                    use_validation_data=use_validation_data,
                    with_distribution=strategy,
                    x_train=x_train,
                    y_train=y_train,
                    x_eval=x_eval,
                    y_eval=y_eval,
                    x_predict=x_predict,
                    training_epochs=training_epochs,
                )

            found = self._with_and_without(
                distribution,
                x_train,
                inputs,
                experimental_run_tf_function=experimental_run_tf_function,
                is_stateful_model=is_stateful_model,
            )
            if with_batch_norm and distribution.num_replicas_in_sync > 1:
                with self.assertRaises(AssertionError):
                    compare_results(*found, distribution, self, partial_last_batch)
            else:
                compare_results(*found, distribution, self, partial_last_batch)

    def run_dynamic_lr_test(
        self, distribution: Any, experimental_run_tf_function: bool | None = None
    ) -> None:
        """Fails unless the model learns the same while the learning rate changes."""
        with self.cached_session():
            self.set_up_test_config()
            x_train, y_train, _ = self.get_data()
            several = _counts_several_steps(distribution)
            every = distribution.extended.steps_per_run if several else None

            def inputs(strategy: Any) -> Any:
                return self.get_input_for_dynamic_lr_test(
                    x=x_train,
                    y=y_train,
                    batch_size=get_batch_size(_GLOBAL_BATCH_SIZE, strategy),
                    shuffle=False,
                    epochs=2,
                    callbacks=[LearningRateBatchScheduler(every)],
                    validation_data=(x_train, y_train),
                )

            found = self._with_and_without(
                distribution, x_train, inputs, experimental_run_tf_function=experimental_run_tf_function
            )
            compare_results(*found, distribution, self)


class TestDistributionStrategyEmbeddingModelCorrectnessBase(TestDistributionStrategyCorrectnessBase):
    """The same for models of words."""

    def get_data(
        self,
        count: int = _GLOBAL_BATCH_SIZE * _EVAL_STEPS,
        min_words: int = 5,
        max_words: int = 10,
        max_word_id: int = 19,
        num_classes: int = 2,
    ) -> tuple[Any, Any, Any]:
        """Sequences of words, each class with words of its own likelihood, and the classes."""
        chances = [np.abs(np.random.randn(max_word_id)) for _ in range(num_classes)]
        chances = [each / each.sum() for each in chances]
        features, labels = [], []
        for _ in range(count):
            label = np.random.randint(0, num_classes)
            words = np.random.randint(min_words, max_words)
            labels.append(label)
            features.append(np.random.choice(max_word_id, size=words, p=chances[label]))
        x = tf.keras.preprocessing.sequence.pad_sequences(features, maxlen=max_words).astype(np.float32)
        return x, np.asarray(labels, np.int32).reshape(count, 1), x[:_GLOBAL_BATCH_SIZE]
