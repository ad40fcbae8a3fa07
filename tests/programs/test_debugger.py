"""The debugger: what it keeps of steps, what it answers, and what it writes."""

import contextlib
import os

import numpy as np
import pytest

import tideflow as tf
from tideflow.programs import debugger as tf_debug


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def typed(monkeypatch):
    """What is typed on the terminal, line by line; the end of the input at last."""

    def type_in(*lines):
        waiting = list(lines)

        def read(prompt=""):
            if not waiting:
                raise EOFError
            return waiting.pop(0)

        monkeypatch.setattr("builtins.input", read)
        return waiting

    return type_in


def _model():
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    return x, v, tf.log(tf.multiply(x, v, name="product"), name="log")


def test_a_step_is_shown_on_the_terminal(typed, capsys):
    x, v, y = _model()
    left = typed(
        "run", "lt", "lt -f has_inf_or_nan", "pt product:0", "pt product[1]", "ni log", "pf x", "run"
    )
    session = tf.Session()
    session.run(v.initializer)
    with tf_debug.LocalCLIDebugWrapperSession(session) as sess:
        np.testing.assert_allclose(sess.run(y, {x: [0.0, 4.0]}), [-np.inf, np.log(8)])
    assert not left
    shown = capsys.readouterr().out
    assert "run-start: run #1" in shown
    assert "Fetch(es): log:0\nFeed(s): x:0" in shown
    assert "[0., 8.]" in shown
    assert "\n8.\n" in shown  # of a slice
    assert "1 input(s):\n    product" in shown
    assert "test_debugger.py" in shown.partition("made at")[2]
    listed = shown.partition("lt -f")[0]
    assert "log:0" in listed
    assert "1 tensor(s)" in shown  # only the logarithm has an infinity


def test_steps_run_until_a_filter_finds_something(typed, capsys):
    x, v, y = _model()
    left = typed("run -f has_inf_or_nan", "lt -f has_inf_or_nan", "run -t 2", "run -f large", "run")
    session = tf.Session()
    session.run(v.initializer)
    sess = tf_debug.LocalCLIDebugWrapperSession(session)
    sess.add_tensor_filter("large", lambda datum, tensor: bool((tensor > 1e6).any()))
    values = [1.0, 2.0, 0.0, 3.0, 4.0, 5.0, 1e9]
    for value in values:
        sess.run(y, {x: [value, 1.0]})
    assert not left
    shown = capsys.readouterr().out
    assert [line for line in shown.splitlines() if "---" in line] == [
        "--- run-start: run #1 ---",
        "--- run-end: run #3: 4 dumped tensor(s) ---",
        "--- run-start: run #6 ---",
        "--- run-end: run #7: 4 dumped tensor(s) ---",
    ]
    assert session._check is None  # nothing is left of the watching
    with pytest.raises(SystemExit):  # the end of the input ends the program
        sess.run(y, {x: [1.0, 1.0]})


def test_mistakes_on_the_terminal_are_answered(typed, capsys):
    _, v, _ = _model()
    typed("walk", "run -f other", "pt nothing", "run -z", "pt v[__import__]", "help", "run -n")
    sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session())
    sess.run(v.initializer)
    shown = capsys.readouterr().out
    assert shown.count("ERROR:") == 5
    assert 'no tensor filter named "other"' in shown
    assert "list the tensors of the step" in shown


def test_a_failing_step_shows_what_was_computed(typed, capsys):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.check_numerics(tf.log(x, name="log"), "not finite")
    typed("run", "pt log", "run")
    sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session())
    with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
        sess.run(y, {x: [0.0, 1.0]})
    shown = capsys.readouterr().out
    assert "an ERROR occurred" in shown
    assert "[-inf,   0.]" in shown


def test_values_are_written_and_read_again(tmp_path):
    x, v, y = _model()
    rounds = tf.while_loop(lambda i: i < 3, lambda i: tf.add(i, 1, name="next"), [0])
    session = tf.Session()
    session.run(v.initializer)

    def only_products(fetches, feeds):
        return tf_debug.WatchOptions(node_name_regex_whitelist="product|while/next")

    sess = tf_debug.DumpingDebugWrapperSession(session, str(tmp_path), watch_fn=only_products)
    sess.run([y, rounds], {x: [3.0, 4.0]})
    with sess.as_default():
        y.eval({x: [0.5, 0.5]})
    folders = sorted(os.listdir(tmp_path))
    assert len(folders) == 2
    dump = tf_debug.DebugDumpDir(str(tmp_path / folders[0]))
    assert dump.size == 4
    assert [v.tolist() for v in dump.get_tensors("product", 0, "DebugIdentity")] == [[3, 8]]
    assert [int(v) for v in dump.get_tensors("while/next", 0)] == [1, 2, 3]
    assert dump.node_op_type("log") == "Log"
    assert dump.node_inputs("log") == ["product"]
    assert dump.node_recipients("product") == ["log"]
    first = dump.dumped_tensor_data[0]
    assert first.timestamp == dump.t0
    assert tf_debug.load_tensor_from_event_file(first.file_path) is not None
    assert dump.find(tf_debug.has_inf_or_nan) == []
    with pytest.raises(ValueError, match="does not exist in the debug dump"):
        dump.get_tensors("log", 0)


def test_a_dump_tells_what_the_step_was_and_where_operations_come_from(tmp_path):
    x, v, y = _model()
    session = tf.Session()
    session.run(v.initializer)
    tf_debug.DumpingDebugWrapperSession(session, str(tmp_path)).run([y, y.op], {x: [3.0, 4.0]})
    (folder,) = os.listdir(tmp_path)
    dump = tf_debug.DebugDumpDir(str(tmp_path / folder))
    assert dump.core_metadata.input_names == [x.name]
    assert (dump.core_metadata.output_names, dump.core_metadata.target_nodes) == ([y.name], [y.op.name])
    assert y.name in dump.run_fetches_info and x.name in dump.run_feed_keys_info
    assert dump.debug_watch_keys("product") == ["product:0:DebugIdentity"]
    (path,) = dump.get_tensor_file_paths("product", 0)
    assert dump.get_dump_sizes_bytes("product", 0) == [os.path.getsize(path)]
    assert dump.get_rel_timestamps("product", 0)[0] >= 0
    assert {"product", x.op.name} <= set(dump.transitive_inputs("log"))
    assert dump.find_some_path(x.op.name, "log") == [x.op.name, "product", "log"]
    assert dump.find_some_path("log", x.op.name) is None
    assert dump.node_attributes("log")["T"].type == tf.float32.as_datatype_enum
    assert dump.node_device("log") in dump.devices()
    assert [len(graph.node) for graph in dump.partition_graphs()] == [len(dump.nodes())]
    with pytest.raises(LookupError, match="Python graph is not available"):
        dump.node_traceback("log")
    dump.set_python_graph(session.graph)
    assert dump.node_traceback("log:0") == session.graph.get_operation_by_name("log").traceback


def test_hooks_watch_monitored_sessions(typed, capsys, tmp_path):
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1, name="train")
    typed("run -n", "run", "pt train", "run")
    hooks = [tf_debug.LocalCLIDebugHook(), tf_debug.DumpingDebugHook(str(tmp_path))]
    hooks[0].add_tensor_filter("any", lambda datum, tensor: True)
    with contextlib.suppress(SystemExit), tf.train.MonitoredSession(hooks=hooks[:1]) as session:
        for _ in range(2):
            session.run(train)
    assert 'Tensor "train:0"' in capsys.readouterr().out
    with tf.train.MonitoredSession(hooks=hooks[1:]) as session:
        session.run(train)
    (folder,) = os.listdir(tmp_path)
    assert tf_debug.DebugDumpDir(str(tmp_path / folder)).get_tensors("train", 0) == [1]


def test_filters_look_at_numbers_only():
    assert tf_debug.has_inf_or_nan(None, np.array([1.0, np.nan]))
    assert not tf_debug.has_inf_or_nan(None, np.array([1.0, 2.0]))
    assert not tf_debug.has_inf_or_nan(None, np.array([b"nan"], dtype=object))


def test_options_of_a_run_name_what_is_watched(tmp_path):
    x, v, y = _model()
    root = f"file://{tmp_path}/some"
    options = tf.RunOptions()
    tf_debug.watch_graph(options, tf.get_default_graph(), debug_urls=root, op_type_regex_whitelist="Mul|Log")
    others = tf.RunOptions()
    tf_debug.watch_graph_with_blacklists(
        others,
        tf.get_default_graph(),
        debug_urls=[f"file://{tmp_path}/others"],
        node_name_regex_blacklist="log",
    )
    with tf.Session() as session:
        session.run(v.initializer)
        found = session.run(y, {x: [1.0, 1.0]}, options=options)
        np.testing.assert_allclose(found, np.log([1.0, 2.0]), rtol=1e-6)
        session.run(y, {x: [1.0, 1.0]}, options=others)
        wrong = tf.RunOptions()
        tf_debug.add_debug_tensor_watch(wrong, "log", debug_urls="grpc://localhost:1")
        with pytest.raises(ValueError, match="Values are written to folders"):
            session.run(y, {x: [1.0, 1.0]}, options=wrong)
    some = tf_debug.DebugDumpDir(str(tmp_path / "some"))
    assert [datum.tensor_name for datum in some.dumped_tensor_data] == ["product:0", "log:0"]
    rest = tf_debug.DebugDumpDir(str(tmp_path / "others"))
    assert {datum.node_name for datum in rest.dumped_tensor_data} == {"product", "v", "v/read"}
