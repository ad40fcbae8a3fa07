"""tf.profiler: what it counts, what it shows, and where it writes it. The views are compared with
TensorFlow's own in tests/oracle/programs/profiling.py.
"""

import gzip
import json

import numpy as np
import pytest

import tideflow as tf
from tideflow.profiler import flops
from tideflow.profiler.files import _messages as pprof
from tideflow.profiler.protos import ProfileProto

Builder = tf.profiler.ProfileOptionBuilder


@pytest.fixture
def network():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with tf.variable_scope("layer"):
            w = tf.get_variable("w", [3, 4], initializer=tf.zeros_initializer())
            y = tf.matmul(x, w, name="product")
        tf.reduce_sum(y, name="total")
        yield graph


def traced_step(graph, batch=2):
    traced = tf.RunMetadata()
    with tf.Session(graph=graph) as session:
        session.run("layer/w/Assign")
        session.run(
            "total:0",
            {"x:0": np.ones([batch, 3])},
            options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
            run_metadata=traced,
        )
    return traced


def quiet(options):
    return Builder(options).with_empty_output().build()


def test_flops_of_open_shapes_come_from_a_traced_step(network, capsys):
    options = quiet(Builder.float_operation())
    assert tf.profiler.profile(network, options=options).total_float_ops == 0
    assert "no flops stats due to incomplete shapes" in capsys.readouterr().err
    traced = traced_step(network, batch=5)
    assert tf.profiler.profile(network, traced, options=options).total_float_ops == 2 * 5 * 3 * 4 + 5 * 4 - 1
    assert network.get_tensor_by_name("layer/product:0").shape.as_list() == [
        None,
        4,
    ]  # the graph's is as before


def test_a_traced_step_has_time_and_memory(network):
    profile = tf.profiler.profile(network, traced_step(network), options=quiet(Builder.time_and_memory(0, 0)))
    (layer,) = [child for child in profile.children if child.name == "layer"]
    (product,) = [child for child in layer.children if child.name == "layer/product"]
    assert product.run_count == 1
    assert product.exec_micros >= 1
    assert product.requested_bytes == product.output_bytes == 2 * 4 * 4
    assert list(product.devices) == ["/job:localhost/replica:0/task:0/device:cpu:0"]
    assert profile.total_exec_micros >= layer.total_exec_micros >= product.exec_micros


def test_code_names_the_line_that_made_an_op(network):
    with network.as_default():
        tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]), name="here")
    options = Builder(quiet(Builder.float_operation())).with_node_names(show_name_regexes=[".*test_prof.*"])
    profile = tf.profiler.profile(network, cmd="code", options=options.build())
    innermost = profile
    while innermost.children:
        innermost = innermost.children[0]
    assert innermost.name.startswith("test_profiling.py:")
    assert innermost.name.endswith(":test_code_names_the_line_that_made_an_op")
    assert innermost.float_ops == 16


def test_what_is_printed(network, capsys):
    tf.profiler.profile(network)
    printed = capsys.readouterr().out
    assert "layer/w (3x4, 12/12 params)" in printed
    assert "-account_type_regexes       _trainable_variables" in printed


def test_a_file_a_timeline_and_pprof(network, tmp_path):
    traced = traced_step(network)
    build = Builder(Builder.time_and_memory(0, 0))
    tf.profiler.profile(
        network, traced, cmd="op", options=build.with_file_output(str(tmp_path / "ops")).build()
    )
    assert "MatMul" in (tmp_path / "ops").read_text()
    profiler = tf.profiler.Profiler(network)
    profiler.add_step(7, traced)
    profiler.profile_graph(build.with_timeline_output(str(tmp_path / "line")).build())
    events = json.loads((tmp_path / "line_7").read_text())["traceEvents"]
    assert {event["name"] for event in events} >= {"MatMul", "Sum"}
    profiler.profile_python(build.with_pprof_output(str(tmp_path / "pprof.gz")).build())
    profile = pprof["PprofProfile"].FromString(gzip.decompress((tmp_path / "pprof.gz").read_bytes()))
    assert len(profile.sample) >= len(network.get_operations())
    assert profile.string_table[0] == "" and "test_profiling.py" in list(profile.string_table)


def test_several_steps_are_averaged(network):
    profiler = tf.profiler.Profiler(network)
    profiler.add_step(1, traced_step(network, batch=2))
    profiler.add_step(2, traced_step(network, batch=6))
    build = Builder(quiet(Builder.time_and_memory(0, 0)))

    def bytes_of(step):
        (layer,) = [
            each
            for each in profiler.profile_name_scope(build.with_step(step).build()).children
            if each.name == "layer"
        ]
        return {child.name: child.requested_bytes for child in layer.children}["layer/product"]

    assert [bytes_of(step) for step in (1, 2, -1)] == [32, 96, 64]
    known = ProfileProto.FromString(profiler.serialize_to_string())
    assert list(known.steps) == [1, 2]
    (product,) = [node for node in known.nodes.values() if node.name == "layer/product"]
    assert product.op == "MatMul" and product.execs[1].run_count == 1 and known.has_trace


def test_advice_names_the_most_expensive_type(network, capsys):
    advice = tf.profiler.advise(network, traced_step(network))
    types, *_ = advice.checkers["ExpensiveOperationChecker"].reports
    assert types.startswith("top 1 operation type: ")
    assert "ExpensiveOperationChecker:" in capsys.readouterr().out
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown checkers"):
        tf.profiler.advise(network, options={"Nobody": {}})


def test_a_low_accelerator_is_told(network):
    traced = tf.RunMetadata()
    stream = traced.step_stats.dev_stats.add(device="/device:GPU:0/stream:all")
    for start in (0, 1000):
        stream.node_stats.add(node_name="layer/product", all_start_micros=start, all_end_rel_micros=10)
    advice = tf.profiler.advise(network, traced, {"AcceleratorUtilizationChecker": {}})
    (report,) = advice.checkers["AcceleratorUtilizationChecker"].reports
    assert report == "device: /device:gpu:0/stream:all low utilization: 0.02"


def test_deep_graphs(network):
    with tf.Graph().as_default() as graph:
        x = tf.ones([2])
        for _ in range(1500):
            x = tf.negative(x)
    profile = tf.profiler.profile(graph, cmd="graph", options=quiet(Builder.float_operation()))
    assert profile.total_float_ops == 2 * 1500


def test_bad_input(network):
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown cmd: foo"):
        tf.profiler.profile(network, cmd="foo")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown output option: printer"):
        tf.profiler.profile(network, options={"output": "printer"})
    with pytest.raises(tf.errors.InvalidArgumentError, match="'code' view only, not 'op'"):
        tf.profiler.profile(network, cmd="op", options=Builder().with_pprof_output("x").build())


def test_statistics_can_be_registered(network):
    @flops.RegisterStatistics("Sum", "noise")
    def noise(graph, node):
        return flops.OpStats("noise", len(node.name))

    try:
        node = network.get_operation_by_name("total").node_def
        assert flops.get_stats_for_node_def(network, node, "noise").value == 5
        assert flops.get_stats_for_node_def(network, node, "silence").value is None
        with pytest.raises(KeyError, match="two statistical functions"):
            flops.RegisterStatistics("Sum", "noise")(noise)
    finally:
        del flops._registered["Sum", "noise"]
    total = flops.OpStats("flops", 3)
    total += flops.OpStats("flops", 4)
    assert total.value == 7
    with pytest.raises(ValueError, match="Can't add"):
        total += flops.OpStats("bytes", 1)
