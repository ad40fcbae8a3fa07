"""Keras models as SavedModels: TensorFlow 1.15 and 2 load ours and train on, and ours loads TensorFlow's."""

import json

import keras_exchange
import numpy as np
import pytest
from runner import ENVIRONMENTS, run

PAIRS = [("tideflow", "tf1"), ("tf1", "tideflow"), ("tideflow", "tf2"), ("tideflow", "tideflow")]


@pytest.fixture(scope="module")
def results(oracle, tmp_path_factory):
    home, known = tmp_path_factory.mktemp("keras"), {}

    def of(what, writer, reader=None):
        key = (what, writer, reader)
        if key not in known:
            if what == "read":
                of("write", writer)
            path = home / f"{what}-{writer}-{reader}.json"
            run(reader or writer, "keras_exchange.py", what, home / writer, path)
            known[key] = json.loads(path.read_text())
        return known[key]

    return of


@pytest.mark.parametrize("model", keras_exchange.MODELS)
@pytest.mark.parametrize(("writer", "reader"), PAIRS)
def test_a_model_predicts_and_trains_on_in_the_other(writer, reader, model, results):
    if not (ENVIRONMENTS / "tf2" / "bin" / "python").exists():
        pytest.fail("no oracle environment tf2: run tests/oracle/make-oracles")
    written = results("write", writer)[model]
    found = results("read", writer, reader)[model]
    for moment in ("before", "after"):
        for ours, theirs in zip(found[moment], written[moment], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-4)
