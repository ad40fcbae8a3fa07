"""Models of many kinds, traced for other systems: they compute what the session computes, for any batch."""

import numpy as np
import pytest
import torch

import tideflow as tf
from tests.exchange.test_exporting import arrays_of, assert_same, cases
from tideflow.exchange import models
from tideflow.exchange.exporting import traced

layers = tf.keras.layers


def stacked(shape, dtype, *made):
    model = tf.keras.Sequential([layers.InputLayer(shape, dtype=dtype), *made])
    return {"x": model.inputs[0]}, {"y": model.outputs[0]}


def images():
    return stacked(
        [9, 9, 2],
        "float32",
        layers.Conv2D(4, 3, padding="same"),
        layers.DepthwiseConv2D(3),
        layers.SeparableConv2D(4, 3, strides=2),
        layers.BatchNormalization(),
        layers.UpSampling2D(),
        layers.Conv2DTranspose(3, 3, strides=2, padding="same"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(3, "softmax"),
    )


def sequences():
    embedding = layers.Embedding(20, 3, mask_zero=True)
    return stacked([3], "int32", embedding, layers.GRU(3, return_sequences=True), layers.LSTM(2))


def attention():
    query, value = layers.Input([5, 4]), layers.Input([5, 4])
    found = layers.AdditiveAttention()([layers.Attention()([query, value]), value])
    return {"query": query, "value": value}, {"y": layers.LayerNormalization()(found)}


def places():
    """What takes parts of tensors, the batch among their axes."""
    x = tf.placeholder(tf.float32, [None, 6])
    best = tf.argmax(x, 1, output_type=tf.int32)
    a, b, c = tf.split(x, 3, 1)
    made = [
        tf.gather_nd(x, tf.stack([tf.range(tf.shape(x)[0]), best], 1)),
        tf.batch_gather(x, tf.argsort(x)),
        tf.boolean_mask(x, x[:, 0] > 0.5),
        tf.reverse_sequence(x, best, 1),
        tf.sequence_mask(best, 6),
        *tf.nn.top_k(x, 3),
        tf.one_hot(best, 6),
        x[:, ::-1] + x[:, 5::-1],
        x[:, 4:1:-2],
        tf.pad(a * b - c, [[1, 1], [0, 2]]),
        tf.cumsum(x, 0),
        tf.cumsum(x, 1, exclusive=True, reverse=True),
    ]
    return {"x": x}, {str(i): tensor for i, tensor in enumerate(made)}


def pictures():
    x = tf.placeholder(tf.float32, [None, 6, 6, 2])
    made = [
        tf.image.resize_bilinear(x, [9, 11]),
        tf.image.resize_nearest_neighbor(x, [4, 9]),
        tf.image.flip_left_right(x),  # it asserts that there are pixels
        tf.depth_to_space(tf.concat([x, x], 3), 2),
        tf.nn.lrn(x),
    ]
    return {"x": x}, {str(i): tensor for i, tensor in enumerate(made)}


@pytest.mark.parametrize("build", [images, sequences, attention, places, pictures])
def test_a_traced_model(build):
    tf.keras.backend.set_learning_phase(0)
    try:
        model, found = cases(build)
    finally:
        tf.keras.backend.clear_session()
    program = traced(model, {}).module()
    for arrays, wanted in found:
        assert_same(program(*map(torch.tensor, arrays.values())), wanted)


def test_the_learning_phase_is_decided_by_its_default():
    """A Keras model in a graph asks a placeholder, which has a default, whether it is being trained."""

    def build():
        return stacked(
            [6], "float32", layers.Dense(4, "relu"), layers.BatchNormalization(), layers.Dropout(0.5)
        )

    model, found = cases(build)
    tf.keras.backend.clear_session()
    program = traced(model, {})
    assert not any("cond" in str(node.target) for node in program.graph.nodes if node.op == "call_function")
    for arrays, wanted in found:
        assert_same(program.module()(*map(torch.tensor, arrays.values())), wanted)


def test_conditions_that_constants_decide_are_none():
    def build():
        x = tf.placeholder(tf.float32, [None, 2])
        always, asked = tf.placeholder_with_default(True, []), tf.reduce_sum(x) > 1.0
        inner = tf.cond(asked, lambda: tf.cond(always, lambda: x + 1.0, lambda: tf.log(x)), lambda: x)
        looped = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, tf.cond(always, lambda: y * 2.0, lambda: y)), [0, x]
        )
        return {"x": x}, {"a": inner, "b": tf.cond(always, lambda: inner * 2.0, lambda: x), "c": looped[1]}

    model, found = cases(build)
    program = traced(model, {})
    conditions = [
        node for node in program.graph.nodes if "cond" in str(node.target) and node.op == "call_function"
    ]
    assert len(conditions) == 1
    for arrays, wanted in found:
        assert_same(program.module()(*map(torch.tensor, arrays.values())), wanted)


def test_the_saved_model_of_an_estimator(tmp_path):
    columns = [tf.feature_column.numeric_column("x", [3])]
    estimator = tf.estimator.DNNRegressor([4], columns, model_dir=str(tmp_path / "run"))
    estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": tf.ones([4, 3])}, tf.ones([4, 1]))), steps=1)
    with tf.Graph().as_default():
        raw = tf.estimator.export.build_raw_serving_input_receiver_fn(
            {"x": tf.placeholder(tf.float32, [None, 3])}
        )
        path = estimator.export_saved_model(str(tmp_path / "saved"), raw)
    model = models.of_saved_model(tf.compat.as_str(path), "predict")
    program = traced(model, {}).module()
    wanted = tf.contrib.predictor.from_saved_model(path, "predict")
    arrays = arrays_of(model.inputs, 5, np.random.RandomState(0))
    assert_same(program(*map(torch.tensor, arrays.values())), wanted(arrays))
