"""Large products by oneDNN, on CPUs where that is quicker: the same numbers, for every layout."""

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.ops.helpers import cpu_products

pytestmark = pytest.mark.skipif(
    not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="PyTorch was built without oneDNN"
)
TURNS = [(False, False), (False, True), (True, False), (True, True)]


@pytest.fixture
def calls(monkeypatch):
    """Of each product that oneDNN computes, on whatever machine this is, whether a row is added to it."""
    monkeypatch.setattr(cpu_products, "is_quicker_by_onednn", lambda: True)
    noted, multiplied = [], cpu_products._by_onednn

    def note(a, b, bias=None, activation="none"):
        noted.append(bias is not None)
        return multiplied(a, b, bias, activation)

    monkeypatch.setattr(cpu_products, "_by_onednn", note)
    return noted


def factors(turn_a, turn_b, rows=64, inner=256, columns=96):
    chance = np.random.RandomState(2)
    a, b = chance.normal(size=(rows, inner)), chance.normal(size=(inner, columns))
    return (a.T if turn_a else a).astype(np.float32), (b.T if turn_b else b).astype(np.float32)


@pytest.mark.parametrize("turns", TURNS)
def test_large_products_are_those_of_numpy(calls, turns):
    a, b = factors(*turns)
    row = np.arange(96, dtype=np.float32)
    whole = np.ones((64, 96), np.float32)
    fed = tf.placeholder(tf.float32, a.shape)
    sums = [tf.matmul(fed, b, *turns), row + tf.matmul(fed, b, *turns), whole + tf.matmul(fed, b, *turns)]
    with tf.Session() as session:
        found = [session.run(value, {fed: a}) for value in sums]
    wanted = (a.T if turns[0] else a) @ (b.T if turns[1] else b)
    for value, expected in zip(found, [wanted, wanted + row, wanted + whole]):
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-4)
    assert calls == [False, True, False]  # a row is added by oneDNN itself


@pytest.mark.parametrize("turns", TURNS)
def test_products_of_few_columns_are_those_of_numpy(monkeypatch, turns):
    monkeypatch.setattr(cpu_products, "is_foreign_to_mkl", lambda: True)
    a, b = factors(*turns, columns=10)
    row, whole = np.arange(10, dtype=np.float32), np.ones((64, 10), np.float32)
    fed = tf.placeholder(tf.float32, a.shape)
    product = tf.matmul(fed, b, *turns)
    with tf.Session() as session:
        found = [session.run(value, {fed: a}) for value in (product, row + product, whole + product)]
        plan = session.explain(product, {fed: a})
    wanted = (a.T if turns[0] else a) @ (b.T if turns[1] else b)
    for value, expected in zip(found, [wanted, wanted + row, wanted + whole]):
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-4)
        assert value.flags.c_contiguous
    assert " mm(" not in plan


@pytest.mark.parametrize(
    ("rows", "inner", "columns", "is_thin"),
    [
        (64, 256, 10, True),
        (64, 256, 1, False),
        (64, 256, 16, False),
        (8, 4096, 10, False),
        (4096, 8, 10, False),
        (32, 64, 10, False),
    ],
)
def test_which_products_are_computed_transposed(monkeypatch, rows, inner, columns, is_thin):
    monkeypatch.setattr(cpu_products, "is_foreign_to_mkl", lambda: True)
    monkeypatch.setattr(cpu_products, "is_quicker_by_onednn", lambda: False)
    noted = []
    monkeypatch.setattr(
        cpu_products, "products_for", lambda node, ask=cpu_products.products_for: noted.append(ask(node))
    )
    fed = tf.placeholder(tf.float32, [rows, inner])
    with tf.Session() as session:
        session.run(tf.matmul(fed, tf.ones([inner, columns])), {fed: np.ones((rows, inner))})
    assert noted
    assert all(found is (cpu_products.TRANSPOSED if is_thin else None) for found in noted)


def test_small_products_and_other_types_stay_with_blas(calls):
    small, double = tf.placeholder(tf.float32, [8, 8]), tf.placeholder(tf.float64, [128, 128])
    with tf.Session() as session:
        session.run(tf.matmul(small, small), {small: np.ones((8, 8))})
        session.run(tf.matmul(double, double), {double: np.ones((128, 128))})
    assert not calls


def test_matrices_that_do_not_lie_densely_stay_with_blas(calls):
    product, wide = cpu_products.ONEDNN.plain[False, False], torch.randn(64, 512)
    a, b = wide[:, ::2], torch.randn(1, 96).expand(256, 96)
    torch.testing.assert_close(product(a, b), a @ b)
    assert not calls
    torch.testing.assert_close(product(a.contiguous(), b.contiguous()), a @ b, rtol=1e-4, atol=1e-4)
    assert calls


def test_compilers_see_the_product_that_they_know(calls):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        a, b = torch.empty(64, 256), torch.empty(256, 96)
        assert cpu_products.ONEDNN.plain[False, False](a, b).shape == (64, 96)
    assert not calls


@pytest.mark.parametrize(
    ("vendor", "family", "always", "laid_out"),
    [
        ("GenuineIntel", 6, False, False),
        ("AuthenticAMD", 25, False, True),
        ("AuthenticAMD", 26, True, True),
        ("", None, False, True),
    ],
)
def test_the_processor_decides(monkeypatch, tmp_path, vendor, family, always, laid_out):
    cpus = tmp_path / "cpuinfo"
    cpus.write_text(f"vendor_id\t: {vendor}\n" + (f"cpu family\t: {family}\n" if family else ""))
    monkeypatch.setattr(cpu_products, "_CPUS", cpus)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    decisions = ("is_foreign_to_mkl", "is_quicker_laid_out", "is_quicker_by_onednn")
    for decision in decisions:  # made anew
        monkeypatch.setattr(cpu_products, decision, getattr(cpu_products, decision).__wrapped__)
    found = [getattr(cpu_products, decision)() for decision in decisions]
    assert found == [laid_out, laid_out, always]
