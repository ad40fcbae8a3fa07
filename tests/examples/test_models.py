"""The models of the paper learn a batch by heart, at a size that a CPU takes."""

import pytest

from examples.models.__main__ import train

SIZES = {
    "alexnet": {"size": 64, "hidden": (64, 64)},
    "googlenet": {"size": 32},
    "overfeat": {"size": 80, "hidden": (64, 64)},
    "oxfordnet": {"size": 32, "hidden": (64, 64)},
    "resnet": {"size": 32},
}


@pytest.mark.parametrize("model", SIZES)
def test_a_model_learns(model: str) -> None:
    (loss,) = train(model, batch=2, steps=10, classes=10, learning_rate=0.05, **SIZES[model])
    assert loss < 2.0  # ln 10 is what one knows before
