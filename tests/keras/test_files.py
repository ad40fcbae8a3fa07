"""Models in files: SavedModels, HDF5 files of CuDNN layers, and files that are broken, newer or hostile."""

import json

import numpy as np
import pytest

import tideflow as tf

keras = tf.keras
layers = keras.layers


@pytest.fixture(autouse=True)
def fresh():
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


def trained():
    x = np.random.RandomState(0).rand(8, 3).astype(np.float32)
    y = x.sum(axis=1, keepdims=True)
    inputs = keras.Input((3,))
    model = keras.Model(inputs, layers.Dense(1)(layers.Dense(4, activation="tanh")(inputs)))
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(x, y, verbose=0, epochs=2)
    return model, x, y


def test_a_model_goes_through_a_saved_model(tmp_path):
    model, x, y = trained()
    path = str(tmp_path / "model")
    for _ in range(2):  # the second one takes the first one's place
        model.save(path, save_format="tf")
    again = keras.models.load_model(path)
    np.testing.assert_allclose(again.predict(x), model.predict(x), rtol=1e-5)
    assert keras.backend.get_value(again.optimizer.iterations) == 2
    assert again.train_on_batch(x, y)[0] == pytest.approx(model.train_on_batch(x, y)[0], rel=1e-5)
    np.testing.assert_allclose(again.predict(x), model.predict(x), rtol=1e-4)
    assert keras.models.load_model(path, compile=False).optimizer is None
    with pytest.raises(ValueError, match="looks like an HDF5 file"):
        model.save(str(tmp_path / "model.h5"), save_format="tf")


def test_directories_that_hold_no_model(tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist"):
        keras.models.load_model(str(tmp_path))
    path = str(tmp_path / "plain")
    with tf.Session(graph=tf.Graph()) as session:
        x = tf.placeholder(tf.float32, [])
        variable = tf.Variable(1.0)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, path, {"x": x}, {"y": x * variable})
    with pytest.raises(ValueError, match="not one of a Keras model"):
        keras.models.load_model(path)


def test_weights_of_cudnn_layers_are_converted(tmp_path):
    pytest.importorskip("h5py")
    x = np.random.RandomState(0).randn(2, 4, 3)

    def model(layer):
        return keras.Sequential([layers.Bidirectional(layer, input_shape=(4, 3))])

    fused = model(layers.CuDNNGRU(2))
    path = str(tmp_path / "gru.h5")
    fused.save_weights(path)
    plain = model(layers.GRU(2, recurrent_activation="sigmoid", reset_after=True))
    plain.load_weights(path)
    np.testing.assert_allclose(plain.predict(x), fused.predict(x), rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match=r"CuDNNGRU is not compatible with GRU.reset_after=False."):
        model(layers.GRU(2)).load_weights(path)


def test_broken_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    model, _, _ = trained()
    whole = tmp_path / "model.h5"
    model.save(str(whole))
    cut = tmp_path / "cut.h5"
    cut.write_bytes(whole.read_bytes()[:3000])
    with pytest.raises(OSError, match="is no whole HDF5 file"):
        keras.models.load_model(str(cut))
    with pytest.raises(OSError, match="is no whole HDF5 file"):
        model.load_weights(str(cut))
    archive = tmp_path / "model.keras"
    __import__("zipfile").ZipFile(archive, "w").close()
    with pytest.raises(OSError, match="archive of Keras 3"):
        keras.models.load_model(str(archive))
    empty = tmp_path / "empty.h5"
    h5py.File(empty, "w").close()
    with pytest.raises(ValueError, match="No model found"):
        keras.models.load_model(str(empty))


def test_a_model_of_a_newer_keras(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "newer.h5"
    keras.Sequential([layers.Conv1D(2, 3, input_shape=(5, 1))]).save(str(path))
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        config["config"]["layers"][0]["config"]["groups"] = 1
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = "2.4.0"
    with pytest.raises(TypeError, match=r"not understood: groups. The model was saved by Keras 2.4.0"):
        keras.models.load_model(str(path))
    with h5py.File(path, "r+") as file:
        file.attrs["keras_version"] = "2.2.4-tf"
    with pytest.raises(TypeError, match="groups") as error:
        keras.models.load_model(str(path))
    assert "saved by" not in str(error.value)


def test_code_in_a_file_runs_for_those_who_trust_it(tmp_path):
    pytest.importorskip("h5py")
    model = keras.Sequential([layers.Lambda(lambda x: x * 2.0, input_shape=(2,))])
    path = str(tmp_path / "code.h5")
    model.save(path)
    assert keras.models.load_model(path).predict(np.ones((1, 2))).tolist() == [[2.0, 2.0]]
    with pytest.raises(ValueError, match="stored as Python bytecode"):
        keras.models.load_model(path, trusted=False)
    config = model.layers[0].get_config()
    config["function"] = ("AAAA\n", None, None)
    with pytest.raises(ValueError, match="another version of Python"):
        layers.Lambda.from_config(config)


def test_a_subclassed_model_is_revived_from_its_functions(tmp_path):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden, self.drop, self.out = layers.Dense(4), layers.Dropout(0.5), layers.Dense(1)

        def call(self, inputs, training=False):
            return self.out(self.drop(self.hidden(inputs), training=training))

    x = np.random.RandomState(0).rand(8, 3).astype(np.float32)
    model = Own()
    model.compile("sgd", "mse")
    model.fit(x, x[:, :1], verbose=0)
    model.save(str(tmp_path / "m"), save_format="tf")
    again = keras.models.load_model(str(tmp_path / "m"))
    np.testing.assert_allclose(again.predict(x), model.predict(x), rtol=1e-5)
    before = again.get_weights()[0]
    again.fit(x, x[:, :1], verbose=0)
    assert len(again.trainable_weights) == 4 and (again.get_weights()[0] != before).any()


def test_yaml_with_tuples_as_tensorflow_writes_it_is_read():
    pytest.importorskip("yaml")
    model = keras.Sequential([layers.Dense(2, input_shape=(3,), name="d")])
    text = model.to_yaml().replace("batch_input_shape:\n", "batch_input_shape: !!python/tuple\n")
    assert "!!python/tuple" in text
    assert keras.models.model_from_yaml(text).input_shape == (None, 3)


def test_yaml_with_other_objects_of_python_is_refused():
    yaml = pytest.importorskip("yaml")
    with pytest.raises(yaml.YAMLError):
        keras.models.model_from_yaml("!!python/object/apply:os.system ['true']")


def test_a_model_without_weights_says_so():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    assert model.inputs == []
    with pytest.raises(ValueError, match="have not yet been created"):
        model.get_weights()


def test_a_file_that_is_no_model(tmp_path):
    path = tmp_path / "model.h5"
    path.write_bytes(b"hello")
    with pytest.raises(OSError, match=r"SavedModel file does not exist at: .* no HDF5 file"):
        tf.keras.models.load_model(str(path))


@pytest.mark.parametrize(("text", "error"), [("null", TypeError), ('"x"', TypeError), ("{}", KeyError)])
def test_a_config_that_is_none(text, error):
    with pytest.raises(error):
        tf.keras.models.model_from_json(text)
