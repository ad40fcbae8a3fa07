"""Training functions: their inputs, models exported with the transform inside, warm starts, clusters."""

import dataclasses
import os

import numpy as np
import pyarrow as pa
import pytest

import tideflow as tf
import tideflow.pipeline.transform as tft
from tideflow.graph import errors
from tideflow.graph.control_flow_proto import CondContextDef
from tideflow.io import saved_models
from tideflow.pipeline import trainer
from tideflow.pipeline.data.examples import serialize_examples
from tideflow.pipeline.data.sources import Blocks
from tideflow.pipeline.transform.run import analyze_and_transform

SPEC = {
    "x": tf.io.FixedLenFeature([], tf.float32),
    "word": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def rows(words=(b"a", b"b", b"c"), count=64):
    random = np.random.RandomState(1)
    x = random.randn(count).astype(np.float32)
    columns = {
        "x": pa.array([[v] for v in x], pa.list_(pa.float32())),
        "word": pa.array([[words[i % len(words)]] for i in range(count)], pa.list_(pa.binary())),
        "label": pa.array([[int(v > 0)] for v in x], pa.list_(pa.int64())),
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def preprocessing_fn(inputs):
    words = tft.compute_and_apply_vocabulary(inputs["word"], vocab_filename="words", num_oov_buckets=1)
    return {"z": tft.scale_to_z_score(inputs["x"]), "word": words, "label": inputs["label"]}


def transformed(folder, block):
    """The arguments of a training function on these rows."""
    analyze_and_transform(
        {"train": [Blocks([block])], "eval": [Blocks([block])]},
        SPEC,
        preprocessing_fn,
        folder / "transform",
        folder / "examples",
        workers=1,
    )
    return trainer.FnArgs(
        train_files=[str(folder / "examples/Split-train")],
        eval_files=[str(folder / "examples/Split-eval")],
        transform_output=str(folder / "transform"),
        serving_model_dir=str(folder / "serving"),
        model_run_dir=str(folder / "run"),
        train_steps=3,
    )


def columns_of(output):
    size = output.vocabulary_size_by_name("words") + 1
    word = tf.feature_column.categorical_column_with_identity("word", size)
    return [tf.feature_column.numeric_column("z"), tf.feature_column.embedding_column(word, 2)]


def estimator_fn(fn_args):
    output = tft.TFTransformOutput(fn_args.transform_output)
    warm_start = None
    if fn_args.base_model:
        embeddings = {"words": ".*/word_embedding/embedding_weights"}
        warm_start = trainer.warm_start_settings(fn_args.base_model, output, embeddings, num_oov_buckets=1)
    model = tf.estimator.DNNClassifier(
        [4],
        columns_of(output),
        model_dir=fn_args.model_run_dir,
        warm_start_from=warm_start,
        config=tf.estimator.RunConfig(tf_random_seed=1, save_summary_steps=1),
    )
    train = trainer.input_fn(fn_args.train_files, output, label="label", batch_size=16, seed=1)
    model.train(train, max_steps=fn_args.train_steps)
    model.export_saved_model(fn_args.serving_model_dir, trainer.serving_input_receiver_fn(output, ["label"]))
    return model


def exported(fn_args):
    (version,) = os.listdir(fn_args.serving_model_dir)
    return os.path.join(fn_args.serving_model_dir, version)


def predictions(folder, block, key="serving_default"):
    """What a SavedModel says of raw rows."""
    with tf.Graph().as_default(), tf.Session() as session:
        message = tf.saved_model.load(session, ["serve"], folder)
        signature = message.signature_def[key]
        (examples,) = signature.inputs.values()
        raw = serialize_examples(block.drop_columns(["label"]))
        return session.run({k: v.name for k, v in signature.outputs.items()}, {examples.name: raw})


EMBEDDING = "dnn/input_from_feature_columns/input_layer/word_embedding/embedding_weights"


def test_an_estimator_begins_with_an_earlier_model_whose_vocabulary_was_another(tmp_path):
    first, second = tmp_path / "1", tmp_path / "2"
    old_args = transformed(first, rows((b"a", b"b", b"c")))
    old = trainer.run_trainer(estimator_fn, old_args)
    assert any(name.startswith("events") for name in os.listdir(old_args.model_run_dir))
    scores = predictions(exported(old_args), rows(), "predict")["probabilities"]
    assert scores.shape == (64, 2)
    new_args = transformed(second, rows((b"d", b"c", b"a")))
    new_args.base_model, new_args.train_steps = exported(old_args), 1
    settings = trainer.warm_start_settings(
        new_args.base_model,
        tft.TFTransformOutput(new_args.transform_output),
        {"words": ".*/embedding_weights"},
        num_oov_buckets=1,
    )
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable(EMBEDDING, [4, 2])
        trainer.warm_start_variables(settings)
        session.run(tf.global_variables_initializer())
        begun = session.run(variable)
    words = [
        tft.TFTransformOutput(a.transform_output).vocabulary_by_name("words") for a in (old_args, new_args)
    ]
    before = old.get_variable_value(EMBEDDING)
    for row, word in enumerate(words[1]):
        expected = before[words[0].index(word)] if word in words[0] else [0, 0]
        np.testing.assert_array_equal(begun[row], expected)
    np.testing.assert_array_equal(begun[3], [0, 0])  # the bucket of other words, as TensorFlow begins it
    trainer.run_trainer(estimator_fn, new_args)
    assert predictions(exported(new_args), rows(), "predict")["probabilities"].shape == (64, 2)
    with pytest.raises(ValueError, match="has no variable like"):
        trainer.warm_start_settings(
            new_args.base_model, tft.TFTransformOutput(new_args.transform_output), {"words": "x"}
        )
    with pytest.raises(errors.NotFoundError, match="has no vocabulary"):
        trainer.warm_start_settings(
            new_args.base_model,
            tft.TFTransformOutput(new_args.transform_output),
            {"verbs": ".*/embedding_weights"},
        )


def keras_fn(fn_args):
    output = tft.TFTransformOutput(fn_args.transform_output)
    z = tf.keras.Input([1], name="z")
    hidden = tf.keras.layers.Dense(3, activation="tanh")(z)
    model = tf.keras.Model(z, tf.keras.layers.Dense(1, name="score")(hidden))
    model.compile("sgd", "mse")
    train = trainer.dataset(fn_args.train_files, output, label="label", batch_size=16, seed=1)
    model.fit(train.map(lambda features, label: (features["z"], label)), steps_per_epoch=2, verbose=0)
    trainer.export_keras_model(model, output, os.path.join(fn_args.serving_model_dir, "1"), ["label"])
    return model


def test_a_keras_model_takes_raw_examples(tmp_path):
    fn_args = transformed(tmp_path, rows())
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        model = trainer.run_trainer(keras_fn, fn_args)
        z = (
            tft.transform_blocks(tft.TFTransformOutput(fn_args.transform_output))(rows())
            .column("z")
            .flatten()
        )
        expected = model.predict(z.to_numpy())
    tf.keras.backend.clear_session()
    np.testing.assert_allclose(predictions(exported(fn_args), rows())["score"], expected, rtol=1e-6)


def session_fn(fn_args):
    output = tft.TFTransformOutput(fn_args.transform_output)
    with tf.Graph().as_default(), tf.Session() as session:
        weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
        features, label = (
            trainer.dataset(fn_args.train_files, output, label="label").make_one_shot_iterator().get_next()
        )
        loss = tf.reduce_mean((features["z"] * weight - tf.cast(label, tf.float32)) ** 2)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        session.run(train)
        examples = tf.placeholder(tf.string, [None])
        raw = {name: spec for name, spec in output.raw_feature_spec().items() if name != "label"}
        served = output.transform_raw_features(tf.io.parse_example(examples, raw))
        outputs = {"scores": served["z"] * weight}
        trainer.export_session(session, os.path.join(fn_args.serving_model_dir, "1"), examples, outputs)
        return session.run(weight)


def test_a_function_over_sessions(tmp_path):
    fn_args = transformed(tmp_path, rows())
    weight = trainer.run_trainer(session_fn, fn_args)
    z = tft.transform_blocks(tft.TFTransformOutput(fn_args.transform_output))(rows()).column("z").flatten()
    scores = predictions(exported(fn_args), rows())["scores"]
    np.testing.assert_array_equal(scores, z.to_numpy() * weight)


def table_fn(fn_args):
    """Exports a graph with a table, conditions and a saver, whose names are new ones elsewhere."""
    output = tft.TFTransformOutput(fn_args.transform_output)
    with tf.Graph().as_default(), tf.Session() as session:
        spec = {name: each for name, each in output.raw_feature_spec().items() if name != "label"}
        examples = tf.placeholder(tf.string, [None])
        z = output.transform_raw_features(tf.io.parse_example(examples, spec))["z"]
        initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
        factor = tf.lookup.StaticHashTable(initializer, 0.0).lookup(tf.constant("b"))
        several = [z, z + 1, z + 2, z * tf.Variable(3.0)]
        scores = tf.cond(factor > 1, lambda: tf.add_n(several) * factor, lambda: z)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        trainer.export_session(session, fn_args.serving_model_dir, examples, {"scores": scores})


def test_equal_trainings_write_equal_graphs(tmp_path):
    fn_args = transformed(tmp_path, rows())
    written = []
    for name in ("1", "2"):
        again = dataclasses.replace(fn_args, serving_model_dir=str(tmp_path / name))
        trainer.run_trainer(table_fn, again)
        written.append((tmp_path / name / "saved_model.pb").read_bytes())
    assert written[0] == written[1]
    assert b"hash_table_" in written[0]
    assert b"_temp_" in written[0]
    meta_graph = saved_models.SavedModel.FromString(written[0]).meta_graphs[0]
    for data in meta_graph.collection_def["cond_context"].bytes_list.value:
        # The order of a map in a message is by chance of the process, unless it is asked for.
        assert CondContextDef.FromString(data).SerializeToString(deterministic=True) == data


def test_arguments_travel_as_text():
    fn_args = trainer.FnArgs(["a"], ["b"], train_steps=3, custom_config={"deep": [1, 2]})
    assert trainer.FnArgs.from_json(fn_args.to_json()) == fn_args


def test_what_other_processes_cannot_find_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no function of a file's top level"):
        trainer.run_trainer(
            lambda fn_args: None, trainer.FnArgs(model_run_dir=str(tmp_path)), trainer.Cluster()
        )


def cluster_fn(fn_args):
    """Counts the tasks of the cluster into a file each."""
    config = tf.estimator.RunConfig(model_dir=fn_args.model_run_dir)
    name = f"{config.task_type}-{config.task_id}-of-{config.num_worker_replicas}"
    with open(os.path.join(fn_args.serving_model_dir, name), "w") as file:
        file.write(str(fn_args.train_steps))


def test_every_task_of_a_cluster_calls_the_function(tmp_path):
    fn_args = trainer.FnArgs(
        serving_model_dir=str(tmp_path / "s"), model_run_dir=str(tmp_path / "r"), train_steps=7
    )
    trainer.run_trainer(cluster_fn, fn_args, trainer.Cluster(ps=0, workers=2))
    assert {p.name: p.read_text() for p in (tmp_path / "s").iterdir()} == {
        "chief-0-of-2": "7",
        "worker-0-of-2": "7",
    }
