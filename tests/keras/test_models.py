"""tf.keras models in graph mode: training, files, progress bar, callbacks, what the program sees of them."""

import json
import re

import numpy as np
import pytest

import tideflow as tf

keras = tf.keras


@pytest.fixture(autouse=True)
def fresh():
    keras.backend.clear_session()
    np.random.seed(0)
    yield
    keras.backend.clear_session()


def data(samples=32):
    x = np.random.rand(samples, 3).astype(np.float32)
    return x, (x.sum(axis=1) > 1.5).astype(np.float32)


def mlp():
    model = keras.Sequential(
        [
            keras.layers.Dense(8, activation="relu", input_shape=(3,)),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(keras.optimizers.Adam(0.05), "binary_crossentropy", metrics=["acc"])
    return model


def test_a_model_learns():
    x, y = data()
    tf.set_random_seed(1)
    model = mlp()
    history = model.fit(x, y, epochs=40, verbose=0).history
    assert history["loss"][-1] < 0.8 * history["loss"][0] and history["acc"][-1] > 0.8
    assert model.predict_classes(x).shape == (32, 1)


def test_the_progress_bar(capsys):
    x, y = data(4)
    mlp().fit(x, y, epochs=2, batch_size=2, validation_data=(x, y))
    text = capsys.readouterr().out
    assert text.startswith("Train on 4 samples, validate on 4 samples\nEpoch 1/2\n")
    assert re.search(
        r"4/4 \[=+\] - \d+s .*/sample - loss: \d.* - acc: \d.* - val_loss: \d.* - val_acc: \d", text
    )


def test_weights_go_through_a_checkpoint(tmp_path):
    x, y = data()
    model = mlp()
    model.fit(x, y, verbose=0)
    model.save_weights(str(tmp_path / "weights"))
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "weights")
    before, further = model.predict(x), model.fit(x, y, verbose=0, shuffle=False).history["loss"]
    other = mlp()
    other.load_weights(str(tmp_path / "weights"))
    np.testing.assert_allclose(other.predict(x), before, rtol=1e-6)
    # The optimizer goes on where it was.
    np.testing.assert_allclose(other.fit(x, y, verbose=0, shuffle=False).history["loss"], further, rtol=1e-5)


def test_a_model_goes_through_hdf5(tmp_path):
    pytest.importorskip("h5py")
    x, y = data()
    model = mlp()
    model.fit(x, y, verbose=0)
    model.save(str(tmp_path / "model.h5"))
    again = keras.models.load_model(str(tmp_path / "model.h5"))
    np.testing.assert_allclose(again.predict(x), model.predict(x), rtol=1e-6)
    np.testing.assert_allclose(again.optimizer.get_weights()[1], model.optimizer.get_weights()[1])


def test_hdf5_without_h5py_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match="pip install h5py"):
        mlp().save(str(tmp_path / "model.h5"))


def test_configs_make_the_same_model():
    model = mlp()
    again = keras.models.model_from_json(model.to_json())
    assert json.loads(again.to_json()) == json.loads(model.to_json())
    yaml = keras.models.model_from_yaml(model.to_yaml())
    assert yaml.get_config() == model.get_config()
    clone = keras.models.clone_model(model)
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]


def test_callbacks_write_files(tmp_path):
    x, y = data()
    model = mlp()
    callbacks = [
        keras.callbacks.CSVLogger(str(tmp_path / "log.csv")),
        keras.callbacks.ModelCheckpoint(str(tmp_path / "w-{epoch}"), save_weights_only=True),
        keras.callbacks.TensorBoard(str(tmp_path / "logs"), histogram_freq=1),
        keras.callbacks.TerminateOnNaN(),
    ]
    model.fit(x, y, epochs=2, verbose=0, callbacks=callbacks, validation_data=(x, y))
    assert (tmp_path / "log.csv").read_text().startswith("epoch,acc,loss,val_acc,val_loss\n0,")
    assert (tmp_path / "w-2.index").exists()
    (events,) = (tmp_path / "logs").iterdir()
    tags = {value.tag for event in tf.train.summary_iterator(str(events)) for value in event.summary.value}
    assert {"epoch_loss", "epoch_val_acc", "dense/kernel_0"} <= tags


def test_training_stops_at_a_loss_that_is_no_number():
    model = mlp()
    x = np.full((8, 3), np.nan, np.float32)
    history = model.fit(x, np.ones(8), epochs=3, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()])
    assert len(history.epoch) == 1


def test_nothing_is_downloaded(tmp_path):
    with pytest.raises(OSError, match="nothing is downloaded"):
        keras.utils.get_file("words", "http://example.org/words", cache_dir=str(tmp_path))
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "words").write_text("tide")
    assert keras.utils.get_file("words", "http://example.org/words", cache_dir=str(tmp_path)).endswith(
        "words"
    )


def test_an_error_in_a_generator_reaches_the_program():
    def batches():
        yield np.ones((2, 3)), np.ones(2)
        raise RuntimeError("no more data")

    with pytest.raises(RuntimeError, match="no more data"):
        mlp().fit_generator(batches(), steps_per_epoch=3, verbose=0)


def test_one_layer_system():
    assert issubclass(tf.layers.Dense, keras.layers.Dense)
    x = keras.Input((3,))
    with tf.layers.experimental.keras_style_scope():
        model = keras.Model(x, tf.layers.Dense(2, name="scoped")(x))
    assert [w.name for w in model.weights] == ["scoped/kernel:0", "scoped/bias:0"]
    with pytest.raises(TypeError, match=r"legacy tf.layers.Layers:\n  <.*Dense"):
        keras.Model(x, tf.layers.Dense(2)(x))
    with pytest.raises(TypeError, match=r"legacy tf.layers.Layers"):
        keras.Sequential([tf.layers.Dense(2)])


def test_the_default_of_training_does_not_keep_a_model_from_training():
    class Dropped(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.drop = tf.keras.layers.Dropout(0.9, seed=1)

        def call(self, inputs, training=False):
            return self.drop(inputs, training=training)

    model, ones = Dropped(), np.ones([4, 50], np.float32)
    model.compile("sgd", "mse")
    assert model.train_on_batch(ones, ones) > 0.5
    assert model.evaluate(ones, ones, verbose=0) == 0
    np.testing.assert_array_equal(model.predict(ones), ones)


def test_a_sequential_model_takes_a_dictionary_under_any_name():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
    made = model({"whatever": tf.constant([[1.0, 2.0]])})
    assert tf.keras.backend.get_value(made).tolist() == [[3.0]]


def test_placeholders_of_true_values_are_fed():
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, tf.keras.layers.Dense(2, kernel_initializer="ones")(x))
    model.compile("sgd", "mse", target_tensors=[tf.keras.backend.placeholder((None, 2))])
    assert model.train_on_batch(np.ones((4, 3)), np.ones((4, 2))) == 4.0


def test_tensors_of_true_values_are_one_for_each_output():
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, tf.keras.layers.Dense(2, name="out")(x))
    target = tf.zeros([4, 2])
    for given, kind, words in (
        ([target, target], ValueError, "one entry per model output"),
        ({"other": target}, ValueError, "Unknown entry in `target_tensors`"),
        ("target", TypeError, "Expected `target_tensors` to be"),
    ):
        with pytest.raises(kind, match=words):
            model.compile("sgd", "mse", target_tensors=given)


def test_a_subclass_begins_with_the_constructor_of_models():
    class Net(tf.keras.Model):
        def __init__(self):
            self.last = tf.keras.layers.Dense(1)

    with pytest.raises(RuntimeError, match="forgot to call `super"):
        Net()


def test_what_models_are_not_made_of():
    class Twice(tf.keras.layers.Layer):
        def call(self, inputs):
            return [inputs, inputs]

    dense = tf.keras.layers.Dense(2, input_shape=(3,))
    with pytest.raises(TypeError, match="single output tensor"):
        tf.keras.Sequential([dense, Twice()])
    with pytest.raises(ValueError, match="not one of the valid types"):
        tf.keras.Model().build(3)
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, dense(x))
    with pytest.raises(ValueError, match="result of calling a `Metric` object"):
        model.add_metric(tf.keras.metrics.Mean(name="mean")(model.outputs[0]))


def test_weights_of_time_steps_need_time_steps():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse", sample_weight_mode="temporal")
    with pytest.raises(ValueError, match="at least 3D"):
        model.fit(np.ones((4, 3)), np.ones((4, 2)), sample_weight=np.ones((4, 2)), verbose=0)


def test_only_models_are_copied():
    with pytest.raises(ValueError, match="Expected `model` argument to be a `Model` instance"):
        tf.keras.models.clone_model(3)


@pytest.mark.parametrize("layer", [tf.keras.layers.SpatialDropout2D, tf.keras.layers.SpatialDropout3D])
def test_dropped_channels_are_first_or_last(layer):
    with pytest.raises(ValueError, match="data_format must be in"):
        layer(0.5, data_format="rows")
