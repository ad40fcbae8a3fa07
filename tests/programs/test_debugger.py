"""The debugger: what it keeps of steps, what it answers, and what it writes."""

import contextlib
import os

import numpy as np
import pytest

import tideflow as tf
from tideflow.programs import debugger as tf_debug
from tideflow.programs.debugger import gradients
from tideflow.programs.debugger.cli import commands, settings, terminals


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


@pytest.fixture(autouse=True)
def _home(monkeypatch, tmp_path_factory):
    """The terminal keeps its settings in the user's folder: one of the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


def _model():
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=False)
    return x, v, tf.log(tf.multiply(x, v, name="product"), name="log")


def _titles(shown):
    return [line.partition(": 1 fetch")[0] for line in shown.splitlines() if line.startswith("run-")]


def test_a_step_is_shown_on_the_terminal(typed, capsys):
    x, v, y = _model()
    left = typed(
        "pf x:0",
        "run",
        "lt -f has_inf_or_nan",
        "pt product:0",
        "pt product:0[1]",
        "ni -t log",
        "li -r log",
        "run",
    )
    session = tf.Session()
    session.run(v.initializer)
    with tf_debug.LocalCLIDebugWrapperSession(session) as sess:
        np.testing.assert_allclose(sess.run(y, {x: [0.0, 4.0]}), [-np.inf, np.log(8)])
    assert not left
    shown = capsys.readouterr().out
    assert _titles(shown) == ["run-start: run #1", "run-end: run #1"]
    assert "Fetch(es):\n  log:0\n\nFeed dict:\n  x:0\n" in shown
    assert "5 dumped tensor(s):" in shown
    assert '1 dumped tensor(s) passing filter "has_inf_or_nan"' in shown  # only the logarithm has an infinity
    assert "\n[0.0, 4.0]\n" in shown  # what is fed
    assert "array([0., 8.], dtype=float32)" in shown
    assert 'Tensor "product:0:DebugIdentity[1]":\n\n8.0' in shown
    assert "1 input(s):\n      [Mul] product" in shown
    assert "|- (1) product\n" in shown and "   |- (2) _arg_x_0_0\n" in shown
    assert "test_debugger.py" in shown.partition("Traceback of node construction")[2]


def test_steps_run_until_a_filter_finds_something(typed, capsys):
    x, v, y = _model()
    left = typed("run -f has_inf_or_nan", "run -t 2", "run -f large", "run")
    session = tf.Session()
    session.run(v.initializer)
    sess = tf_debug.LocalCLIDebugWrapperSession(session)
    sess.add_tensor_filter("large", lambda datum, tensor: bool((tensor > 1e6).any()))
    for value in [1.0, 2.0, 0.0, 3.0, 4.0, 1e9]:
        sess.run(y, {x: [value, 1.0]})
    assert not left
    shown = capsys.readouterr().out
    assert _titles(shown) == [
        "run-start: run #1",
        "run-end: run #3",
        "run-end: run #5",
        "run-end: run #6",
    ]
    sess.run(y, {x: [1.0, 1.0]})
    with pytest.raises(SystemExit):  # the end of the input has ended the program
        sess.run(y, {x: [1.0, 1.0]})


def test_mistakes_on_the_terminal_are_answered(typed, capsys):
    _, v, _ = _model()
    typed("walk", "run -f other", "pt nothing", "run -z", "run > ", "help run", "run -n")
    sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session())
    sess.run(v.initializer)
    shown = capsys.readouterr().out
    assert 'ERROR: Invalid command prefix "walk"' in shown
    assert 'ERROR: tensor filter "other" does not exist.' in shown
    assert 'Invalid command prefix "pt"' in shown  # nothing has run yet
    assert 'Syntax error for command: run\nFor help, do "help run"' in shown
    assert "Redirect file path is empty" in shown
    assert "Run until a tensor in the graph passes the specified" in shown


def test_a_failing_step_shows_what_was_computed(typed, capsys):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.check_numerics(tf.log(x, name="log"), "not finite", name="check")
    typed("run", "pt log", "run")
    sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session())
    error = sess.run(y, {x: [0.0, 1.0]})
    assert isinstance(error, tf.errors.InvalidArgumentError)
    shown = capsys.readouterr().out
    assert "!!! An error occurred during the run !!!" in shown
    assert "ni -a -d -t check:" in shown and "not finite" in shown
    assert "array([-inf,   0.], dtype=float32)" in shown


def test_times_of_a_step_are_shown(typed, capsys):
    x, v, y = _model()
    typed("run -p", "lp -n log -s op_time", f"ps {__file__} -n product", "run -n")
    session = tf.Session()
    session.run(v.initializer)
    tf_debug.LocalCLIDebugWrapperSession(session).run(y, {x: [1.0, 1.0]})
    shown = capsys.readouterr().out
    assert "run-end (profiler mode): run #1" in shown
    assert "Device 1 of 1: /job:localhost/replica:0/task:0/device:CPU:0" in shown
    assert "test_debugger.py:" in shown and "(_model)" in shown
    assert "1(1)" in shown  # a line has made one operation, which ran once


def test_what_is_typed_is_completed_and_kept(tmp_path):
    terminal = terminals.ReadlineUI(config=settings.CLIConfig(str(tmp_path / "settings")))
    terminal.register_tab_comp_context(["pt"], ["loss:0", "logits:0"])
    assert terminal._readline_complete("pt lo", 0) == "pt logits:0"
    assert terminal._readline_complete("pt lo", 2) is None
    assert terminal._readline_complete("he", 0) == "help"
    history = commands.CommandHistory(limit=2, history_file_path=str(tmp_path / "history"))
    for command in ("lt", "pt loss", "pt loss", "ni loss"):
        history.add_command(command)
    again = commands.CommandHistory(limit=2, history_file_path=str(tmp_path / "history"))
    assert again.most_recent_n(5) == ["pt loss", "ni loss"]


def test_gradients_are_known_by_what_they_are_of(tmp_path):
    u = tf.get_variable("u", initializer=3.0)
    product = tf.multiply(u, u, name="square")
    with tf_debug.GradientsDebugger() as debugger:
        loss = tf.multiply(debugger.identify_gradient(product), 5.0)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session = tf.Session()
    session.run(u.initializer)
    assert session.run(debugger.gradient_tensor(product)) == 5.0
    tf_debug.DumpingDebugWrapperSession(session, str(tmp_path)).run(train)
    (folder,) = os.listdir(tmp_path)
    dump = tf_debug.DebugDumpDir(str(tmp_path / folder))
    dump.set_python_graph(session.graph)
    assert gradients.gradient_values_from_dump(debugger, product, dump) == [5.0]
    with pytest.raises(LookupError, match="has not received any gradient tensor for x-tensor u"):
        debugger.gradient_tensor("u")
    tf_debug.clear_gradient_debuggers()


def test_values_have_a_limit(tmp_path, monkeypatch):
    x, v, y = _model()
    session = tf.Session()
    session.run(v.initializer)
    monkeypatch.setenv("TFDBG_DISK_BYTES_LIMIT", "300")
    sess = tf_debug.DumpingDebugWrapperSession(session, str(tmp_path / "dumps"), pass_through_operrors=True)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="allowance \\(300\\)"):
        sess.run(y, {x: [1.0, 1.0]})


def test_values_are_written_and_read_again(tmp_path):
    x, v, y = _model()
    rounds = tf.while_loop(lambda i: i < 3, lambda i: tf.add(i, 1, name="next"), [0])
    session = tf.Session()
    session.run(v.initializer)

    def only_products(fetches, feeds):
        return tf_debug.WatchOptions(node_name_regex_whitelist="product|while/next$")

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
    assert set(dump.transitive_inputs("log")) == {"product", "_arg_x_0_0", "v", "v/read"}
    assert dump.find_some_path("_arg_x_0_0", "log") == ["_arg_x_0_0", "product", "log"]
    assert dump.find_some_path("log", "v") is None
    assert dump.node_attributes("log")["T"].type == tf.float32.as_datatype_enum
    assert dump.node_device("log") in dump.devices()
    assert [len(graph.node) for graph in dump.partition_graphs()] == [len(dump.nodes())]
    with pytest.raises(LookupError, match="Python graph is not available"):
        dump.node_traceback("log")
    dump.set_python_graph(session.graph)
    assert dump.node_traceback("log:0") == tuple(session.graph.get_operation_by_name("log").traceback)


def test_hooks_watch_monitored_sessions(typed, capsys, tmp_path):
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1, name="train")
    typed("run -n", "run", "pt train", "run")
    hooks = [tf_debug.LocalCLIDebugHook(), tf_debug.DumpingDebugHook(str(tmp_path))]
    hooks[0].add_tensor_filter("any", lambda datum, tensor: True)
    with contextlib.suppress(SystemExit), tf.train.MonitoredSession(hooks=hooks[:1]) as session:
        for _ in range(2):
            session.run(train)
    assert 'Tensor "train:0:DebugIdentity"' in capsys.readouterr().out
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
