"""Models under strategies, beyond what is compared with TensorFlow: every entry, files, workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tests.cluster.clusters import free_addresses
from tideflow.eager.context import eager_mode

_ROOT = Path(__file__).parents[2]
_STRATEGIES = {
    "mirrored": lambda: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
    "central storage": lambda: tf.distribute.experimental.CentralStorageStrategy(
        ["/cpu:0", "/cpu:1"], "/cpu:0"
    ),
}


@pytest.fixture(autouse=True)
def fresh():
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


@pytest.fixture(params=_STRATEGIES)
def strategy(request):
    return _STRATEGIES[request.param]()


def data():
    rng = np.random.RandomState(0)
    x = rng.randn(16, 3).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


def network():
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(4, "tanh", input_shape=(3,)), layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(0.05), "mse", metrics=["mae"])
    return model


def filled(model):
    shapes = [weight.shape for weight in model.get_weights()]
    model.set_weights([np.random.RandomState(i).rand(*shape) for i, shape in enumerate(shapes)])
    return model


def everything(model):
    """What a model does with a batch, batches, a generator and files."""
    x, y = data()
    found = [model.train_on_batch(x, y), model.test_on_batch(x, y), model.predict_on_batch(x)]
    model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0, validation_split=0.25)
    model.fit_generator(iter([(x, y)] * 2), steps_per_epoch=2, verbose=0)
    return [*found, model.evaluate(x, y, 4, 0), model.predict(x, 5), *model.get_weights()]


def test_replicas_learn_what_one_device_does(strategy):
    expected = everything(filled(network()))
    with strategy.scope():
        model = network()
    for mine, wanted in zip(everything(filled(model)), expected, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=2e-4, atol=2e-5)
    copies = strategy.experimental_local_results(model.weights[0])
    first, *others = tf.keras.backend.batch_get_value(list(copies))
    assert all(np.array_equal(first, other) for other in others)


def test_files_and_callbacks(strategy, tmp_path):
    pytest.importorskip("h5py")
    x, y = data()
    with strategy.scope():
        model = filled(network())
    rates = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))
    kept = tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "kept"), save_weights_only=True)
    history = model.fit(x, y, 4, 2, 0, [rates, kept])
    np.testing.assert_allclose(history.history["lr"], [0.1, 0.05])
    model.save(str(tmp_path / "model.h5"))
    alone = tf.keras.models.load_model(str(tmp_path / "model.h5"))
    np.testing.assert_allclose(alone.predict(x), model.predict(x), rtol=1e-5)
    for mine, wanted in zip(alone.optimizer.get_weights(), model.optimizer.get_weights(), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-5)
    trained = model.get_weights()
    model.set_weights([0 * weight for weight in trained])
    model.load_weights(str(tmp_path / "kept"))
    for mine, wanted in zip(model.get_weights(), trained, strict=True):
        np.testing.assert_array_equal(mine, wanted)


def test_replicas_that_take_turns_keep_their_losses_apart():
    """Each replica waits for the others inside the model, before its losses are added."""
    x, y = data()

    def made():
        layers = tf.keras.layers
        hidden = layers.Dense(4, activity_regularizer=tf.keras.regularizers.l2(0.1), input_shape=(3,))
        normal = layers.BatchNormalization()
        model = tf.keras.Sequential([hidden, normal, layers.Dense(1)])
        model.compile("sgd", "mse")
        return filled(model)

    with _STRATEGIES["mirrored"]().scope():
        model = made()
    halves = [made().train_on_batch(x[i : i + 8], y[i : i + 8]) for i in (0, 8)]
    np.testing.assert_allclose(model.train_on_batch(x, y), np.mean(halves), rtol=1e-5)


def run_workers(*arguments):
    """What two workers print, and how they end."""
    addresses = free_addresses(2)
    workers = []
    for index in range(2):
        task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TF_CONFIG": json.dumps(task)}
        command = [sys.executable, "-m", "tests.keras.strategy_worker", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        workers.append(subprocess.Popen(command, env=environment, cwd=_ROOT, **pipes))
    try:
        return [(*worker.communicate(timeout=300), worker.returncode) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


@pytest.mark.parametrize("mode", ["graph", "eager"])
def test_two_workers_learn_what_one_device_does(mode):
    x, y = data()
    model = filled(network())
    history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    expected = [*history.history["loss"], *history.history["mean_absolute_error"]]
    expected += [float(weight.sum()) for weight in model.get_weights()]
    for out, err, code in run_workers(mode):
        assert code == 0, err
        np.testing.assert_allclose(json.loads(out), expected, rtol=1e-4)


def test_a_lost_worker_is_told_of():
    (_, err, code), (_, _, killed) = run_workers("graph", "killed")
    assert killed == 9 and code == 1
    assert "UnavailableError" in err


def test_what_older_loops_do_not_train_is_refused(strategy):
    keras = tf.keras
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
        for given, words in (
            ({"sample_weight_mode": "temporal"}, "sample_weight_mode is not supported"),
            ({"weighted_metrics": ["mae"]}, "weighted_metrics is not supported"),
        ):
            with pytest.raises(NotImplementedError, match=words):
                model.compile("sgd", "mse", **given)
        with pytest.raises(ValueError, match="target_tensors is not supported"):
            model.compile("sgd", "mse", target_tensors=[tf.zeros([2, 1])])
        with pytest.raises(ValueError, match="created without `input_shape`"):
            keras.Sequential([keras.layers.Dense(1)]).compile("sgd", "mse")


def test_older_loops_do_not_run_eagerly_under_a_strategy():
    keras = tf.keras
    with eager_mode(), tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
        with pytest.raises(ValueError, match="enabling `run_eagerly`"):
            model.compile("sgd", "mse", run_eagerly=True, experimental_run_tf_function=False)


def test_learning_rates_are_set_of_optimizers_of_keras_alone(strategy):
    keras = tf.keras
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
        model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    with pytest.raises(ValueError, match="must specify a Keras Optimizer V2"):
        model.fit(*data(), verbose=0, callbacks=[keras.callbacks.ReduceLROnPlateau()])


def test_a_loss_by_itself_has_no_mean_over_the_batch_of_a_replica(strategy):
    values = np.array([1.0, 0.0], np.float32)
    with strategy.scope():
        for loss in (tf.keras.losses.MeanSquaredError(), tf.keras.losses.Hinge("sum_over_batch_size")):
            with pytest.raises(ValueError, match=r"Please use `tf\.keras\.losses\.Reduction\.SUM`"):
                loss(values, values)
        assert tf.keras.losses.MeanSquaredError("sum")(values, values).shape == ()


def test_inputs_of_a_fixed_size_are_divided(strategy):
    with strategy.scope():
        assert tf.keras.Input((3,), batch_size=10).shape.as_list() == [5, 3]
        with pytest.raises(ValueError, match="argument value 5 cannot be divisible by number of replicas 2"):
            tf.keras.Input((3,), batch_size=5)
