"""Which functions are converted, where their source comes from, and where their operations were made."""

import asyncio
import gc
import linecache
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest

import tideflow as tf
from tideflow.autograph import conversion, sources, tf_convert
from tideflow.graph.traceback import converted


def positive(x):
    if x > 0:
        return 1
    return 2


def line_of(function, offset):
    return function.__code__.co_firstlineno + offset


@pytest.fixture
def warnings(monkeypatch):
    seen = []
    monkeypatch.setattr("tideflow.platform.logging.warn", lambda message, *args: seen.append(message % args))
    return seen


def run(tensor):
    with tf.Session() as session:
        return session.run(tensor)


def test_operations_and_errors_name_the_users_line():
    def f(x):
        y = x + 1
        if y > 0:
            z = tf.multiply(y, 2, name="product")
        else:
            z = y
        return tf.reshape(z, [3])

    x = tf.placeholder(tf.int32, [])
    with pytest.raises(ValueError) as caught:
        tf.autograph.to_graph(f)(x)
    lines = [frame.lineno for frame in traceback.extract_tb(caught.tb) if frame.filename == __file__]
    assert lines[-1] == line_of(f, 6)
    op = tf.get_default_graph().get_operation_by_name("cond/product")
    assert [frame[:2] for frame in op.traceback if frame[0] == __file__][-1] == (__file__, line_of(f, 3))


def test_the_code_can_be_read():
    code = tf.autograph.to_code(positive)
    assert code.startswith("def tf__positive(x):\n")
    assert "ag__.if_(x > 0, if_body, else_body" in code
    assert compile(code, "code", "exec")
    assert "def tf__lambda_(x):" in tf.autograph.to_code(lambda x: x)


def test_functions_without_source_run_as_they_are(warnings):
    made = {}
    exec(compile("def f(x):\n    return x + 1\n", "<made up>", "exec"), made)
    exec("def g(x):\n    return x + 2\n", made)

    def h(x):
        return made["f"](x) + made["f"](x) + made["g"](x)

    assert tf.autograph.to_graph(h)(1) == 7
    assert len(warnings) == 1
    assert "could not be transformed and will be executed as-is" in warnings[0]
    with pytest.raises(tf.contrib.autograph.AutoGraphError, match="Unable to locate the source code"):
        tf.autograph.to_graph(made["f"])


def test_a_file_that_has_changed_is_not_believed(tmp_path, warnings):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x + 1\n")
    made = {}
    exec(compile(path.read_text(), str(path), "exec"), made)
    path.write_text("# a new line, and the rest has moved\ndef f(y):\n    return y + 2\n")
    with pytest.raises(tf.contrib.autograph.AutoGraphError, match="is not what was compiled"):
        tf.autograph.to_graph(made["f"])
    assert tf.autograph.to_graph(lambda x: made["f"](x))(1) == 2


def test_a_cell_that_is_run_again():
    """As notebooks do: each cell is a file of its own, which only linecache knows."""

    def run_cell(name, source):
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        made = {"tf": tf}
        exec(compile(source, name, "exec"), made)
        return made["f"]

    source = "def f(x):\n    if x > 0:\n        return x * {}\n    return x\n"
    x = tf.constant(3)
    try:
        for cell, factor in (("<cell 1>", 2), ("<cell 2>", 5), ("<cell 1>", 7)):
            assert run(tf.autograph.to_graph(run_cell(cell, source.format(factor)))(x)) == 3 * factor
    finally:
        for cell in ("<cell 1>", "<cell 2>"):
            del linecache.cache[cell]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code has no columns before Python 3.11")
def test_lambdas_of_one_line_are_told_apart():
    both = [lambda x: x * 2 if x > 0 else x, lambda x: x * 5 if x > 0 else x]
    assert [run(tf.autograph.to_graph(f)(tf.constant(3))) for f in both] == [6, 15]


def test_an_interrupt_leaves_the_cache_whole(monkeypatch):
    def f(x):
        if x > 0:
            return 1
        return 2

    find = sources.find
    with monkeypatch.context() as patch:
        patch.setattr(sources, "find", lambda *args: (find(*args), interrupt())[0])
        with pytest.raises(KeyboardInterrupt):
            tf.autograph.to_graph(f)
    assert run(tf.autograph.to_graph(f)(tf.constant(1))) == 1
    assert tf.autograph.to_graph(f).__code__ is tf.autograph.to_graph(f).__code__


def interrupt():
    raise KeyboardInterrupt


def test_threads_convert_at_once():
    def f(x):
        def g(y):
            if y > 0:
                return 1
            return 2

        return g(x)

    start, results = threading.Barrier(8), []

    def convert():
        start.wait(10)
        results.append(tf.autograph.to_graph(f))

    threads = [threading.Thread(target=convert) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {made.__code__ for made in results} == {results[0].__code__}
    assert [made(1) for made in results] == [1] * 8


def test_converted_code_goes_with_its_function(tmp_path):
    path = tmp_path / "short_lived.py"
    path.write_text("def f(x):\n    return x\n")
    made = {}
    exec(compile(path.read_text(), str(path), "exec"), made)
    code = weakref.ref(tf.autograph.to_graph(made.pop("f")).__code__)
    gc.collect()
    assert code() is None
    assert all(key.co_filename != str(path) for key in conversion._cache)


def test_generators_and_async_functions_are_left_alone(warnings):
    def numbers():
        yield from range(3)

    async def later(x):
        return x if x > 0 else -x

    def f(x):
        def inner():
            yield x

        return sum(numbers()) + asyncio.run(later(2)) + sum(inner())

    assert tf.autograph.to_graph(f)(1) == 6
    assert ["appears to be a generator function" in w for w in warnings] == [True]
    for function in (numbers, later):
        with pytest.raises(NotImplementedError, match="not supported by AutoGraph"):
            tf.autograph.to_graph(function)


def test_jumps_out_of_finally_are_left_to_python(warnings):
    def swallows(x):
        try:
            raise ValueError
        finally:
            return x + 1  # noqa: B012

    def f(x):
        return swallows(x)

    assert tf.autograph.to_graph(f)(1) == 2
    assert "jumps out of a finally block" in warnings[0]


def test_functions_of_libraries_are_called_as_they_are():
    def f(x, values):
        linecache.getlines("nowhere")
        values.sort()
        values.append(np.sum([1, 2]))
        return tf.add(x, 1) + len(values) + np.argmax(values) + int(str(3)) + max(1, 2)

    before = set(converted)
    assert run(tf.autograph.to_graph(f)(tf.constant(1), [3, 1])) == 1 + 1 + 3 + 1 + 3 + 2
    assert {code.co_name for code in set(converted) - before} == {"tf__f"}


def test_frames_are_those_of_the_function():
    def f(x):
        y = 2
        return eval("x + y") + ("y" in locals())

    assert tf.autograph.to_graph(f)(1) == 4


def test_do_not_convert_and_tf_convert():
    seen = []

    @tf.autograph.experimental.do_not_convert
    def plain():
        seen.append(tf_convert(positive))
        return 1

    x = tf.constant(1)
    assert run(tf_convert(positive)(x)) == 1
    assert tf_convert(plain) is plain
    plain()
    with pytest.raises(TypeError, match="as a Python `bool`"):
        seen[0](x)

    class Callable:
        def __call__(self, x):
            if x > 0:
                return 3
            return 4

        method = __call__

    assert run(tf_convert(Callable())(x)) == 3
    assert run(tf_convert(Callable().method)(x)) == 3
    assert tf_convert(positive).__name__ == "positive"


def test_verbosity(capsys, monkeypatch):
    def f(x):
        return x

    tf.autograph.set_verbosity(2, alsologtostdout=True)
    try:
        tf.autograph.to_graph(f)
    finally:
        tf.autograph.set_verbosity(0)
    said = capsys.readouterr().out
    assert "Converting <function" in said and "def tf__f(x):" in said
    tf.autograph.trace(1, "a")
    assert capsys.readouterr().out == "1 a\n"


def test_many_operations_of_a_python_loop_are_warned_of(warnings):
    def f(x):
        i = 0
        while i < 3003:
            i += 1
            if i > 3000:
                x = x + i
        return x

    tf.autograph.to_graph(f)(tf.constant(1))
    assert ["ops are being created in a Python loop" in w for w in warnings] == [True]


def test_classes():
    class Counter:
        """Counts."""

        def __init__(self, start):
            self.value = start

        def add(self, n):
            if n > 2:
                self.value = self.value + n
            return self.value

        @property
        def twice(self):
            return self.value * 2

    made = tf.autograph.to_graph(Counter)
    counter = made(5)
    x = tf.placeholder(tf.int32, [])
    result = counter.add(x)
    with tf.Session() as session:
        assert [session.run(result, {x: value}) for value in (1, 4)] == [5, 9]
    assert made.__name__ == "TfCounter" and made.__doc__ == "Counts."
    assert isinstance(counter, Counter) and made(2).twice == 4
    assert "def tf__add(self, n):" in tf.autograph.to_code(Counter)
    with pytest.raises(tf.contrib.autograph.AutoGraphError, match="no member methods"):
        tf.autograph.to_graph(type("Empty", (), {}))
