"""What is said of names that are not there."""

import pytest

import tideflow as tf
from tideflow.programs.modules import why_not


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("bigtable", "from_generator"),
        ("cloud", "from_generator"),
        ("ffmpeg", "decode_wav"),
        ("kafka", "from_generator"),
        ("rpc", "tf.train.Server"),
        ("tensorrt", "TIDEFLOW_COMPILE"),
    ],
)
def test_what_cannot_be_here_says_what_to_use_instead(name, instead):
    with pytest.raises(AttributeError, match=instead):
        getattr(tf.contrib, name)
    assert instead in why_not(f"contrib.{name}", "Something")


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("tpu.experimental", "embedding_column"),
        ("contrib.tpu.TPUDistributionStrategy", "tf.distribute.MirroredStrategy"),
        ("contrib.tpu.infeed_enqueue", "tf.data iterator"),
        ("contrib.eager.set_server_def", "tf.train.Server"),
        ("lite", "tf.saved_model.save"),
        ("config.experimental_connect_to_host", "tf.train.Server"),
    ],
)
def test_public_names_that_cannot_be_here_say_what_to_use_instead(path, instead):
    space, _, name = path.rpartition(".")
    found = tf
    for part in filter(None, space.split(".")):
        found = getattr(found, part)
    with pytest.raises(AttributeError, match=instead):
        getattr(found, name)
