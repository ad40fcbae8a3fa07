"""Models that take strings, and models with tables, as ONNX files and as programs of PyTorch."""

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.exchange import models
from tideflow.exchange.exporting import export_model, traced
from tideflow.exchange.step_module import CannotExport

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

WORDS = np.array([["red", "blue"], ["gr\u00fcn", "none of them"], ["", "red"]], object)


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def as_texts(value):
    if value.dtype != object:
        return value
    return np.array([v.decode() if isinstance(v, bytes) else v for v in value.ravel()]).reshape(value.shape)


def assert_as_onnx(session, inputs, outputs, values, path):
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    export_model(models.of_session(session, inputs, outputs), path, "onnx")
    loaded = onnxruntime.InferenceSession(path)
    assert {each.name for each in loaded.get_inputs()} == set(inputs)
    for rows in (slice(None), slice(0, 1)):
        given = {name: value[rows] for name, value in values.items()}
        wanted = session.run(outputs, {inputs[name]: given[name] for name in inputs})
        for name, found in zip(outputs, loaded.run(list(outputs), given), strict=True):
            np.testing.assert_array_equal(as_texts(found), as_texts(wanted[name]), err_msg=name)


def test_words_in_tables_and_comparisons(session, tmp_path):
    x = tf.placeholder(tf.string, [None, 2])
    keys = tf.lookup.KeyValueTensorInitializer(
        ["red", "gr\u00fcn", b"\xff"], tf.constant([1, 2, 3], tf.int64)
    )
    numbers = tf.lookup.StaticHashTable(keys, -1).lookup(tf.transpose(x))
    names = tf.contrib.lookup.index_to_string_table_from_tensor(["one", "two", "three"], "?")
    outputs = {
        "numbers": numbers,
        "names": names.lookup(tf.cast(tf.reshape(numbers, [-1]), tf.int64)),
        "is_red": tf.equal(x, "red"),
        "is_other": tf.not_equal(x[:, 0], ["none of them"]),
        "rows": tf.shape(x)[0],
    }
    assert_as_onnx(session, {"x": x}, outputs, {"x": WORDS}, tmp_path / "model.onnx")


def test_digits_and_words_of_one_input(session, tmp_path):
    x = tf.placeholder(tf.string, [None])
    outputs = {
        "numbers": tf.strings.to_number(x) * 2,
        "whole": tf.strings.to_number(x[:, None], tf.int64),
        "is_one": tf.equal(x, "1"),
    }
    values = {"x": np.array(["1", "25", "-3"], object)}
    assert_as_onnx(session, {"x": x}, outputs, values, tmp_path / "model.onnx")


def test_feature_columns_of_words(session, tmp_path):
    columns = tf.feature_column
    words = columns.categorical_column_with_vocabulary_list("words", ["red", "blue"])
    x, y = tf.placeholder(tf.string, [None, 2]), tf.placeholder(tf.float32, [None, 1])
    made = [columns.numeric_column("y"), columns.indicator_column(words)]
    layer = columns.input_layer({"words": x, "y": y}, made)
    values = {"words": WORDS, "y": np.ones([3, 1], np.float32)}
    path = tmp_path / "model.onnx"
    assert_as_onnx(session, {"words": x, "y": y}, {"layer": layer}, values, path)


def test_strings_that_cannot_leave_are_named(session, tmp_path):
    x = tf.placeholder(tf.string, [None])
    for made, text in (
        (tf.strings.to_hash_bucket_fast(x, 9, name="hash"), "StringToHashBucketFast 'hash', made at .*texts"),
        (tf.equal(x, x[::-1], name="same"), "Equal 'same', made at .*: it takes or makes strings"),
        (tf.strings.length(x, name="length"), "StringLength 'length'"),
    ):
        with pytest.raises(CannotExport, match=text):
            export_model(models.of_session(session, {"x": x}, {"y": made}), tmp_path / "y.onnx", "onnx")
    with pytest.raises(CannotExport, match=r"Shape 'Shape', made at .*: it takes or makes strings"):
        traced(models.of_session(session, {"x": x}, {"y": tf.shape(x)}), {})


@pytest.mark.parametrize("keys", [[5, 2, 9, -1], [2**40, -7, 12], []])
def test_tables_of_numbers_are_constants(session, keys):
    x = tf.placeholder(tf.int64, [None])
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, [0.5, 0.25])
    fill = table.insert(tf.constant(keys, tf.int64), tf.random.normal([len(keys), 2]))
    session.run(fill)
    y = table.lookup(x)
    program = traced(models.of_session(session, {"x": x}, {"y": y}), {}).module()
    for rows in ([*keys, 3, 2**40 + 1, -(2**62)], [7, 8]):
        wanted = session.run(y, {x: rows})
        np.testing.assert_array_equal(program(torch.tensor(rows))[0], wanted)
