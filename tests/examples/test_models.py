"""The models of the paper learn a batch by heart, at a size that a CPU takes."""

import pytest

from examples.models.__main__ import train

SETTINGS = {
    "alexnet": {"size": 64, "hidden": (64, 64), "steps": 20, "learning_rate": 0.01},
    "gpt2": {"size": 8, "width": 16, "heads": 2, "layers": 2, "steps": 60, "learning_rate": 1.0},
    "googlenet": {"size": 32, "steps": 10},
    "overfeat": {"size": 80, "hidden": (64, 64), "steps": 10},
    "oxfordnet": {"size": 32, "hidden": (64, 64), "steps": 20},
    "resnet": {"size": 32, "steps": 10},
}


@pytest.mark.parametrize("model", SETTINGS)
def test_a_model_learns(model: str) -> None:
    *_, loss = train(model, batch=2, classes=10, **{"learning_rate": 0.03, **SETTINGS[model]})
    assert loss < 1.8  # ln 10 is what one knows before
