"""Objects with functions go through SavedModels from one engine to another, and answer as they did."""

import pickle

import numpy as np
import pytest
from object_models import MODELS, NOT_OF_TENSORFLOW_2, ONLY_READ_HERE
from runner import ENVIRONMENTS, run

SCRIPT = "object_models.py"
PAIRS = [("tf1", "tideflow"), ("tideflow", "tf1"), ("tf2", "tideflow"), ("tideflow", "tf2")]


class _Exchange:
    """Runs each engine once for what it writes and once for each folder that it reads."""

    def __init__(self, folder):
        self._folder = folder
        self._known = {}

    def _of(self, *key):
        if key not in self._known:
            self._known[key] = self._made(*key)
        return self._known[key]

    def _made(self, what, writer, reader=None):
        if reader is None:
            run(writer, SCRIPT, what, self._folder / writer)
            return pickle.loads((self._folder / writer / "answers").read_bytes())
        self._of("write", writer)
        results = self._folder / f"{writer}.{what}.{reader}"
        run(reader, SCRIPT, what, self._folder / writer, results)
        return pickle.loads(results.read_bytes())

    def answers(self, writer):
        return self._of("write", writer)

    def read(self, writer, reader):
        return self._of("read", writer, reader)

    def runs(self, writer, reader):
        return self._of("run", writer, reader)


@pytest.fixture(scope="module")
def exchange(oracle, tmp_path_factory):
    if not (ENVIRONMENTS / "tf2" / "bin" / "python").exists():
        pytest.fail("no oracle environment tf2: run tests/oracle/make-oracles")
    return _Exchange(tmp_path_factory.mktemp("objects"))


def _assert_same(found, expected):
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            _assert_same(one, other)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            _assert_same(found[key], value)
    elif isinstance(expected, (float, np.floating, np.ndarray)) and np.asarray(expected).dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    else:
        assert np.asarray(found).tolist() == np.asarray(expected).tolist()


def _is_exchanged(model, writer, reader):
    foreign = reader == "tideflow" or model not in ONLY_READ_HERE
    return foreign and not (writer == "tf2" and model in NOT_OF_TENSORFLOW_2)


@pytest.mark.parametrize("writer, reader", PAIRS)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_an_object_answers_as_it_did_when_it_was_saved(model, writer, reader, exchange):
    if not _is_exchanged(model, writer, reader):
        return
    expected = exchange.answers(writer)[model.__name__]
    found = exchange.read(writer, reader)
    _assert_same(found[model.__name__], expected)
    _assert_same(found[f"{model.__name__} again"], expected)


@pytest.mark.parametrize("writer, reader", PAIRS)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_signatures_run_in_the_graphs_of_both(model, writer, reader, exchange):
    if model.signature is not None and _is_exchanged(model, writer, reader):
        expected = exchange.runs(writer, writer)[model.__name__]
        _assert_same(exchange.runs(writer, reader)[model.__name__], expected)
