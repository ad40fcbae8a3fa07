"""tf.torch_function: functions, library ops and modules of PyTorch as op types."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import tideflow as tf

V = np.arange(6.0, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="session")  # an op type is made once in a process
def power_sum():
    return tf.torch_function(lambda x, p=2.0: (x**p).sum(-1), name="PowerSumForTest")


def test_a_function_with_derivatives_of_every_order(power_sum):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        y = power_sum(x, p=3.0)
        first = tf.gradients(y, x)[0]
        second = tf.gradients(first, x)[0]
        assert y.shape.as_list() == [None] and first.shape.as_list() == [None, 3]
        got = session.run([y, first, second, power_sum(x)], {x: V})
    for found, expected in zip(got, [(V**3).sum(1), 3 * V**2, 6 * V, (V**2).sum(1)], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_in_loops_and_through_a_graph_def(power_sum):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [2], name="x")
        body = lambda i, y: (i + 1, y + tf.ones([2]) * power_sum(y))
        y = tf.identity(tf.while_loop(lambda i, y: i < 2, body, [0, x])[1], name="y")
        expected = session.run([y, tf.gradients(y, x)[0]], {x: [0.5, 1.0]})
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph.as_graph_def(), name="")
        assert session.run("y:0", {"x:0": [0.5, 1.0]}).tolist() == expected[0].tolist()
    a, b = 0.5, 1.0
    s = a * a + b * b
    t = (a + s) ** 2 + (b + s) ** 2
    np.testing.assert_allclose(expected[0], [a + s + t, b + s + t])
    da = np.array([1 + 2 * a, 2 * a])  # of the values after the first iteration, by a
    dt = 2 * np.dot([a + s, b + s], da)
    np.testing.assert_allclose(expected[1][0], da.sum() + 2 * dt, rtol=1e-6)


def test_an_op_of_torch_library():
    @torch.library.custom_op("tideflow_test::scaled", mutates_args=())
    def scaled(x: torch.Tensor, by: int) -> tuple[torch.Tensor, torch.Tensor]:
        return x * by, (x > 0).sum()

    scaled.register_fake(lambda x, by: (torch.empty_like(x), torch.empty([], dtype=torch.int64)))
    scaled.register_autograd(
        lambda ctx, grad, _: (grad * ctx.by, None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "by", inputs[1]),
    )
    op = tf.torch_function(torch.ops.tideflow_test.scaled)
    assert tf.torch_function(torch.ops.tideflow_test.scaled) is op and op.op_type == "TorchScaled"
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(V)
        y, count = op(x, by=3, name="y")
        assert (y.op.name, count.dtype, count.shape.as_list()) == ("y", tf.int64, [])
        got = session.run([y, count, tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(got[0], 3 * V)
    assert got[1] == 5 and (got[2] == 3).all()


def test_a_module_is_trained_by_an_optimizer():
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1)
    )
    module[3].bias.requires_grad_(False)
    # Under a name of its own: the documentation's page shows the one that it would have by itself.
    net = tf.torch_function(module.eval(), name="TrainedModule")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        y = net(x)
        again = net(x)
        assert (
            y.shape.as_list() == [None, 1] and len(net.variables) == 9 and len(net.trainable_variables) == 5
        )
        assert net.variables[0].op.name == f"{net.op_type}/0/weight"
        loss = tf.reduce_mean(tf.square(y - 1.0))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(
            session.run(y, {x: V}), module(torch.from_numpy(V)).detach().numpy(), rtol=1e-6
        )
        before = session.run(loss, {x: V})
        for _ in range(5):
            session.run(train, {x: V})
        after, same = session.run([loss, y - again], {x: V})
        assert after < before / 2 and not same.any()
    assert net.variables == []  # in another graph


def test_types_that_do_not_follow():
    op = tf.torch_function(
        lambda x: (x.nonzero(), x), name="NonzeroForTest", output_types=[tf.int64, tf.float32]
    )
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        places, same = op(x)
        assert places.shape.ndims is None
        got = session.run([places, same, tf.gradients(same, x)[0]], {x: [0.0, 2.0]})
        assert [each.tolist() for each in got] == [[[1]], [0.0, 2.0], [1.0, 1.0]]
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"returned tensors of types \['int64', 'float64'\]"
        ):
            session.run(op(tf.constant([1.0], tf.float64))[0])


@pytest.mark.parametrize(
    "build, error, words",
    [
        (lambda f: f(tf.constant(["a"])), TypeError, "takes tensors of numbers, not of type string"),
        (lambda f: f(tf.placeholder(tf.float32)), TypeError, "of unknown rank.*give output_types"),
        (lambda f: f(tf.zeros([2]), q=1), TypeError, "unexpected keyword argument 'q'"),
        (
            lambda f: tf.torch_function(torch.matmul)(tf.ones([2, 3]), tf.ones([2, 3])),
            TypeError,
            "does not take",
        ),
        (
            lambda f: tf.gradients(
                tf.torch_function(lambda x: x.detach(), "DetachForTest")(x := tf.ones([2])), x
            ),
            LookupError,
            "No gradient defined for operation 'DetachForTest'.*torch knows no derivative of it",
        ),
        (
            lambda f: tf.torch_function(lambda x: 7, name="SevenForTest")(tf.zeros([2])),
            TypeError,
            "must return tensors",
        ),
        (lambda f: tf.torch_function(torch.nn.BatchNorm1d(3)), ValueError, r"call its eval\(\) first"),
        (lambda f: tf.torch_function(torch.abs, name="PowerSumForTest"), ValueError, "is defined twice"),
    ],
)
def test_refusals(power_sum, build, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        build(power_sum)


def test_a_triton_kernel_is_launched_on_values_alone(monkeypatch):
    """Without Triton, whose launchers this stands for: `kernel[grid](…)` by a subclass of KernelInterface."""

    class KernelInterface:
        def __getitem__(self, grid):
            return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    class Doubling(KernelInterface):
        def run(self, x, out, *, grid):
            out.numpy()[:] = 2 * x.numpy()

    monkeypatch.setitem(sys.modules, "triton.runtime.jit", SimpleNamespace(KernelInterface=KernelInterface))
    kernel = Doubling()

    def doubled(x):
        out = torch.empty_like(x)
        kernel[(1,)](x, out)
        return out

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.torch_function(doubled)(x)
        assert y.shape.as_list() == [None, 2] and y.dtype == tf.float32
        np.testing.assert_array_equal(session.run(y, {x: [[1, 2]]}), [[2, 4]])
