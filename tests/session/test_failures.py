"""Errors of a step: TensorFlow's type, the op, what it was given, and the line of the user's program."""

import inspect
import pickle

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.graph.op import Op, definitions
from tideflow.session import config


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def failing():
    """Makes an op whose kernel raises what it is told; it is forgotten after the test."""
    made = []

    def op(error, signature="x: float -> y: float"):
        name = f"Failing{len(made)}"
        made.append(name)
        op = Op(name, signature, differentiable=False)
        op.shape(lambda *shapes: shapes[0] if not isinstance(shapes[0], list) else shapes[0][0])

        @op.kernel
        def _(*args):
            raise error

        op.samples()
        return op

    yield op
    for name in made:
        del definitions()[name]


def error_of(fetch, feeds=None):
    with tf.Session() as session:
        with pytest.raises(tf.errors.OpError) as info:
            session.run(fetch, feeds)
        return info.value


def here():
    """The line of the caller."""
    return inspect.currentframe().f_back.f_lineno


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (RuntimeError("sizes differ"), tf.errors.InvalidArgumentError),
        (ValueError("bad value"), tf.errors.InvalidArgumentError),
        (IndexError("index 7 is out of range"), tf.errors.InvalidArgumentError),
        (MemoryError(), tf.errors.ResourceExhaustedError),
        (torch.OutOfMemoryError("CUDA out of memory"), tf.errors.ResourceExhaustedError),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
            tf.errors.ResourceExhaustedError,
        ),
        (NotImplementedError("no kernel"), tf.errors.UnimplementedError),
        (tf.errors.OutOfRangeError(None, None, "no more"), tf.errors.OutOfRangeError),
        (tf.errors.AbortedError(None, None, "lost"), tf.errors.AbortedError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_a_kernel_raises_becomes_an_error_of_a_step(failing, raised, kind):
    x = tf.placeholder(tf.float32, [2, 3], "x")
    y, line = failing(raised)(x, name="the_op"), here()
    error = error_of(y, {x: np.zeros((2, 3))})
    assert type(error) is kind
    assert error.op is y.op and error.node_def.name == "the_op"
    assert "the_op" in str(error) and f"{__file__}:{line}" in str(error)
    assert error.error_code == kind(None, None, "").error_code


def test_what_was_given_is_said(failing):
    x, n = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [])
    y = failing(RuntimeError("too bad"), "x: float, n: float -> y: float")(x, n)
    message = error_of(y, {x: np.zeros((2, 3)), n: 1.0}).message
    assert "too bad" in message and "float32[2, 3], float32[]" in message


def test_lists_and_temporaries_that_were_given_are_said(failing):
    x = tf.placeholder(tf.float32, [2])
    op = failing(RuntimeError("too bad"), "xs: N * float -> y: float")
    message = error_of(op([tf.exp(x), x, tf.constant([1.0, 2.0])]), {x: [1.0, 2.0]}).message
    assert message.count("float32[2]") == 3


def test_the_innards_of_torch_are_not_shown(failing):
    error = error_of(failing(RuntimeError("told\nException raised from here at there.cpp:12 (frames)"))(1.0))
    assert "told" in error.message and "there.cpp" not in error.message


def computed(value):
    """A tensor of which nothing is known before the step has computed it."""
    array = np.array(value)
    return tf.py_func(lambda: array, [], tf.as_dtype(array.dtype))


def test_the_ops_shape_rule_says_what_a_kernel_could_not_compute():
    x, y = computed(np.ones((3, 2), np.float32)), computed(np.ones((2, 3), np.float32))
    for z in (x + y, tf.concat([x, y], 0)):
        error = error_of(z)
        assert type(error) is tf.errors.InvalidArgumentError
        assert f"(op: '{z.op.type}') with input shapes: [3,2]" in error.message
        assert str(error.__cause__).splitlines()[0] not in error.message


@pytest.mark.parametrize(
    ("build", "op_type"),
    [
        (lambda x, y: tf.add(tf.multiply(x, y, name="wrong"), x), "Mul"),
        (lambda x, y: tf.add(tf.multiply(x, x), y, name="wrong"), "Add"),
    ],
)
def test_a_fused_kernel_speaks_of_the_op_that_failed(build, op_type):
    x, y = computed(np.ones((3, 2), np.float32)), computed(np.ones((2, 3), np.float32))
    error = error_of(build(x, y))
    assert error.op.name == "wrong" and f"{op_type} 'wrong' was given: float32[3,2]" in error.message
    assert error.message.startswith("Incompatible shapes: [3,2] vs. [2,3]")
    assert "MultiplyAdd" not in str(error)


def test_a_grouped_update_speaks_of_the_variable_that_failed():
    variables = [tf.Variable(tf.ones([3]), name=name) for name in "ab"]
    grads = [tf.ones([3]), computed(np.ones(4, np.float32))]
    train = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(grads, variables, strict=True))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="var and delta do not have the same"
        ) as caught:
            session.run(train)
    assert caught.value.op.name == "GradientDescent/update_b/ApplyGradientDescent"


def test_what_only_the_shape_rule_refuses_is_refused_in_the_step_too():
    """The kernel would take it: the rule's words are said, those of TensorFlow's kernel first."""
    x = tf.placeholder(tf.float32)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(tf.raw_ops.Softmax(logits=x), {x: 1.0})
    assert caught.value.message.startswith("logits must have >= 1 dimension, got []: Shape must be at least")


def test_the_shape_rule_gets_the_sizes_that_the_step_computed():
    error = error_of(tf.reshape(tf.zeros([4]), computed(np.int32([3, 5]))))
    assert "[4]" in error.message and "15" in error.message


def test_the_token_executor_gives_the_same_words(monkeypatch):
    monkeypatch.setattr(config, "_disabled_rules", lambda: frozenset({"structure"}))
    x, y = computed(np.ones(3, np.float32)), computed(np.ones(2, np.float32))
    error = error_of(tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, x * y), [0, x]))
    assert "(op: 'Mul') with input shapes: [3], [2]" in error.message and "was given" in error.message


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("make", "shape", "kind"),
    [
        (lambda n: tf.fill(n, 1.0), [2**50], "float"),
        (lambda n: tf.random_uniform(n), [2**50, 2], "float"),
        (lambda n: tf.broadcast_to(np.int8(1), n), [2**60], "int8"),
        (lambda n: tf.tile(np.float64([1.0]), n), [2**50], "double"),
        (lambda n: tf.zeros(n, tf.int64), [2**50], "int64"),
    ],
)
def test_a_tensor_that_no_memory_holds_is_named_with_its_shape_and_type(make, shape, kind, known):
    error = error_of(make(np.int64(shape) if known else computed(np.int64(shape))))
    assert type(error) is tf.errors.ResourceExhaustedError
    sizes = ",".join(map(str, shape))
    assert f"OOM when allocating tensor with shape[{sizes}] and type {kind} on cpu" in error.message


@pytest.mark.parametrize("make", [lambda n: tf.fill(n, 1.0), lambda n: tf.broadcast_to(1.0, n)])
def test_more_elements_than_can_be_counted(make):
    error = error_of(make(computed(np.int64([2**40, 2**40]))))
    assert type(error) is tf.errors.InvalidArgumentError
    assert "Shape [1099511627776,1099511627776] would have more than 2**63 - 1 elements" in error.message


def test_an_error_without_words_is_named_by_its_type(failing):
    assert "KeyError" in error_of(failing(KeyError())(1.0)).message


def test_the_cause_is_kept(failing):
    raised = RuntimeError("the cause")
    assert error_of(failing(raised)(1.0)).__cause__ is raised


def test_the_error_names_the_op_of_the_users_graph_not_a_fused_one():
    x, w = tf.placeholder(tf.float32, None), tf.placeholder(tf.float32, None)
    y = tf.nn.bias_add(tf.matmul(x, w, name="product"), tf.constant([1.0, 2.0]), name="biased")
    error = error_of(y, {x: np.ones((2, 3)), w: np.ones((4, 2))})
    assert error.op.name in ("product", "biased") and "MatMul" in str(error) + error.op.type


def test_an_error_in_a_gradient_names_the_op_it_was_made_for():
    x, i = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    y = tf.reshape(x, [i, -1], name="the_reshape")
    error = error_of(tf.gradients(y, x), {x: [1.0, 2.0, 3.0], i: 2})
    assert "the_reshape" in str(error) and __file__ in str(error)


def test_an_error_in_a_branch():
    x, pred = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [])
    y = tf.cond(pred, lambda: tf.reshape(x, [2, 2], name="inside"), lambda: tf.zeros([2, 2]))
    assert "inside" in str(error_of(y, {x: [1.0], pred: True}))


def test_integer_division_by_zero():
    x = tf.placeholder(tf.int32, [2])
    error = error_of(tf.constant([1, 2]) // x, {x: [1, 0]})
    assert type(error) is tf.errors.InvalidArgumentError and "division by zero" in error.message


def test_after_an_error_the_session_goes_on():
    x = tf.placeholder(tf.float32, [None])
    y = tf.reshape(x, [2, 2])
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(y, {x: [1.0]})
            assert session.run(y, {x: np.arange(4.0)}).tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_what_ran_before_the_error_has_happened_and_nothing_after(failing):
    v = tf.Variable(0)
    with tf.control_dependencies([v.assign_add(1)]):
        bad = failing(RuntimeError("bad"))(tf.placeholder_with_default(1.0, []))
    with tf.control_dependencies([bad]):
        after = v.assign_add(10)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run([after, bad])
        assert session.run(v) == 1


def test_errors_can_be_sent_to_another_process(failing):
    error = error_of(failing(RuntimeError("too bad"))(1.0, name="the_op"))
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error) and copy.error_code == error.error_code


def test_interrupts_are_not_errors_of_a_step(failing):
    for raised in (KeyboardInterrupt(), SystemExit()):
        y = failing(raised)(1.0)
        with tf.Session() as session, pytest.raises(type(raised)):
            session.run(y)


def test_sizes_that_this_steps_feeds_show_to_be_wrong():
    x, y = tf.placeholder(tf.float32, None), tf.placeholder(tf.float32, None)
    z = tf.add(x, y, name="the_sum")
    error = error_of(z, {x: np.ones(3), y: np.ones(4)})
    assert type(error) is tf.errors.InvalidArgumentError
    assert "the_sum" in str(error) and "[3]" in str(error) and "[4]" in str(error)


def test_check_finite_tells_values_from_their_causes():
    x = tf.placeholder(tf.float32, [2])
    logs = tf.log(x, name="log")
    y = tf.exp(logs, name="exp")
    with tf.Session(check_finite=True) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="NaN in output 0 of Log 'log'"):
            session.run(y, {x: [-1.0, 1.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Inf in output 0 of Exp 'exp'") as info:
            session.run(y, {logs: [0.0, 1000.0]})
    assert "float32[2] in [0, 1000]" in str(info.value)
