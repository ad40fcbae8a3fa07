"""tf.keras.preprocessing.image with Pillow and SciPy. The numbers are TensorFlow's, for the same calls."""

import numpy as np
import pytest

import tideflow as tf

image = tf.keras.preprocessing.image
pytest.importorskip("PIL")
pytest.importorskip("scipy")


def picture():
    return np.sin(np.arange(3 * 6 * 7)).reshape(6, 7, 3) * 100 + 100


def test_random_changes_of_one_image():
    np.random.seed(1)
    x = picture()
    made = [
        image.random_rotation(x, 30),
        image.random_rotation(x, 30, row_axis=0, col_axis=1, channel_axis=2),
        image.random_shift(x, 0.2, 0.3, 0, 1, 2, fill_mode="constant", cval=3.0),
        image.random_shear(x, 20, 0, 1, 2, fill_mode="reflect"),
        image.random_zoom(x, (0.5, 1.5), 0, 1, 2, fill_mode="wrap"),
        image.random_channel_shift(x, 20, 2),
        image.random_brightness(x, (0.5, 1.5)),
        image.apply_affine_transform(x, theta=10, tx=1, shear=5, zx=0.8),
    ]
    means = [100.0232, 99.1477, 58.4342, 100.4885, 99.9091, 94.2252, 113.2778, 99.3801]
    np.testing.assert_allclose([each.mean() for each in made], means, atol=2e-3)


def test_pictures_and_arrays(tmp_path):
    x = picture()
    made = image.array_to_img(x)
    assert made.mode == "RGB" and made.size == (7, 6)
    assert image.array_to_img(x[..., :1] * 10, scale=False).mode == "I"
    path = str(tmp_path / "x.png")
    image.save_img(path, x)
    shapes = [
        image.img_to_array(image.load_img(path, color_mode=mode, target_size=(4, 5))).shape
        for mode in ("rgb", "rgba", "grayscale")
    ]
    assert shapes == [(4, 5, 3), (4, 5, 4), (4, 5, 1)]
    with pytest.raises(ValueError, match="Invalid interpolation method"):
        image.load_img(path, target_size=(2, 2), interpolation="crystal")
    with pytest.raises(ValueError, match="Unsupported channel number: 2"):
        image.array_to_img(np.ones((2, 2, 2)))


@pytest.fixture
def folder(tmp_path):
    for name in ("a/0.png", "a/deep/1.png", "b/0.png", "b/1.png", "b/notes.txt"):
        path = tmp_path / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("png"):
            image.save_img(str(path), picture())
        else:
            path.write_text("no picture")
    return tmp_path / "pictures"


def test_batches_of_a_folder(folder, tmp_path, capsys):
    generator = image.ImageDataGenerator(rescale=1 / 255, horizontal_flip=True, validation_split=0.5)
    flow = generator.flow_from_directory(str(folder), target_size=(6, 5), batch_size=3, seed=2)
    assert capsys.readouterr().out == "Found 4 images belonging to 2 classes.\n"
    assert flow.filenames == ["a/0.png", "a/deep/1.png", "b/0.png", "b/1.png"]
    assert flow.class_indices == {"a": 0, "b": 1} and list(flow.classes) == [0, 0, 1, 1] and len(flow) == 2
    x, y = next(flow)
    assert x.shape == (3, 6, 5, 3) and x.max() <= 1 and y.shape == (3, 2)
    part = generator.flow_from_directory(str(folder), subset="validation", class_mode="sparse", shuffle=False)
    assert part.filenames == ["a/0.png", "b/0.png"] and list(next(part)[1]) == [0, 1]
    saved = tmp_path / "saved"
    saved.mkdir()
    next(generator.flow_from_directory(str(folder), save_to_dir=str(saved), save_prefix="p", batch_size=2))
    assert len(list(saved.glob("p_*.png"))) == 2
    only = generator.flow_from_directory(str(folder), classes=["b"], class_mode=None, color_mode="grayscale")
    assert next(only).shape == (2, 256, 256, 1)


def test_batches_of_a_table(folder):
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(
        {
            "filename": ["a/0.png", "b/0.png", "no.png", "b/1.png"],
            "class": ["a", "b", "b", "c"],
            "w": [1.0, 2.0, 3.0, 4.0],
        }
    )
    generator = image.ImageDataGenerator(validation_split=0.34)

    def flow(**kwargs):
        with pytest.warns(UserWarning, match="1 invalid image filename"):
            return generator.flow_from_dataframe(
                rows, str(folder), target_size=(6, 5), shuffle=False, **kwargs
            )

    x, y = next(flow())
    assert x.shape == (3, 6, 5, 3) and y.tolist() == np.eye(3).tolist()
    assert next(flow(class_mode="sparse", classes=["b", "c"]))[1].tolist() == [0, 1]
    assert next(flow(class_mode="raw", y_col="w"))[1].tolist() == [1, 2, 4]
    assert [v.tolist() for v in next(flow(class_mode="multi_output", y_col=["w"]))[1]] == [[1, 2, 4]]
    assert next(flow(weight_col="w", subset="training"))[2].tolist() == [2, 4]
    with pytest.raises(ValueError, match=r"there must be 2 classes. Found 3"):
        generator.flow_from_dataframe(rows, str(folder), class_mode="binary")


def test_a_model_learns_from_changed_images():
    x = np.stack([picture(), picture()[::-1]] * 4).astype(np.float32)
    y = np.array([0, 1] * 4)
    generator = image.ImageDataGenerator(featurewise_center=True, zca_whitening=True, width_shift_range=0.1)
    generator.fit(x, augment=True, seed=1)
    model = tf.keras.Sequential(
        [tf.keras.layers.Flatten(input_shape=(6, 7, 3)), tf.keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile("sgd", "binary_crossentropy")
    history = model.fit_generator(generator.flow(x, y, batch_size=4, seed=1), epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2


def test_without_the_libraries_the_message_names_them(monkeypatch):
    modules = __import__("sys").modules
    monkeypatch.setitem(modules, "PIL", None)
    monkeypatch.setitem(modules, "scipy", None)
    monkeypatch.setitem(modules, "scipy.linalg", None)
    with pytest.raises(ImportError, match="`load_img` requires PIL"):
        image.load_img("x.png")
    with pytest.raises(ImportError, match="require SciPy"):
        image.random_rotation(picture(), 3)
