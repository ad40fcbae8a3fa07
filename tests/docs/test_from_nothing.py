"""The tutorial runs, tells its story, and keeps the promises its prose makes."""

import importlib.util
import inspect
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).parents[2] / "docs" / "from_nothing.py"


def load():
    spec = importlib.util.spec_from_file_location("from_nothing", SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


tf = load()


@pytest.fixture(autouse=True)
def graph():
    return tf.Graph()


def line_here() -> str:
    return f"{Path(__file__).name}:{inspect.currentframe().f_back.f_lineno}"


def test_the_file_tells_its_story():
    done = subprocess.run([sys.executable, SOURCE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for part in (
        "is called tide_1",
        "inner sizes 3 and 4 differ",
        "def step(x, labels):",
        "AssignAdd(hidden_w",
    ):
        assert part in done.stdout
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("epoch")]
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.1


def test_the_file_stays_a_tutorial():
    lines = SOURCE.read_text().splitlines()
    assert len([line for line in lines if line.strip()]) <= 500
    assert max(map(len, lines)) <= 110


DIFFERENTIABLE = {
    "MatMul": [(2, 3), (3, 4)],
    "Transpose": [(2, 3)],
    "Spread": [(3,), (2, 3)],
    "Collect": [(2, 3), (2, 1)],
    "Neg": [(2, 3)],
    "Exp": [(2, 3)],
    "Log": [(2, 3)],
    "Tanh": [(2, 3)],
    "Add": [(2, 3), (3,)],
    "Sub": [(2, 1), (2, 3)],
    "Mul": [(2, 3), ()],
    "Div": [(1, 3), (2, 1)],
}


def test_every_operation_is_differentiable_or_says_it_is_not():
    refusing = {type for type, op in tf.OPS.items() if op.gradient is tf.not_differentiable}
    assert refusing | DIFFERENTIABLE.keys() == tf.OPS.keys()
    assert not refusing & DIFFERENTIABLE.keys()


def numeric_gradient(function, arrays, which, epsilon=1e-6):
    slopes = np.zeros_like(arrays[which])
    for index in np.ndindex(slopes.shape):
        sides = []
        for step in (epsilon, -epsilon):
            moved = [array.copy() for array in arrays]
            moved[which][index] += step
            sides.append(function(moved))
        slopes[index] = (sides[0] - sides[1]) / (2 * epsilon)
    return slopes


@pytest.mark.parametrize("type", DIFFERENTIABLE)
def test_gradients_are_the_numeric_ones_twice(type):
    rng = np.random.default_rng(1)
    arrays = [rng.uniform(0.5, 1.5, shape) for shape in DIFFERENTIABLE[type]]
    inputs = [tf.placeholder(shape=array.shape) for array in arrays]
    session = tf.Session()

    def check(y):
        found = tf.gradients(y, inputs)
        for i, grad in enumerate(found):
            expected = numeric_gradient(
                lambda values: session.run(y, dict(zip(inputs, values))), arrays, which=i
            )
            actual = 0 if grad is None else session.run(grad, dict(zip(inputs, arrays)))
            np.testing.assert_allclose(actual, expected, atol=1e-6)
        return found

    y = tf.OPS[type](*inputs)
    first = check(tf.collect(y * y, 0.0))
    for grad in first:
        if grad is not None:
            check(tf.collect(grad * grad, 0.0))


def test_second_derivative_of_tanh():
    x = tf.placeholder(shape=(None,))
    y = tf.tanh(x)
    (second,) = tf.gradients(*tf.gradients(y, [x]), [x])
    at = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(tf.Session().run(second, {x: at}), -2 * np.tanh(at) / np.cosh(at) ** 2)


def test_no_path_no_gradient():
    x, y = tf.placeholder(shape=()), tf.placeholder(shape=())
    assert tf.gradients(tf.exp(x), [y]) == [None]


def test_plans_are_cached_by_fetches_and_feeds():
    x = tf.placeholder(shape=())
    double, half = x * 2, x / 2
    session = tf.Session()
    assert session.run([double, half], {x: 3}) == [6, 1.5]
    plan = session.plan([double, half], [x])
    session.run([double, half], {x: 4})
    assert list(session.plans.values()) == [plan]
    session.run(double, {x: 3})
    session.run(half, {x: 3, double: 0})
    assert len(session.plans) == 3


def test_any_tensor_may_be_fed():
    x = tf.placeholder(shape=())
    hidden = tf.exp(x)
    assert tf.Session().run(hidden + 1, {hidden: 4}) == 5


def test_errors_name_the_operation_and_the_users_line():
    a, b = tf.placeholder(shape=(None, None)), tf.placeholder(shape=(None, None), name="b")
    product, line = tf.matmul(a, b, name="product"), line_here()
    with pytest.raises(tf.OpError, match=rf"MatMul 'product' of \(2, 3\), \(2, 3\), made at {line}"):
        tf.Session().run(product, {a: np.ones((2, 3)), b: np.ones((2, 3))})
    with pytest.raises(tf.OpError, match=r"Placeholder 'b'.*must be fed"):
        tf.Session().run(product, {a: np.ones((2, 3))})
    with pytest.raises(tf.OpError, match=r"Placeholder 'b'.*shape \(3,\) does not fit"):
        tf.Session().run(product, {a: np.ones((2, 3)), b: np.ones(3)})
    with pytest.raises(tf.OpError, match=r"test_from_nothing.*could not convert"):
        tf.Session().run(product, {a: "tide", b: np.ones((3, 3))})


@pytest.mark.parametrize(
    "build, why",
    [
        (lambda: tf.add(np.ones(2), np.ones(3)), "sizes 2 and 3 do not broadcast"),
        (lambda: tf.matmul(np.ones(2), np.ones((2, 2))), "must be matrices"),
        (lambda: tf.assign(tf.variable(0.0, name="v").handle, np.ones(2)), r"shape \(2,\) does not fit \(\)"),
        (lambda: tf.exp(1.0, name="high tide"), "must be a Python identifier"),
    ],
)
def test_a_mistake_is_found_while_the_graph_is_built(build, why, graph):
    with pytest.raises(tf.OpError, match=rf"made at test_from_nothing.py:\d+: .*{why}"):
        build()


def test_graphs_do_not_mix():
    x = tf.constant(1.0)
    tf.Graph()
    with pytest.raises(tf.OpError, match="another graph"):
        tf.exp(x)


def test_wrong_arguments_are_told_the_schema():
    with pytest.raises(TypeError, match="MatMul takes 'a b'"):
        tf.matmul(1.0)
    with pytest.raises(TypeError, match="Placeholder takes '; shape'"):
        tf.placeholder(size=3)


def test_uninitialized_variables_are_named():
    level = tf.variable(0.0, name="level")
    with pytest.raises(tf.OpError, match=r"'level_value'.*has no value yet"):
        tf.Session().run(level.value)


def test_what_was_read_is_not_changed_by_a_later_write(graph):
    level = tf.variable(np.zeros(3), name="level")
    rise = tf.assign_add(level.handle, np.ones(3))
    session = tf.Session()
    session.run(tf.no_op(after=graph.initializers))
    before, after = session.run([level.value, rise])
    assert before.tolist() == [0, 0, 0] and after.tolist() == [1, 1, 1]


def test_arrays_of_the_user_and_of_the_state_are_never_the_same(graph):
    level, x = tf.variable(np.zeros(2), name="level"), tf.placeholder(shape=(2,))
    session = tf.Session()
    mine = np.ones(2)
    session.run(tf.assign(level.handle, x), {x: mine})
    mine[:] = 7
    session.run(level.value)[:] = 8
    assert session.run(level.value).tolist() == [1, 1]


def test_threads_lose_no_update(graph):
    level = tf.variable(0.0, name="level")
    rise = tf.assign_add(level.handle, 1.0)
    session = tf.Session()
    session.run(tf.no_op(after=graph.initializers))
    threads = [threading.Thread(target=lambda: [session.run(rise) for _ in range(250)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.run(level.value) == 1000


def test_sessions_share_no_state(graph):
    level = tf.variable(1.0, name="level")
    first, second = tf.Session(), tf.Session()
    initialize = tf.no_op(after=graph.initializers)
    first.run(initialize)
    second.run(initialize)
    first.run(tf.assign(level.handle, 5.0))
    assert (first.run(level.value), second.run(level.value)) == (5, 1)


def test_constants_are_folded_and_a_failure_in_folding_is_named(monkeypatch):
    x = tf.placeholder(shape=())
    y = x * tf.exp(tf.constant(0.0) + 1)
    assert tf.Session().plan([y], [x]).ops == [y.op]
    monkeypatch.setattr(tf.OPS["Exp"], "kernel", lambda x: 1 / 0)
    with pytest.raises(tf.OpError, match=r"Exp 'exp'.*division by zero"):
        tf.Session().run(y, {x: 1})


def test_values_are_freed_early():
    x = y = tf.placeholder(shape=(None,))
    for _ in range(20):
        y = tf.tanh(y)
    plan = tf.compile_plan([y], [x], cells={})
    megabyte = np.zeros(2**17)
    tracemalloc.start()
    plan(megabyte)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 2**20


def test_names_that_python_or_the_plan_needs_are_free_to_use():
    x = tf.placeholder(shape=(), name="step")
    y = tf.exp(x, name="lambda") + tf.exp(x, name="Exp")
    assert tf.Session().run(y, {x: 0}) == 2


def test_the_plan_agrees_with_the_interpreter(graph):
    rng = np.random.default_rng(2)
    x = tf.placeholder(shape=(None, 3))
    y = tf.log(tf.exp(tf.tanh(x @ rng.normal(size=(3, 2)) + 1)) / 3)
    (slope,) = tf.gradients(y, [x])
    at = rng.normal(size=(5, 3))
    np.testing.assert_array_equal(tf.Session().run(slope, {x: at}), tf.evaluate(slope, {x: at}))
