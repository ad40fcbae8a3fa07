"""tf.load_op_library, tf.resource_loader and tf.test.Benchmark."""

import json
import textwrap

import numpy as np
import pytest

import tideflow as tf

LIBRARY = """
    import torch
    import tideflow as tf
    from tideflow.graph.op import Op

    zero_out_op = Op("ZeroOutForTest", "to_zero: T -> zeroed: T", T=(tf.float32, tf.int32), keep=1)

    @zero_out_op.shape
    def _(to_zero):
        return to_zero

    @zero_out_op.kernel
    def _(to_zero, *, keep):
        return torch.where(torch.arange(to_zero.numel()).reshape(to_zero.shape) < keep, to_zero, 0)

    @zero_out_op.gradient
    def _(op, grad):
        return grad
"""


def test_a_python_file_declares_ops(tmp_path):
    path = tmp_path / "zero_out.py"
    path.write_text(textwrap.dedent(LIBRARY))
    library = tf.load_op_library(str(path))
    assert tf.load_op_library(str(path)) is library
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(
            [library.zero_out_for_test([5, 4, 3]), library.zero_out_for_test([5, 4, 3], keep=2)]
        )
    np.testing.assert_array_equal(found, [[5, 0, 0], [5, 4, 0]])
    tf.load_library(str(tmp_path))  # a folder, whose file is loaded already


def test_libraries_that_cannot_be_loaded(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="no such file"):
        tf.load_op_library(str(tmp_path / "nothing.py"))
    with pytest.raises(OSError, match="does not exist"):
        tf.load_library(str(tmp_path / "nothing"))
    broken = tmp_path / "broken.py"
    broken.write_text("raise KeyError('broken')")
    for _ in range(2):
        with pytest.raises(KeyError, match="broken"):
            tf.load_op_library(str(broken))


def test_files_beside_the_program():
    loader = tf.resource_loader
    assert loader.get_path_to_datafile("x.txt") == __file__.replace("test_libraries.py", "x.txt")
    assert b"op_defs" not in loader.load_resource("graph/data/api.txt")
    assert loader.readahead_file_path("a") == "a"


class SumBenchmark(tf.test.Benchmark):
    def benchmark_sum(self):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder_with_default(np.ones(1000, np.float32), [1000])
            return self.run_op_benchmark(
                session, tf.reduce_sum(x), min_iters=3, extras={"e": 1}, mbs=2.0, store_trace=True
            )


def test_a_benchmark_is_measured_and_reported(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", str(tmp_path / "report-"))
    result = SumBenchmark().benchmark_sum()
    assert result["iters"] == 3 and result["wall_time"] > 0 and result["throughput"] > 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["name"] == "SumBenchmark.benchmark_sum" and reported["extras"]["e"] == 1
    assert json.loads((tmp_path / "report-SumBenchmark.benchmark_sum").read_text()) == reported
    assert "traceEvents" in reported["extras"]["full_trace_chrome_format"]
    assert tf.test.Benchmark.is_abstract() and not SumBenchmark.is_abstract()
    assert tf.test.benchmark_config().graph_options.rewrite_options.dependency_optimization == 2
