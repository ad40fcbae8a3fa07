"""Estimators, end to end on small models: what files, metrics, predictions and exports they make."""

import os

import numpy as np
import pytest

import tideflow as tf

X = np.random.RandomState(0).randn(16, 2).astype(np.float32)
Y = X @ np.float32([[1.0], [-2.0]])


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(4)


def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    out = tf.matmul(features["x"], w)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
    loss = tf.losses.mean_squared_error(labels, out)
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, out)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


@pytest.fixture
def estimator(tmp_path):
    config = tf.estimator.RunConfig(tmp_path / "model", tf_random_seed=1, save_checkpoints_steps=10)
    yield tf.estimator.Estimator(model_fn, config=config, params={"rate": 0.2})
    tf.summary.FileWriterCache.clear()


@pytest.fixture
def serving():
    return tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 2])}
    )


def test_training_goes_on_where_it_stopped(estimator):
    estimator.train(input_fn, steps=15)
    assert estimator.train(input_fn, max_steps=15) is estimator  # there already
    estimator.train(input_fn, steps=15)
    assert estimator.get_variable_value("global_step") == 30
    np.testing.assert_allclose(estimator.get_variable_value("w"), [[1.0], [-2.0]], atol=0.05)
    assert os.path.basename(estimator.latest_checkpoint()) == "model.ckpt-30"
    metrics = estimator.evaluate(input_fn, steps=4)
    assert metrics["mae"] < 0.05 and metrics["global_step"] == 30
    assert (
        estimator.evaluate(input_fn, 1, checkpoint_path=estimator.model_dir + "/model.ckpt-15")["mae"]
        > metrics["mae"]
    )


def test_a_saved_model_predicts_what_the_estimator_does(estimator, serving, tmp_path):
    estimator.train(input_fn, steps=10)
    points = tf.estimator.inputs.numpy_input_fn({"x": X[:3]}, shuffle=False, batch_size=2)
    predicted = [prediction["out"] for prediction in estimator.predict(points)]
    path = estimator.export_saved_model(tmp_path / "out", serving).decode()
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.loader.load(session, ["serve"], path).signature_def["serving_default"]
        given, out = signature.inputs["x"].name, signature.outputs["out"].name
        np.testing.assert_allclose(session.run(out, {given: X[:3]}), predicted, rtol=1e-6)
    again = tf.estimator.Estimator(model_fn, tmp_path / "again", params={"rate": 1e-9}, warm_start_from=path)
    again.train(input_fn, steps=1)
    np.testing.assert_allclose(again.get_variable_value("w"), estimator.get_variable_value("w"), rtol=1e-5)


def test_the_best_export_is_kept_and_old_ones_go(estimator, serving, monkeypatch):
    seconds = iter(range(1_700_000_000, 1_700_100_000))
    monkeypatch.setattr("tideflow.estimator.export.signatures.time.time", lambda: next(seconds))
    exporters = [
        tf.estimator.LatestExporter("latest", serving, exports_to_keep=1),
        tf.estimator.BestExporter(
            "best", serving, compare_fn=lambda best_eval_result, current_eval_result: False
        ),
    ]
    evaluation = tf.estimator.EvalSpec(input_fn, 2, exporters=exporters, throttle_secs=0)
    metrics, paths = tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(input_fn, max_steps=25), evaluation
    )
    assert metrics["global_step"] == 25
    assert os.listdir(f"{estimator.model_dir}/export/latest") == [os.path.basename(paths[0]).decode()]
    assert paths[1] is None and not os.path.exists(f"{estimator.model_dir}/export/best")


def test_a_tpu_estimator_runs_on_the_cpu(tmp_path):
    sizes = []

    def tpu_model_fn(features, labels, mode, params):
        sizes.append((mode, params.get("batch_size"), params["use_tpu"]))
        spec = model_fn(features, labels, mode, params)
        out = tf.zeros_like(labels)
        return tf.estimator.tpu.TPUEstimatorSpec(
            mode,
            loss=spec.loss,
            train_op=spec.train_op,
            eval_metrics=(lambda a, b: {"far": tf.metrics.mean_absolute_error(a, b)}, [labels, out]),
            host_call=(lambda loss: tf.identity(loss), {"loss": spec.loss}),
        )

    def tpu_input_fn(params):
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(params["batch_size"])

    config = tf.estimator.tpu.RunConfig(tf.estimator.tpu.TPUConfig("60s"), model_dir=str(tmp_path))
    arguments = {"params": {"rate": 0.1}, "train_batch_size": 8, "eval_batch_size": 4}
    estimator = tf.contrib.tpu.TPUEstimator(tpu_model_fn, config=config, use_tpu=False, **arguments)
    estimator.train(tpu_input_fn)
    metrics = estimator.evaluate(tpu_input_fn)
    assert metrics["global_step"] == 2 and metrics["far"] == pytest.approx(np.abs(Y).mean(), rel=1e-5)
    assert sizes == [("train", 8, False), ("eval", 4, False)]
    with pytest.raises(RuntimeError, match="Cannot find any TPU cores"):
        tf.estimator.tpu.TPUEstimator(tpu_model_fn, config=config, **arguments).train(tpu_input_fn)
    with pytest.raises(ValueError, match="`config` must be provided"):
        tf.estimator.tpu.TPUEstimator(tpu_model_fn, use_tpu=False)
    for bad in (
        {"iterations_per_loop": 0},
        {"num_cores_per_replica": 3},
        {"input_partition_dims": [1, 2, 3]},
    ):
        with pytest.raises(ValueError):
            tf.estimator.tpu.TPUConfig(**bad)


def test_a_head_that_users_write_works_with_canned_models(tmp_path):
    head = tf.estimator.MultiHead(
        [tf.estimator.RegressionHead(name="a"), tf.estimator.BinaryClassHead(name="b")]
    )

    def both():
        labels = {"a": Y, "b": (Y > 0).astype(np.int64)}
        return tf.data.Dataset.from_tensor_slices(({"x": X}, labels)).repeat().batch(8)

    column = tf.feature_column.numeric_column("x", [2])
    estimator = tf.estimator.DNNEstimator(head, [4], [column], str(tmp_path), "Adam")
    estimator.train(both, steps=3)
    assert {"loss/a", "loss/b", "accuracy/b", "average_loss/a"} <= set(estimator.evaluate(both, steps=1))
    assert ("a", "predictions") in next(estimator.predict(both))
