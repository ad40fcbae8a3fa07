"""Traced steps in tables."""

import re

import pytest
from tensorboard.compat.proto.step_stats_pb2 import StepStats

import tideflow as tf


@pytest.fixture
def summarizer():
    made = tf.contrib.stat_summarizer.NewStatSummarizer(b"unused")
    yield made
    tf.contrib.stat_summarizer.DeleteStatSummarizer(made)


def _step(*nodes, device="/job:localhost/replica:0/task:0/device:CPU:0"):
    """The statistics of a step, of (name, type, start, time, bytes)."""
    stats = StepStats()
    listed = stats.dev_stats.add(device=device)
    for name, kind, start, time, size in nodes:
        node = listed.node_stats.add(node_name=name, all_start_micros=start, all_end_rel_micros=time)
        node.timeline_label = f"{name} = {kind}(x, y)"
        node.memory.add(total_bytes=size)
    return stats


def _rows(text, title):
    table = text.split(f" {title} ")[1].split("\n\n")[0]
    return [row.split() for row in table.splitlines()[2:]]


def test_times_are_summed_over_steps(summarizer):
    for time in (100, 300):
        stats = _step(("a", "Add", 1000, time, 8), ("m", "MatMul", 1500, 3 * time, 4000))
        summarizer.ProcessStepStatsStr(stats.SerializeToString())
    text = summarizer.GetOutputString()
    assert _rows(text, "Run Order") == [
        ["Add", "0.000", "0.100", "0.200", "25.000%", "25.000%", "0.008", "1", "a"],
        ["MatMul", "0.500", "0.300", "0.600", "75.000%", "100.000%", "4.000", "1", "m"],
    ]
    assert [row[-1] for row in _rows(text, "Top by Computation Time")] == ["m", "a"]
    assert [row[-1] for row in _rows(text, "Top by Memory Use")] == ["m", "a"]
    types = text.split("[times called]")[-1].splitlines()[1:3]
    assert [row.split() for row in types] == [
        ["MatMul", "1", "0.600", "75.000%", "75.000%", "4.000", "1"],
        ["Add", "1", "0.200", "25.000%", "100.000%", "0.008", "1"],
    ]
    assert "count=2 first=400 curr=1200 min=400 max=1200 avg=800 std=400" in text
    assert "Memory (bytes): count=2 curr=4008(all same)\n2 nodes observed" in text


def test_what_a_device_lists_a_second_time_is_left_out(summarizer, capsys):
    for device in ("/host:CPU", "/device:GPU:0/stream:7"):
        summarizer.ProcessStepStats(_step(("a", "Add", 1, 2, 3), device=device))
    summarizer.PrintStepStats()
    assert "0 nodes observed" in capsys.readouterr().err


def test_without_steps_the_tables_are_empty(summarizer):
    summarizer.ProcessStepStats(StepStats())
    assert "Timings (microseconds): count=0" in summarizer.GetOutputString()


def test_steps_of_a_session(summarizer):
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32, [1, 2])
        product = tf.matmul(given, tf.ones([2, 1]))
        for _ in range(5):
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            session.run(product, {given: [[1.0, 2.0]]}, options, metadata)
            summarizer.ProcessStepStatsStr(metadata.step_stats.SerializeToString())
    text = summarizer.GetOutputString()
    assert "count=5" in text and re.search(r"100\.000%.*\n\n", text) and "MatMul" in text
