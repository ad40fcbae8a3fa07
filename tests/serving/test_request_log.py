"""Logs of requests: which calls are in them, as what, and in which files."""

import math
import os

import numpy as np
import pytest

import tideflow as tf
from tideflow.io.records import TFRecordWriter
from tideflow.serving import messages, request_log
from tideflow.serving.calls import CLASSIFY, PREDICT, Call, Signature, TensorSpec
from tideflow.serving.metrics import Metrics
from tideflow.serving.request_log import RequestLog, RequestLogs, log_of
from tideflow.serving.warmup import calls_of, read_logs


class Model:
    name, version = "m", 7
    signatures = {
        "double": Signature(
            PREDICT,
            {"x": TensorSpec(tf.float32, (None, 2), "x:0")},
            {"y": TensorSpec(tf.float32, (None, 2), "y:0")},
        ),
        "classify": Signature(
            CLASSIFY,
            {"inputs": TensorSpec(tf.string, (None,), "examples:0")},
            {"scores": TensorSpec(tf.float32, (None, 2), "scores:0")},
        ),
    }


def predict(value):
    x = np.full((1, 2), value, np.float32)
    return Call("double", {"x": x}, ("y",), 1, math.inf, None), {"y": 2 * x}


def values_in(folder, prefix):
    return [
        float(tf.make_ndarray(log.predict_log.response.outputs["y"])[0, 0])
        for path in sorted(folder.glob(f"{prefix}-*.tfrecord"))
        for log in read_logs(str(path))
    ]


def test_the_share_that_is_asked_for_is_logged(tmp_path):
    metrics, chances = Metrics(), iter([0.1, 0.5, 0.49, 0.9])
    log = RequestLog(str(tmp_path / "log"), 0.5, metrics, lambda: next(chances))
    for value in range(4):
        log(Model(), *predict(value))
    log.close()
    assert values_in(tmp_path, "log") == [0, 4]
    assert metrics.request_log_count.of("m", "OK").value == 2


def test_calls_come_back_from_their_logs():
    examples = np.array([b"\n\0", b""], object)
    calls = [
        predict(3)[0],
        Call("classify", {"inputs": examples}, ("scores",), 2, math.inf, None),
        Call("", {"x:0": np.zeros(2)}, ("y:0",), 1, math.inf, None),
    ]
    for call in calls:
        log = log_of(Model(), call, {}, 1.0)
        assert (log.log_metadata.model_spec.name, log.log_metadata.model_spec.version.value) == ("m", 7)
        (again,) = calls_of(Model(), messages.PredictionLog.FromString(log.SerializeToString()))
        assert (again.signature, again.outputs, again.rows) == (call.signature, call.outputs, call.rows)
        for name, array in call.inputs.items():
            np.testing.assert_array_equal(again.inputs[name], array)


def test_models_have_logs_of_their_own(tmp_path):
    logs = RequestLogs(str(tmp_path / "all"), 1.0, Metrics())
    config = messages.ModelConfig(name="m")
    config.logging_config.log_collector_config.filename_prefix = str(tmp_path / "own")
    config.logging_config.sampling_config.sampling_rate = 1.0
    logs(Model(), *predict(1))
    logs.configure([config])
    logs(Model(), *predict(2))
    logs.configure([messages.ModelConfig(name="m")])
    logs(Model(), *predict(3))
    logs.close()
    assert values_in(tmp_path, "all") == [2, 4, 6] and values_in(tmp_path, "own") == [4]


def test_a_log_that_cannot_be_written_is_counted_and_said_once(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(request_log, "PAUSE_SECONDS", 0.0)
    metrics = Metrics()
    log = RequestLog(str(tmp_path / "later" / "log"), 1.0, metrics)
    for value in range(3):
        log(Model(), *predict(value))
    assert metrics.request_log_count.of("m", "UNAVAILABLE").value == 3
    assert caplog.text.count("requests cannot be logged") == 1
    (tmp_path / "later").mkdir()
    log(Model(), *predict(3))
    log.close()
    assert values_in(tmp_path / "later", "log") == [6]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_a_full_disk_costs_the_log_one_file(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(request_log, "FLUSH_SECONDS", -1.0)
    metrics = Metrics()
    log = RequestLog(str(tmp_path / "log"), 1.0, metrics)
    opened = []
    full = lambda path: opened.append(path) or TFRecordWriter("/dev/full")
    monkeypatch.setattr(request_log, "TFRecordWriter", full)
    for value in range(2):
        log(Model(), *predict(value))
    assert len(opened) == 1  # it is not tried for every call
    monkeypatch.setattr(request_log, "TFRecordWriter", TFRecordWriter)
    log._resumes_at = 0.0
    log(Model(), *predict(2))
    log.close()
    assert values_in(tmp_path, "log") == [4]
    assert metrics.request_log_count.of("m", "UNAVAILABLE").value == 2
    assert caplog.text.count("No space left on device") == 1
