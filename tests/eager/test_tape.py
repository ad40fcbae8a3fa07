"""GradientTape: what it records, how long it keeps it, and tapes in graph mode."""

import gc
import weakref

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.eager.context import eager_graph
from tideflow.eager.recording import recording
from tideflow.eager.tensor import EagerTensor, eager_tensor

eagerly = pytest.mark.usefixtures("eagerly")


@eagerly
def test_only_what_is_watched_is_recorded():
    x, other = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        other * other
        y = x * other
    assert len(tape._records) == 1
    assert tape.gradient(y, [x, other])[1] is None
    assert recording.tapes == ()


@eagerly
def test_copies_on_other_devices_are_followed(monkeypatch):
    """As on a GPU: inputs that are elsewhere are copied there, and the tape knows the originals."""
    graph, copied = eager_graph(), []

    def copy(tensor, device):
        copied.append(tensor)
        return eager_tensor(tensor._value.clone(), tensor.dtype)

    monkeypatch.setattr(graph, "accelerated", True)
    monkeypatch.setattr(graph, "device_for", lambda op, inputs: torch.device("cpu"))
    monkeypatch.setattr(EagerTensor, "_on", copy)
    monkeypatch.setattr(graph, "kernels", {})
    x = tf.constant([1.0, 2.0])
    for _ in range(2):  # the second time with the kernel that was found
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, _ = tf.split(x * x, 2)
        assert tape.gradient(y, x).numpy().tolist() == [2.0, 0.0]
    assert any(each is x for each in copied)


@eagerly
def test_a_used_tape_keeps_no_values():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        hidden = x * 2.0
        y = tf.reduce_sum(hidden * hidden)
    kept = weakref.ref(hidden)
    tape.gradient(y, x)
    del hidden
    gc.collect()
    assert kept() is None


@eagerly
def test_an_error_in_the_block_ends_the_recording():
    with pytest.raises(ZeroDivisionError), tf.GradientTape():
        raise ZeroDivisionError
    assert recording.tapes == ()


@eagerly
def test_custom_gradients_with_variables_and_keywords():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x, factor=1.0):
        def grad(dy, variables=None):
            return dy * 10.0, [dy * 100.0 for _ in variables]

        return x * v * factor, grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x, factor=5.0) + 1.0
    assert float(y) == 31.0
    assert [float(g) for g in tape.gradient(y, [x, v])] == [10.0, 100.0]

    @tf.custom_gradient
    def wrong(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="must accept a keyword argument 'variables'"):
        wrong(x)


@eagerly
def test_third_derivatives_of_a_polynomial():
    x = tf.constant(2.0)

    def slope(f):
        def g(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x)

        return g

    assert float(slope(slope(slope(lambda x: x**4)))(x)) == pytest.approx(48.0)


@eagerly
def test_ops_without_gradients_say_so():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.linalg.lu(x)[0]
    with pytest.raises(LookupError, match="No gradient defined"):
        tape.gradient(y, x)


def test_graph_mode_differentiates_what_was_made_meanwhile():
    with tf.Graph().as_default():
        x = tf.constant(3.0)
        before = x * x
        v = tf.Variable(2.0, use_resource=True)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = before * x * v
            z = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), (0, x))[1]
        slopes = [*tape.gradient(y, [x, v]), tape.gradient(z, x), tape.jacobian(y, x)]
        assert [variable.name for variable in tape.watched_variables()] == ["Variable:0"]
        assert tape.gradient(before, x) is None
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(slopes) == pytest.approx([18.0, 27.0, 27.0, 18.0])


@eagerly
def test_a_perceptron_learns_and_matches_torch():
    import torch

    rng = np.random.RandomState(0)
    xs, ys = rng.randn(20, 3).astype("f"), rng.randint(0, 4, 20)
    first, second = rng.randn(3, 5).astype("f"), rng.randn(5, 4).astype("f")
    weights = [tf.Variable(first), tf.Variable(second)]
    theirs = [torch.tensor(first, requires_grad=True), torch.tensor(second, requires_grad=True)]
    for _ in range(5):
        with tf.GradientTape() as tape:
            logits = tf.matmul(tf.nn.relu(tf.matmul(xs, weights[0])), weights[1])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ys, logits=logits))
        for w, slope in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(0.1 * slope)
        expected = torch.nn.functional.cross_entropy(
            torch.relu(torch.tensor(xs) @ theirs[0]) @ theirs[1], torch.tensor(ys)
        )
        slopes = torch.autograd.grad(expected, theirs)
        theirs = [(w - 0.1 * slope).detach().requires_grad_() for w, slope in zip(theirs, slopes)]
        assert float(loss) == pytest.approx(expected.item(), rel=1e-5)


def test_batches_of_jacobians_may_have_any_size():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.stack([x[:, 0] * x[:, 1], x[:, 1], x[:, 0]], axis=1)
            z = tf.ones_like(x)
        jacobian, nothing = tape.batch_jacobian(y, x), tape.batch_jacobian(z, x)
        assert jacobian.shape.as_list() == [None, 3, 2]
        found, zeros = session.run([jacobian, nothing], {x: [[2.0, 3.0], [4.0, 5.0]]})
        assert found.tolist() == [[[3, 2], [0, 1], [1, 0]], [[5, 4], [0, 1], [1, 0]]]
        assert zeros.shape == (2, 2, 2) and not zeros.any()
        with pytest.raises(ValueError, match="static sizes of the target's examples"):
            tape.batch_jacobian(tf.placeholder(tf.float32, [None, None]), x)


@eagerly
def test_jacobians_that_are_refused():
    x = tf.constant([[1.0, 2.0]])
    for function in ("jacobian", "batch_jacobian"):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        with pytest.raises(RuntimeError, match=f"persistent=True to compute the {function}"):
            getattr(tape, function)(y, x, experimental_use_pfor=False)
    for target, source in ((x[0], x), (x, x[0])):
        with pytest.raises(ValueError, match="must have rank at least 2"):
            tape.batch_jacobian(target, source)
