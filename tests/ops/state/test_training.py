"""Update ops of the optimizers: four op types of one law agree, and a bad update changes nothing."""

import threading

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.op import definitions

ROWS = 5
NUMBERS = {"global_step": np.int64(7), "lr_power": -0.5}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def update_ops(kind):
    """The update ops of a kind by the name of their law: "", "Sparse", "Resource", "ResourceSparse"."""
    prefix = f"{kind}Apply"
    return {
        name.removeprefix(prefix): op for name, op in sorted(definitions().items()) if name.startswith(prefix)
    }


DENSE, SPARSE = update_ops(""), update_ops("Sparse")
RESOURCE, RESOURCE_SPARSE = update_ops("Resource"), update_ops("ResourceSparse")


def is_state(arg):
    return arg.is_ref or arg.dtype is tf.resource


class Update:
    """One update op with state of its own; hyperparameters are the same for every op of a law."""

    def __init__(self, op, rows=None, gradient=None, variables=None, **changed):
        states = [arg for arg in op.inputs if is_state(arg)]
        self.variables = variables or [
            tf.Variable(initial(i), use_resource=op.name.startswith("Resource")) for i in range(len(states))
        ]
        gradient = slopes() if gradient is None else gradient
        given = {"grad": gradient, "delta": gradient, "indices": rows, **NUMBERS, **changed}
        refs = iter(self.variables)
        inputs = []
        for arg in op.inputs:
            if is_state(arg):
                variable = next(refs)
                inputs.append(variable.handle if hasattr(variable, "handle") else variable._ref())
            else:
                inputs.append(given.get(arg.name, 0.3))
        self.node = op.node(*inputs)

    def run(self, times=1, feeds=None):
        """The state after some updates."""
        with tf.Session() as session:
            session.run([v.initializer for v in self.variables])
            for _ in range(times):
                session.run(self.node, feeds)
            return session.run(self.variables)

    def refused(self, feeds=None):
        """The error of an update, after which the state must be as it was."""
        with tf.Session() as session:
            session.run([v.initializer for v in self.variables])
            with pytest.raises(tf.errors.InvalidArgumentError) as info:
                session.run(self.node, feeds)
            for i, value in enumerate(session.run(self.variables)):
                np.testing.assert_array_equal(value, initial(i))
        return str(info.value)


def initial(i):
    return np.random.default_rng(i).uniform(0.2, 1.0, (ROWS, 2)).astype(np.float32)


def slopes(rows=ROWS):
    return np.random.default_rng(9).normal(size=(rows, 2)).astype(np.float32)


def assert_same(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


# ------------------------------------------------------------------------------------------ one law, four ops


@pytest.mark.parametrize("law", [name for name in DENSE if name in RESOURCE])
def test_references_and_handles_agree(law):
    assert_same(Update(DENSE[law]).run(3), Update(RESOURCE[law]).run(3))


@pytest.mark.parametrize("law", [name for name in SPARSE if name in RESOURCE_SPARSE])
def test_rows_of_references_and_of_handles_agree(law):
    rows, gradient = [3, 1, 3], slopes(3)
    assert_same(
        Update(SPARSE[law], rows, gradient).run(2), Update(RESOURCE_SPARSE[law], rows, gradient).run(2)
    )


@pytest.mark.parametrize("law", [name for name in RESOURCE_SPARSE if name in RESOURCE])
def test_all_rows_are_the_whole(law):
    assert_same(Update(RESOURCE_SPARSE[law], np.arange(ROWS)).run(2), Update(RESOURCE[law]).run(2))


@pytest.mark.parametrize("law", RESOURCE_SPARSE)
def test_rows_in_any_order(law):
    order = np.array([4, 0, 2, 1, 3])
    straight = Update(RESOURCE_SPARSE[law], np.arange(ROWS), slopes()).run()
    assert_same(Update(RESOURCE_SPARSE[law], order, slopes()[order]).run(), straight)


@pytest.mark.parametrize("law", RESOURCE_SPARSE)
def test_other_rows_stay(law):
    update = Update(RESOURCE_SPARSE[law], [3, 1], slopes(2))
    for i, value in enumerate(update.run()):
        np.testing.assert_array_equal(value[[0, 2, 4]], initial(i)[[0, 2, 4]])
    assert not np.array_equal(update.run()[0][[1, 3]], initial(0)[[1, 3]])


@pytest.mark.parametrize("law", RESOURCE_SPARSE)
def test_a_row_named_twice_is_updated_twice(law):
    gradient = slopes(2)
    twice = Update(RESOURCE_SPARSE[law], [3, 3], gradient).run()
    first = Update(RESOURCE_SPARSE[law], [3], gradient[:1])
    second = Update(RESOURCE_SPARSE[law], [3], gradient[1:], first.variables)
    with tf.Session() as session:
        session.run([v.initializer for v in first.variables])
        session.run(first.node)
        session.run(second.node)
        assert_same(twice, session.run(first.variables))


@pytest.mark.parametrize("law", RESOURCE_SPARSE)
def test_no_rows_change_nothing(law):
    for i, value in enumerate(Update(RESOURCE_SPARSE[law], np.zeros(0, np.int32), slopes(0)).run()):
        np.testing.assert_array_equal(value, initial(i))


@pytest.mark.parametrize("law", DENSE)
def test_a_reference_update_gives_the_new_value(law):
    update = Update(DENSE[law])
    with tf.Session() as session:
        session.run([v.initializer for v in update.variables])
        found, kept = session.run([update.node.outputs[0], tf.identity(update.node.outputs[0])])
        np.testing.assert_array_equal(found, session.run(update.variables[0]))
        np.testing.assert_array_equal(kept, found)


# ------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("law", RESOURCE)
def test_a_gradient_of_another_shape(law):
    fed = tf.placeholder(tf.float32, None)
    assert "same shape" in Update(RESOURCE[law], gradient=fed).refused({fed: slopes(3)})
    with pytest.raises(ValueError, match=RESOURCE[law].name):
        Update(RESOURCE[law], gradient=slopes(3))


@pytest.mark.parametrize("law", RESOURCE_SPARSE)
@pytest.mark.parametrize("row", [-1, ROWS])
def test_rows_that_are_not_there(law, row):
    assert "out of range" in Update(RESOURCE_SPARSE[law], [0, row], slopes(2)).refused()


@pytest.mark.parametrize("law", RESOURCE_SPARSE)
def test_as_many_rows_as_indices(law):
    fed = tf.placeholder(tf.int32, None)
    Update(RESOURCE_SPARSE[law], fed, slopes(2)).refused({fed: [0, 1, 2]})
    with pytest.raises(ValueError):
        Update(RESOURCE_SPARSE[law], [0, 1, 2], slopes(2))


@pytest.mark.parametrize("law", RESOURCE)
def test_hyperparameters_are_scalars(law):
    name = next(
        arg.name
        for arg in RESOURCE[law].inputs
        if not is_state(arg) and arg.name not in ("grad", "delta", *NUMBERS)
    )
    with pytest.raises(ValueError):
        Update(RESOURCE[law], **{name: [0.1, 0.2]})
    fed = tf.placeholder(tf.float32, None)
    assert "scalar" in Update(RESOURCE[law], **{name: fed}).refused({fed: [0.1, 0.2]})


@pytest.mark.parametrize("law", RESOURCE)
def test_state_without_a_value(law):
    update = Update(RESOURCE[law])
    with tf.Session() as session:
        session.run([v.initializer for v in update.variables[1:]])
        with pytest.raises(tf.errors.InternalError, match=r"Invalid variable reference\."):
            session.run(update.node)
        for i, value in enumerate(session.run(update.variables[1:]), 1):
            np.testing.assert_array_equal(value, initial(i))


# ------------------------------------------------------------------------------------------ many threads


@pytest.mark.parametrize("use_locking", [False, True])
def test_no_update_is_lost(use_locking):
    v = tf.Variable(np.zeros(3, np.float32))
    step = tf.raw_ops.ApplyGradientDescent(
        var=v._ref(), alpha=1.0, delta=np.full(3, -1.0, np.float32), use_locking=use_locking
    )
    with tf.Session() as session:
        session.run(v.initializer)
        threads = [
            threading.Thread(target=lambda: [session.run(step.op) for _ in range(100)]) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(v).tolist() == [400.0] * 3
