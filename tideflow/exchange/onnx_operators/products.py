"""Products of matrices and of tensors."""

from __future__ import annotations

import string
from typing import Any

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, of_one, operator, register_all


@operator("MatMul")
def _mat_mul(given: Given) -> Any:
    return product(*given.inputs)


def product(x: Any, y: Any) -> Any:
    """NumPy's product, vectors included."""
    ranks = x.shape.ndims, y.shape.ndims
    if ranks == (1, 1):
        return tf.reduce_sum(x * y)
    if 1 in ranks or ranks[0] == ranks[1] == 2:
        left = x[None] if ranks[0] == 1 else x
        right = y[:, None] if ranks[1] == 1 else y
        made = tf.tensordot(left, right, 1) if right.shape.ndims == 2 else tf.matmul(left, right)
        return tf.squeeze(made, -2) if ranks[0] == 1 else tf.squeeze(made, -1) if ranks[1] == 1 else made
    if ranks[1] == 2:
        return tf.tensordot(x, y, 1)
    return tf.matmul(x, y)


@operator("Gemm")
def _gemm(given: Given) -> Any:
    a, b = given.inputs[:2]
    y = tf.matmul(
        a, b, transpose_a=bool(given.attribute("transA", 0)), transpose_b=bool(given.attribute("transB", 0))
    )
    alpha, beta = given.attribute("alpha", 1.0), given.attribute("beta", 1.0)
    y = y if alpha == 1 else alpha * y
    c = given.input(2)
    return y if c is None else y + (c if beta == 1 else beta * c)


@operator("Einsum")
def _einsum(given: Given) -> Any:
    terms, _, result = _without_dots(given).partition("->")
    inputs = [_diagonals(term, x) for term, x in zip(terms.split(","), given.inputs, strict=True)]
    terms = ",".join(term for term, _ in inputs)
    return tf.einsum(f"{terms}->{result}", *(x for _, x in inputs))


def _diagonals(term: str, x: Any) -> tuple[str, Any]:
    """A tensor with the diagonals that a letter twice in its term stands for."""
    while len(set(term)) < len(term):
        twice = next(letter for letter in term if term.count(letter) > 1)
        pair = [i for i, letter in enumerate(term) if letter == twice][:2]
        rest = [i for i in range(len(term)) if i not in pair]
        x = tf.linalg.diag_part(tf.transpose(x, [*rest, *pair]))
        term = "".join(term[i] for i in rest) + twice
    return term, x


def _without_dots(given: Given) -> str:
    """The equation with letters for the axes that `...` stands for, the last ones first."""
    equation = given.attribute("equation").replace(" ", "")
    free = [letter for letter in string.ascii_letters if letter not in equation]
    terms, arrow, result = equation.partition("->")
    counts = [
        given.rank(i) - len(term.replace("...", "")) if "..." in term else 0
        for i, term in enumerate(terms.split(","))
    ]
    spread = [
        term.replace("...", "".join(free[:count][::-1])) for term, count in zip(terms.split(","), counts)
    ]
    if not arrow:
        letters = terms.replace("...", "").replace(",", "")
        result = "..." + "".join(sorted(letter for letter in letters if letters.count(letter) == 1))
    return f"{','.join(spread)}->{result.replace('...', ''.join(free[: max(counts)][::-1]))}"


register_all({"Det": of_one(tf.linalg.det)})
