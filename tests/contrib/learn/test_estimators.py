"""Estimators of tf.contrib.learn: what the oracle's programs cannot see."""

import json
import os
import pathlib
import unittest.mock

import numpy as np
import pytest

import tideflow as tf
from tideflow.contrib.learn import datasets, feeders
from tideflow.contrib.learn.experiment import Experiment
from tideflow.programs.inner.contrib import composable_models
from tideflow.train.resource_registry import register_resource

learn = tf.contrib.learn


def _model_fn(features, labels, mode):
    predictions = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer())
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return learn.ModelFnOps(mode, {"y": predictions}, loss, train_op)


def _input_fn():
    return tf.constant([[1.0], [2.0]]), tf.constant([[2.0], [4.0]])


def test_an_array_is_no_deprecated_value(tmp_path):
    """Arguments that are compared with None may be arrays."""
    x = np.ones([4, 1], np.float32)
    estimator = learn.LinearRegressor(learn.infer_real_valued_columns_from_input(x), str(tmp_path))
    assert estimator.fit(x, x, steps=2) is estimator
    assert estimator.evaluate(x, x)["global_step"] == 2


def test_a_dataset_is_an_input(tmp_path):
    def input_fn():
        return tf.data.Dataset.from_tensors(([[1.0]], [[2.0]])).repeat(3)

    estimator = learn.Estimator(_model_fn, str(tmp_path))
    estimator.fit(input_fn=input_fn)
    assert estimator.get_variable_value("global_step") == 3


def test_labels_of_classes_are_fed_as_ones():
    x, y = np.zeros([3, 1], np.float32), np.array([2, 0, 1])
    feeder = feeders.setup_train_data_feeder(x, y, n_classes=3, batch_size=3, shuffle=False, epochs=1)
    with tf.Graph().as_default():
        feeder.input_builder()
        feed = feeder.get_feed_dict_fn()
        assert feed()["output:0"].tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
        with pytest.raises(StopIteration):
            feed()


def test_streams_of_features_and_labels_end_together():
    rows = [np.array([number], np.float32) for number in range(3)]
    feeder = feeders.setup_train_data_feeder(iter(rows), iter(rows), None, batch_size=2)
    with tf.Graph().as_default():
        feeder.input_builder()
        feed = feeder.get_feed_dict_fn()
        assert [feed()["input:0"].tolist() for _ in range(2)] == [[[0], [1]], [[2]]]
    with pytest.raises(ValueError, match="Both x and y should be iterators"):
        feeders.setup_train_data_feeder(iter(rows), np.ones(3), None)


def test_features_are_divided_into_batches():
    parts = feeders.setup_predict_data_feeder(np.arange(5), 2)
    assert [part.tolist() for part in parts] == [[[0], [1]], [[2], [3]], [[4]]]
    assert [part.shape for part in feeders.setup_predict_data_feeder(iter(np.ones([3, 2])), 2)] == [
        (2, 2),
        (1, 2),
    ]


def test_irises_and_houses_come_with_the_library():
    iris, boston = datasets.load_dataset("iris"), datasets.load_dataset("boston")
    assert iris.data.shape == (150, 4) and set(iris.target) == {0, 1, 2}
    assert boston.data.shape == (506, 13) and boston.target[0] == 24.0


def test_files_are_fetched_once(tmp_path, capsys):
    source, folder = tmp_path / "source.txt", str(tmp_path / "data")
    source.write_text("words")
    base = datasets.base
    for text in ("words", "others"):  # what is there is not fetched again
        path = base.maybe_download("words.txt", folder, source.as_uri())
        source.write_text(text)
        assert pathlib.Path(path).read_text() == "words"
    assert capsys.readouterr().out == "Successfully downloaded words.txt 5 bytes.\n"


def test_functions_are_called_again_when_they_fail():
    base, calls = datasets.base, []

    def fails_twice():
        calls.append(None)
        if len(calls) < 3:
            raise OSError("once more")
        return len(calls)

    assert base.retry(initial_delay=1.0, max_delay=2.0)(fails_twice)() == 3
    with pytest.raises(OSError, match="once more"):
        calls.clear()
        base.retry(1.0, 2.0, is_retriable=lambda error: False)(fails_twice)()
    with pytest.raises(ValueError, match="factor must be >= 1"):
        base.retry(1.0, 2.0, factor=0.5)
    with pytest.raises(ValueError, match="jitter must be < 1"):
        base.retry(1.0, 2.0, jitter=1.0)


def test_sets_of_data_are_found_by_their_names():
    public = tf.contrib.learn.datasets
    made = public.base.Dataset(data=[1], target=[2])
    assert public.base.Datasets(train=made, validation=None, test=made).train.target == [2]
    assert public.synthetic.circles(10).data.shape == public.synthetic.spirals(10).data.shape == (10, 2)
    assert set(public.text_datasets.load_dbpedia(test_with_fake_data=True).train.target) == {1, 2, 3, 4, 5}
    assert sorted(datasets.DATASETS) == ["boston", "dbpedia", "iris", "mnist"]


def test_tables_shrink(tmp_path):
    (tmp_path / "table.csv").write_text("1,a\n2,b\n3,c\n")
    datasets.base.shrink_csv(str(tmp_path / "table.csv"), 2)
    assert (tmp_path / "table_small.csv").read_text().split() == ["1,a", "3,c"]


def test_a_set_that_is_not_there_says_where_it_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("TF_EXP_BASE_DIR", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="is not downloaded"):
        datasets.load_dataset("dbpedia")


def test_strings_are_taken_in_turn():
    following = tf.contrib.input_pipeline.seek_next(["a", "b"], num_epochs=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(following) for _ in range(4)] == [b"a", b"b", b"a", b"b"]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)


def test_monitors_save_and_export(tmp_path):
    columns = [tf.contrib.layers.real_valued_column("x")]
    config = learn.RunConfig(save_checkpoints_steps=1)
    estimator = learn.LinearRegressor(columns, str(tmp_path / "model"), config=config)
    export = learn.monitors.ExportMonitor(2, str(tmp_path / "exports"), exports_to_keep=1)
    counter = learn.monitors.StepCounter(every_n_steps=1, output_dir=str(tmp_path / "events"))
    estimator.fit(
        input_fn=lambda: ({"x": tf.constant([[1.0]])}, tf.constant([[2.0]])),
        steps=4,
        monitors=[export, counter],
    )
    assert os.listdir(tmp_path / "exports") == ["00000004"]
    assert os.path.basename(export.last_export_dir) == b"00000004"
    tf.contrib.learn.graph_actions.get_summary_writer(str(tmp_path / "events")).flush()
    events = tf.contrib.testing.latest_summaries(str(tmp_path / "events"))
    tags = [value.tag for event in events for value in event.summary.value]
    assert tags and set(tags) == {"global_step/sec"}


def test_an_experiment_in_a_cluster_starts_the_server_of_its_task(tmp_path, monkeypatch):
    cluster = {"ps": ["localhost:0"], "worker": ["localhost:0"]}
    task = {"type": "worker", "index": 0}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task, "environment": "cloud"}))
    started = []

    def server(*args, **kwargs):
        started.append(kwargs)
        return unittest.mock.Mock()

    monkeypatch.setattr("tideflow.contrib.learn.experiment.Server", server)
    estimator = learn.Estimator(_model_fn, str(tmp_path))
    monkeypatch.setattr(estimator, "fit", lambda **arguments: started.append(arguments["max_steps"]))
    experiment = Experiment(estimator, _input_fn, _input_fn, train_steps=3)
    experiment.train(delay_secs=0)
    assert started[0]["job_name"] == "worker" and started[1] == 3
    assert estimator.config.master == "grpc://localhost:0" and estimator.config.num_ps_replicas == 1


def test_a_predictor_of_either_kind_of_estimator(tmp_path):
    old = learn.Estimator(_model_fn, str(tmp_path / "old"))
    old.fit(input_fn=_input_fn, steps=1)

    def old_inputs():
        x = tf.placeholder(tf.float32, [None, 1])
        return learn.InputFnOps({"x": x}, None, {"x": x})

    columns = [tf.contrib.layers.real_valued_column("x")]
    linear = learn.LinearRegressor(columns, str(tmp_path / "linear"))
    linear.fit(input_fn=lambda: ({"x": tf.constant([[1.0]])}, tf.constant([[2.0]])), steps=1)
    predict = tf.contrib.predictor.from_contrib_estimator(linear, old_inputs)
    assert predict({"x": [[1.0], [2.0]]})["scores"].shape == (2,)
    core = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], str(tmp_path / "core"))
    core.train(lambda: ({"x": tf.constant([[1.0]])}, tf.constant([[2.0]])), steps=1)

    def receiver():
        x = tf.placeholder(tf.float32, [None, 1])
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    answer = tf.contrib.predictor.from_estimator(core, receiver, output_key="predict")
    assert answer({"x": [[1.0]]})["predictions"].shape == (1, 1)
    with pytest.raises(TypeError, match="from_contrib_estimator"):
        tf.contrib.predictor.from_estimator(old, receiver)
    with pytest.raises(TypeError, match="from_estimator"):
        tf.contrib.predictor.from_contrib_estimator(core, old_inputs)


def _composed(model, head, columns, tmp_path):
    """An estimator of a part of a model."""

    def model_fn(features, labels, mode):
        logits = model.build_model(features, columns, is_training=mode == learn.ModeKeys.TRAIN)

        def train(loss):
            with tf.control_dependencies(model.get_train_step(loss)):
                return tf.train.get_global_step().assign_add(1).op

        return head.create_model_fn_ops(features, mode, labels, train, logits=logits)

    return learn.Estimator(model_fn, str(tmp_path))


def _languages():
    language = tf.SparseTensor(values=["english"], indices=[[0, 0]], dense_shape=[1, 1])
    return {"age": tf.constant([[1.0]]), "language": language}, tf.constant([[1]])


@pytest.mark.parametrize("joint", [False, True])
def test_linear_parts_of_models_learn(joint, tmp_path):
    layers = tf.contrib.layers
    columns = [layers.sparse_column_with_hash_bucket("language", 100)]
    if not joint:
        columns.append(layers.real_valued_column("age"))
    model = composable_models.LinearComposableModel(1, _joint_weights=joint, gradient_clip_norm=5.0)
    estimator = _composed(model, learn.multi_class_head(2), columns, tmp_path)
    assert model.get_scope_name() == "linear"
    losses = []
    for steps in (1, 100):
        estimator.fit(input_fn=_languages, steps=steps)
        losses.append(estimator.evaluate(input_fn=_languages, steps=1)["loss"])
    assert losses[1] < losses[0] / 2
    weights = model.get_weights(str(tmp_path))
    assert joint or sorted(weights) == ["linear/age/weight", "linear/language/weights"]
    assert model.get_bias(str(tmp_path)).shape == (1,)


def test_layers_of_models_learn(tmp_path):
    iris = datasets.load_iris()
    features = {"measures": iris.data.astype(np.float32)}
    input_fn = lambda: ({key: tf.constant(each) for key, each in features.items()}, tf.constant(iris.target))
    model = composable_models.DNNComposableModel(3, [5, 4], dropout=0.1, optimizer="Adagrad")
    columns = [tf.contrib.layers.real_valued_column("measures", dimension=4)]
    estimator = _composed(model, learn.multi_class_head(3), columns, tmp_path)
    losses = []
    for steps in (1, 60):
        estimator.fit(input_fn=input_fn, steps=steps)
        losses.append(estimator.evaluate(input_fn=input_fn, steps=1)["loss"])
    assert losses[1] < losses[0]
    assert [w.shape for w in model.get_weights(str(tmp_path))] == [(4, 5), (5, 4), (4, 3)]
    assert [b.shape for b in model.get_bias(str(tmp_path))] == [(5,), (4,), (3,)]


def test_feeds_are_run_after_resources_are_made():
    with tf.Graph().as_default():
        is_made = tf.Variable(False, collections=[])
        handle = tf.constant("handle")
        register_resource(handle, tf.assign(is_made, True).op, tf.is_variable_initialized(is_made))
        given = tf.placeholder(tf.float32, [])
        fetched = {"twice": 2.0 * given, "made": is_made.value()}
        results = list(learn.graph_actions.run_feeds_iter(fetched, [{given: 1.0}, {given: 2.0}]))
        assert [result["twice"] for result in results] == [2.0, 4.0] and results[0]["made"]
