"""tf.keras.applications: weights in local files, the names of classes, and what is not downloaded."""

import json

import numpy as np
import pytest

import tideflow as tf

applications = tf.keras.applications


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".keras" / "models"
    folder.mkdir(parents=True)
    tf.keras.backend.clear_session()
    return folder


def small(weights):
    return applications.MobileNet(
        weights=weights, include_top=False, alpha=0.25, input_shape=(128, 128, 3), pooling="avg"
    )


def test_weights_of_imagenet_stand_in_the_cache(cache):
    with pytest.raises(
        OSError, match=r"mobilenet_2_5_128_tf_no_top.h5 is not there, and nothing is downloaded"
    ):
        small("imagenet")
    pytest.importorskip("h5py")
    model = small(None)
    path = str(cache / "mobilenet_2_5_128_tf_no_top.h5")
    model.save_weights(path)
    for weights in ("imagenet", path):
        for ours, theirs in zip(small(weights).get_weights(), model.get_weights(), strict=True):
            assert np.array_equal(ours, theirs)


def test_names_of_classes_stand_in_the_cache(cache):
    probabilities = np.linspace(0, 1, 1000)[None]
    with pytest.raises(OSError, match=r"imagenet_class_index.json is not there, and nothing is downloaded"):
        applications.vgg16.decode_predictions(probabilities)
    names = {str(i): [f"n{i:04}", f"thing {i}"] for i in range(1000)}
    (cache / "imagenet_class_index.json").write_text(json.dumps(names))
    [found] = applications.vgg16.decode_predictions(probabilities, top=2)
    assert found == [("n0999", "thing 999", 1.0), ("n0998", "thing 998", probabilities[0, 998])]


def test_images_with_channels_first():
    tf.keras.backend.set_image_data_format("channels_first")
    try:
        model = applications.MobileNetV2(weights=None, classes=2, input_shape=(3, 64, 64), alpha=0.35)
        assert model.layers[-3].output_shape == (None, 1280, 2, 2)
    finally:
        tf.keras.backend.set_image_data_format("channels_last")
