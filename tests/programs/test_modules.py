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
