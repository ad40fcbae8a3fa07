"""Counts under TensorFlow Serving's names; percentiles near the real ones; Prometheus' text."""

import numpy as np
import pytest

from tests.serving.test_batching import call, queue_of
from tideflow.serving.metrics import LATENCY, MOST_CHILDREN, OTHERS, Histogram, Metrics


def test_prometheus_sees_requests_as_tensorflow_serving_shows_them():
    metrics = Metrics()
    for seconds in (5e-6, 12e-6, 0.5, 2000.0):
        metrics.record_request("half", "Predict", "REST", "OK", seconds, 3)
    metrics.record_request('"odd"\n', "Predict", "GRPC", "NOT_FOUND", 0.001, 1)
    lines = metrics.prometheus_text().decode().splitlines()
    assert ':tensorflow:serving:request_count{model_name="half",status="OK"} 4' in lines
    assert ':tensorflow:serving:request_count{model_name="\\"odd\\"\\n",status="NOT_FOUND"} 1' in lines
    assert ':tensorflow:serving:request_example_count_total{model="half"} 12' in lines
    assert "# TYPE :tensorflow:serving:request_latency histogram" in lines
    buckets = dict(
        line.rsplit(" ", 1) for line in lines if line.startswith(":tensorflow:serving:request_latency_bucket")
    )
    prefix = (
        ':tensorflow:serving:request_latency_bucket{model_name="half",API="Predict",entrypoint="REST",le='
    )
    found = {key.removeprefix(prefix): int(count) for key, count in buckets.items() if key.startswith(prefix)}
    assert len(found) == 34
    assert (found['"10"}'], found['"18"}'], found['"708235"}'], found['"+Inf"}']) == (1, 2, 3, 4)


def test_requests_that_failed_have_no_part_in_times_and_examples():
    metrics = Metrics()
    metrics.mark(0.0)
    metrics.record_request("m", "Predict", "REST", "OK", 0.5, 3)
    for _ in range(9):
        metrics.record_request("m", "Predict", "REST", "INVALID_ARGUMENT", 0.0, 0)
    text = metrics.prometheus_text().decode()
    assert ':request_latency_count{model_name="m",API="Predict",entrypoint="REST"} 1\n' in text
    assert ':request_example_counts_count{model="m"} 1\n' in text
    assert metrics.recent(1.0)["m"]["p50"] == pytest.approx(0.5, rel=0.5)
    assert metrics.totals() == {"m": {"OK": 1, "INVALID_ARGUMENT": 9}}


def test_percentiles():
    values = np.random.default_rng(0).lognormal(8, 1, 20_000)
    histogram = Histogram(LATENCY)
    for value in values:
        histogram.add(value)
    shares = (0.01, 0.5, 0.99, 0.999)
    np.testing.assert_allclose(histogram.percentiles(shares), np.quantile(values, shares), rtol=0.05)
    assert Histogram(LATENCY).percentiles(shares) == []
    histogram.add(1e12)
    assert histogram.percentiles([1.0]) == [LATENCY[-1]]


def test_recent_figures_forget_what_is_long_ago():
    metrics = Metrics()
    for second in range(100):
        metrics.mark(float(second))
        for entrypoint in ("REST", "GRPC"):
            metrics.record_request("m", "Predict", entrypoint, "OK", 1.0 if second < 10 else 0.001, 1)
    recent = metrics.recent(100.0)["m"]
    assert recent["rate"] == pytest.approx(2.0)
    assert recent["p999"] == pytest.approx(0.001, rel=0.1)
    assert metrics.totals() == {"m": {"OK": 200}}


def test_batches_are_counted_and_the_latest_kept():
    metrics = Metrics()
    queue = queue_of(call()[0], call(rows=2)[0], limit=4, allowed_sizes=(4,))
    metrics.record_batch("m", queue.take(0.25), 0.5)
    (record,) = metrics.batches["m"]
    assert (record.rows, record.padding, record.limit, record.waited, record.reason) == (
        3,
        1,
        4,
        0.25,
        "IDLE",
    )
    text = metrics.prometheus_text().decode()
    assert ":tensorflow:serving:batching_session:wrapped_run_count 1\n" in text
    assert ':tensorflow:serving:batching_session:queuing_latency_count{thread_pool_name="m"} 2\n' in text
    assert ':tideflow:serving:batches_closed{model_name="m",reason="IDLE"} 1\n' in text


def test_made_up_names_do_not_fill_the_memory():
    metrics = Metrics()
    for number in range(MOST_CHILDREN + 500):
        metrics.record_request(f"m{number}", "Predict", "REST", "NOT_FOUND", 0.001, 1)
    assert len(metrics.request_count.children) == MOST_CHILDREN + 1
    assert metrics.request_count.of(OTHERS, OTHERS).value == 500


def test_a_number_that_somebody_else_keeps():
    metrics = Metrics()
    size = metrics.gauge("/tideflow/serving/cache_bytes", "Bytes.", "model_name")
    size.reads(lambda: 42, "m")
    assert ':tideflow:serving:cache_bytes{model_name="m"} 42\n' in metrics.prometheus_text().decode()
    size.forget("m")
    assert 'cache_bytes{model_name="m"}' not in metrics.prometheus_text().decode()
