"""Callbacks of Keras, and the data that stays in files."""

import h5py
import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def _own_session():
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def _model():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def test_rows_of_a_file_come_in_the_order_that_is_asked_for(tmp_path):
    path = str(tmp_path / "rows.h5")
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(12.0).reshape(6, 2)
    rows = tf.keras.utils.HDF5Matrix(path, "x", start=1, end=5)
    np.testing.assert_array_equal(rows[[2, 0, 2]], [[6.0, 7.0], [2.0, 3.0], [6.0, 7.0]])
    for beyond in (4, [0, 4], slice(0, 5)):
        with pytest.raises(IndexError):
            rows[beyond]


def test_shuffled_rows_of_a_file_keep_their_labels(tmp_path):
    path = str(tmp_path / "rows.h5")
    x = np.random.rand(32, 2)
    with h5py.File(path, "w") as file:
        file["x"] = x
    model = _model()
    rows = tf.keras.utils.HDF5Matrix(path, "x")
    history = model.fit(rows, x.sum(1), batch_size=8, epochs=2, verbose=0)
    assert max(history.history["loss"]) < 1e-6  # the model is right from the start, if rows keep their labels


def test_callbacks_of_predictions_know_the_size_of_batches():
    class Seen(tf.keras.callbacks.Callback):
        pass

    seen = Seen()
    _model().predict(np.ones((6, 2)), batch_size=3, callbacks=[seen])
    assert seen.params == {
        "batch_size": 3,
        "epochs": 1,
        "steps": None,
        "samples": 6,
        "verbose": 0,
        "do_validation": False,
        "metrics": [],
    }


def test_tensorboard_leaves_out_images_of_single_weights(tmp_path):
    board = tf.keras.callbacks.TensorBoard(str(tmp_path), histogram_freq=1, write_images=True)
    x = np.ones((4, 2))
    _model().fit(x, x[:, 0], verbose=0, callbacks=[board], validation_data=(x, x[:, 0]))
    events = [event for path in tmp_path.glob("*tfevents*") for event in tf.train.summary_iterator(str(path))]
    kinds = {
        (v.tag.split("/")[1], v.WhichOneof("value")) for e in events for v in e.summary.value if "/" in v.tag
    }
    assert ("kernel_0", "histo") in kinds
    assert ("bias_0", "image") not in kinds


def test_a_copy_needs_a_function_for_its_layers():
    x = tf.keras.Input((2,))
    with pytest.raises(ValueError, match="clone_function"):
        tf.keras.models.clone_model(tf.keras.Model(x, tf.keras.layers.Dense(1)(x)), clone_function=3)
