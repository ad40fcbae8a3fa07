"""Quantile streams: made once, filled by summaries, flushed into boundaries; what does not fit is refused."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.runtime.quantile_streams import QuantileStream

raw = tf.raw_ops


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def on(handle, name, **inputs):
    return getattr(raw, f"BoostedTrees{name}")(quantile_stream_resource_handle=handle, **inputs)


def made(session, epsilon=0.1, num_streams=2, **attrs):
    handle = raw.BoostedTreesQuantileStreamResourceHandleOp()
    create = on(
        handle, "CreateQuantileStreamResource", epsilon=epsilon, num_streams=np.int64(num_streams), **attrs
    )
    session.run(create)
    return handle


@pytest.mark.parametrize("quantiles", [False, True])
def test_boundaries_are_near_the_quantiles(session, quantiles):
    handle = made(session)
    values = tf.placeholder(tf.float32, [None])
    summaries = raw.BoostedTreesMakeQuantileSummaries(
        float_values=[values, -values], example_weights=[1.0], epsilon=0.1
    )
    add = on(handle, "QuantileStreamResourceAddSummaries", summaries=summaries)
    rng = np.random.default_rng(0)
    everything = rng.normal(size=(5, 300)).astype("f")
    for batch in everything:
        session.run(add, {values: batch})
    session.run(
        on(handle, "QuantileStreamResourceFlush", num_buckets=np.int64(11), generate_quantiles=quantiles)
    )
    first, second = session.run(on(handle, "QuantileStreamResourceGetBucketBoundaries", num_features=2))
    exact = np.quantile(everything, np.linspace(0, 1, 11))
    ranks = np.searchsorted(np.sort(everything.ravel()), first) / everything.size
    assert first[0] == exact[0] and first[-1] == exact[-1] and second[0] == -exact[-1]
    assert np.all(np.diff(ranks) < 0.25)
    assert session.run(on(handle, "FlushQuantileSummaries", num_features=2))[1].shape == (0, 4)


def test_a_summary_of_many_values_is_small_and_its_ranks_are_right():
    values = np.random.default_rng(1).normal(size=20000).astype("f")
    stream = QuantileStream(0.01, len(values) + 1)
    stream.push_values(values, np.ones_like(values))
    summary = stream.summary()
    assert len(summary) < 3000
    below = np.searchsorted(np.sort(values), summary[:, 0])
    assert np.all(summary[:, 2] <= below + 1) and np.all(below <= summary[:, 3])
    assert np.max(summary[:, 3] - summary[:, 2]) <= 0.02 * len(values)


@pytest.mark.parametrize(
    "name, inputs, message",
    [
        ("CreateQuantileStreamResource", {"epsilon": 2.0, "num_streams": np.int64(1)}, "must be in"),
        ("CreateQuantileStreamResource", {"epsilon": 0.5, "num_streams": np.int64(-1)}, "negative"),
        ("QuantileStreamResourceAddSummaries", {"summaries": [np.zeros((1, 4), "f")]}, "2 quantile streams"),
        ("QuantileStreamResourceAddSummaries", {"summaries": [np.zeros((1, 3), "f")] * 2}, "four columns"),
        ("QuantileStreamResourceGetBucketBoundaries", {"num_features": 3}, "2 quantile streams, but 3"),
        ("FlushQuantileSummaries", {"num_features": 3}, "2 quantile streams, not 3"),
        ("QuantileStreamResourceDeserialize", {"bucket_boundaries": [[1.0]]}, "2 quantile streams"),
    ],
)
def test_what_does_not_fit_is_refused(session, name, inputs, message):
    new = name.startswith("Create")
    handle = raw.BoostedTreesQuantileStreamResourceHandleOp() if new else made(session)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(on(handle, name, **inputs))


def test_streams_must_be_made_first_and_stay_as_they_were_made(session):
    handle = raw.BoostedTreesQuantileStreamResourceHandleOp(shared_name="late")
    is_made = raw.IsBoostedTreesQuantileStreamResourceInitialized(quantile_stream_resource_handle=handle)
    boundaries = on(handle, "QuantileStreamResourceGetBucketBoundaries", num_features=1)
    assert not session.run(is_made)
    with pytest.raises(tf.errors.NotFoundError, match="localhost/late/"):
        session.run(boundaries)
    for count in (1, 5):
        session.run(on(handle, "CreateQuantileStreamResource", epsilon=0.5, num_streams=np.int64(count)))
    assert session.run(is_made)
    restore = on(handle, "QuantileStreamResourceDeserialize", bucket_boundaries=[np.float32([1, 2])])
    session.run(restore)
    assert session.run(boundaries)[0].tolist() == [1, 2]
