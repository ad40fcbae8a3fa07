"""The canary: real worker processes, with models that are good and bad in all ways."""

import os
import signal

import numpy as np
import pyarrow as pa
import pytest

import tideflow as tf
from tideflow.pipeline.data.sources import Blocks
from tideflow.pipeline.deployment.canary import Limits, Trial, canary, requests_of
from tideflow.serving.calls import Call
from tideflow.serving.metrics import Metrics
from tideflow.serving.request_log import RequestLog

ROWS = pa.RecordBatch.from_arrays([pa.array([[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]])], names=["x"])


@pytest.fixture
def tried(serving_loop, workers):
    """Tries a model in a process of the shared fork server."""

    def run(path, logs=(), rows=ROWS, **limits):
        return serving_loop(Trial(path, list(map(str, logs)), rows, "", Limits(**limits)).run(workers))

    return run


def save(path, function):
    """Saves a SavedModel with y, a function of x."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.saved_model.simple_save(session, str(path), {"x": x}, {"y": function(x)})
    return str(path)


def log_requests(tmp_path, save_linear, count):
    """Requests that a server logged."""
    from tideflow.serving.saved_model_servable import SavedModel

    model = SavedModel(save_linear(tmp_path / "logged", 1))
    model.name, model.version = "linear", 1
    log = RequestLog(str(tmp_path / "log"), 1.0, Metrics())
    for number in range(count):
        inputs = {"x": np.full((1, 3), number, np.float32)}
        call = Call("serving_default", inputs, ("y",), 1, 0.0, print)
        log(model, call, {"y": inputs["x"]})
    log.close()
    model.close()
    return sorted(tmp_path.glob("log-*.tfrecord"))


def test_a_good_model_answers_the_log_and_the_rows(tried, tmp_path, save_linear):
    logs = log_requests(tmp_path, save_linear, 5)
    result = tried(save_linear(tmp_path / "model", 2), logs)
    assert result.ok and result.failures == []
    assert result.answered == 5 + 2 + 1  # each row, and all at once
    assert result.memory_bytes > 1 << 20 and result.load_seconds > 0
    assert 0 < result.latency_ms["p50"] <= result.latency_ms["p99"] <= result.latency_ms["max"]
    assert tried(save_linear(tmp_path / "few", 2), logs, None, most_requests=3).answered == 3


def test_what_a_bad_model_does(tried, tmp_path, save_linear):
    nan = tried(save(tmp_path / "nan", lambda x: tf.log(x)))
    assert not nan.ok and nan.failures == [
        "request 2: y has 1 NaN in 3 values",
        "request 3: y has 1 NaN in 6 values",
    ]
    refuses = tried(save(tmp_path / "refuses", lambda x: tf.gather(x, tf.to_int32(x[:, 0]))))
    assert not refuses.ok and refuses.failures[0].startswith("request 1: ") and refuses.answered == 3
    greedy = save(tmp_path / "greedy", lambda x: tf.reduce_sum(tf.ones([1 << 14, 1 << 14])) + x)
    result = tried(greedy, memory_bytes=600 << 20)
    assert not result.ok and "bytes; 629145600 are allowed" in result.failures[0]
    slow = tried(save_linear(tmp_path / "slow", 1), p99_seconds=1e-9)
    assert not slow.ok and "99 of 100 requests took up to" in slow.failures[0]
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "saved_model.pb").write_bytes(b"no model")
    broken = tried(tmp_path / "broken")
    assert not broken.ok and broken.failures[0].startswith("loading the model: ") and broken.answered == 0
    hangs = save(tmp_path / "hangs", lambda x: tf.while_loop(lambda y: True, lambda y: y, [x]))
    result = tried(hangs, load_seconds=0.5, request_seconds=0.5)
    assert not result.ok and "took more than 0.5 seconds" in result.failures[0]


def keeping(bytes_a_request, most):
    """A model that keeps memory of its requests, up to so many pieces of it."""

    def function(x):
        kept = tf.FIFOQueue(most, [tf.float32], name="kept")
        piece = tf.fill([bytes_a_request // 4], x[0, 0])
        is_full = kept.size() >= most
        keep = tf.cond(is_full, lambda: tf.no_op(), lambda: kept.enqueue([piece]))
        with tf.control_dependencies([keep]):
            return tf.identity(x)

    return function


def test_a_leak_is_told_from_a_cache(tried, tmp_path):
    rows = pa.RecordBatch.from_arrays([pa.array([[1.0, 2.0, 3.0]] * 40)], names=["x"])
    leaks = tried(save(tmp_path / "leaks", keeping(1 << 20, 1000)), rows=rows, leak_bytes=16 << 20)
    assert not leaks.ok and "when the same 41 requests were sent once more; 16777216 are" in leaks.failures[0]
    caches = tried(save(tmp_path / "caches", keeping(1 << 20, 30)), rows=rows, leak_bytes=16 << 20)
    assert caches.ok and caches.answered == 82, "it grew, so it was asked twice"
    assert tried(save(tmp_path / "any", keeping(1 << 20, 1000)), rows=rows, leak_bytes=None).ok


class Killed(Trial):
    """A model whose process is killed while it answers."""

    async def _ask(self, process, number, *request):
        os.kill(process.pid, signal.SIGKILL)
        return await super()._ask(process, number, *request)


def test_a_process_that_crashes(serving_loop, workers, tmp_path, save_linear):
    result = serving_loop(Killed(save_linear(tmp_path / "model", 1), [], ROWS, "", Limits()).run(workers))
    assert not result.ok and result.answered == 0
    assert result.failures == ["the process ended by SIGKILL while answering request 1"]


def test_without_a_request_nothing_is_known(tried, tmp_path, save_linear):
    result = tried(save_linear(tmp_path / "model", 1), rows=None)
    assert not result.ok and result.failures == ["there was no request to try: give a request log or rows"]
    with pytest.raises(tf.errors.NotFoundError, match="no request log"):
        canary(tmp_path / "model", request_log=tmp_path / "none")


def test_requests_are_the_first_rows():
    source = Blocks([ROWS.slice(0, 1), ROWS, ROWS])
    assert requests_of([source], 2).equals(
        pa.RecordBatch.from_arrays([pa.array([[1.0, 2.0, 3.0]] * 2)], names=["x"])
    )
    assert requests_of([Blocks([])], 2) is None
