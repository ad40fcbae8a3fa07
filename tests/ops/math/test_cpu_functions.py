"""Functions of many numbers: NumPy's in steps. Compiled ones have a tangent of polynomials."""

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.ops.helpers import cpu_functions

NUMBERS = np.concatenate(
    [np.linspace(-12, 12, 40001), np.logspace(-38, 38, 20001), [0.0, np.inf, -np.inf, np.nan]]
).astype(np.float32)


def units_apart(found):
    """The largest distance from the true values, in units in the last place."""
    wanted = np.tanh(NUMBERS.astype(np.float64))
    is_number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(found), ~is_number)
    return np.max((np.abs(found - wanted) / np.spacing(np.abs(wanted).astype(np.float32)))[is_number])


@pytest.mark.parametrize(
    "function, most", [(cpu_functions.tanh, 2), (cpu_functions.tanh_, 2), (cpu_functions.quotient, 8)]
)
def test_it_is_right_within_some_units_in_the_last_place(function, most):
    assert units_apart(function(torch.from_numpy(NUMBERS.copy())).numpy()) <= most


def test_parts_of_tensors_are_taken_and_overwritten_as_they_lie():
    whole = torch.randn(64, 96)
    part = whole[:, 32:64]
    wanted = torch.tanh(part)
    torch.testing.assert_close(cpu_functions.tanh(part), wanted)
    cpu_functions.tanh_(part)
    torch.testing.assert_close(whole[:, 32:64], wanted)


@pytest.mark.parametrize("name", ["tanh", "exp", "log", "sqrt"])
def test_steps_use_them_for_many_float32_numbers_alone(monkeypatch, name):
    monkeypatch.setattr(cpu_functions, "_is_vectorized", lambda: True)
    for dtype, count, is_used in (
        (tf.float32, 2000, True),
        (tf.float32, 16, False),
        (tf.float64, 2000, False),
    ):
        x = tf.placeholder(dtype, [count])
        with tf.Session() as session:
            values = np.linspace(0.1, 3, count).astype(dtype.as_numpy_dtype)
            found = session.run(getattr(tf, name)(x) * 2.0, {x: values})
            (step,) = session._steps.steps.values()
            (plan,) = step.plans.values()
            assert (getattr(cpu_functions, name) in plan.namespace.values()) == is_used
        np.testing.assert_allclose(found, 2 * getattr(np, name)(values), rtol=2e-6)


def test_other_numbers_have_atens():
    double = torch.randn(3, dtype=torch.float64)
    assert torch.equal(cpu_functions.tanh(double), torch.tanh(double))
    assert torch.equal(cpu_functions.tanh_(double.clone()), torch.tanh(double))
    assert cpu_functions.quotient(double) is NotImplemented


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"])
def test_comparisons_of_many_numbers_are_numpys(name):
    normal = NUMBERS[~(np.abs(NUMBERS) < np.finfo(np.float32).tiny) | (NUMBERS == 0)]
    x, y = np.resize(normal, (60, 1000)), np.resize(normal[::-1], (60, 1000))
    with tf.Session() as session:
        for other in (y, y[:1], np.float32(0)):
            found = session.run(getattr(tf, name)(tf.placeholder_with_default(x, x.shape), other))
            np.testing.assert_array_equal(found, getattr(np, name)(x, other))
            assert found.dtype == np.bool_


@pytest.mark.parametrize("name", ["is_nan", "is_inf", "is_finite"])
def test_kinds_of_many_numbers_are_told_as_numpy_does(name):
    with tf.Session() as session:
        found = session.run(getattr(tf, name)(tf.placeholder_with_default(NUMBERS, NUMBERS.shape)))
    np.testing.assert_array_equal(found, getattr(np, name.replace("_", ""))(NUMBERS))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.float64, torch.complex64, torch.bool])
@pytest.mark.parametrize("shape", [(200, 200), (10, 10)])
def test_elements_are_chosen_whatever_they_are(dtype, shape):
    condition = torch.rand(shape) > 0.5
    x, y = (torch.randn(shape).mul_(5).to(dtype) for _ in range(2))
    if dtype is torch.float32:
        x[:, 3], y[3] = torch.nan, torch.inf
        x[4] = -0.0
    pairs = [(x, y), (x, y[0, 0]), (x[0, 0], y), (x[0, 0], y[0, 0]), (x.t(), y), (x[:1], y)]
    for one, other in pairs:
        found, wanted = cpu_functions.where(condition, one, other), torch.where(condition, one, other)
        assert found.dtype is dtype
        assert torch.equal(found.contiguous().view(torch.uint8), wanted.contiguous().view(torch.uint8))


def test_choosing_leaves_what_it_is_given():
    condition, x, y = torch.rand(40000) > 0.5, torch.randn(40000), torch.randn(40000)
    before = [each.clone() for each in (condition, x, y)]
    cpu_functions.where(condition, x, y)
    assert all(map(torch.equal, before, (condition, x, y)))
