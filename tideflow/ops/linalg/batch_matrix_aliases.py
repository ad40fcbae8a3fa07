"""Names that ops on batches of matrices had before those on single ones took batches too."""

from __future__ import annotations

from typing import Any

import numpy as np

from tideflow.graph.op import Op
from tideflow.ops.arrays import diagonals
from tideflow.ops.helpers.samples import f32, f64
from tideflow.ops.helpers.types import types
from tideflow.ops.linalg import decompositions, matrix_functions, solvers, spectra

_REAL = types("double float")
_MATRICES = np.array([[[2.0, 0.5], [0.5, 1.0]], [[3.0, -1.0], [-1.0, 2.0]]])


def _alias(successor: Op, signature: str, *samples: Any, **attrs: Any) -> Op:
    """`Batch…` with the successor's rules, kernels and gradient, and types of its own."""
    host = {"host": successor.host} if successor.host else {}
    op = Op(f"Batch{successor.name}", signature, **host, **attrs)
    op.shape(successor.shape_rule)
    for kind, kernel in successor.kernels.items():
        (op.kernel(kind) if kind else op.kernel)(kernel)
    op.gradient(successor.gradient_function)
    op.samples(*samples, against=successor.reference)
    return op


_alias(decompositions.cholesky_op, "input: T -> output: T", _MATRICES, T=_REAL)
_alias(
    decompositions.cholesky_grad_op,
    "l: T, grad: T -> output: T",
    (np.linalg.cholesky(_MATRICES), f64(2, 2, 2)),
    T=types("float double"),
)
_alias(
    matrix_functions.det_op, "input: T -> output: T", _MATRICES, T=types("float double complex64 complex128")
)
_alias(matrix_functions.inverse_op, "input: T -> output: T", _MATRICES, adjoint=False, T=_REAL)
_alias(
    solvers.matrix_solve_op,
    "matrix: T, rhs: T -> output: T",
    (_MATRICES, f64(2, 2, 1)),
    adjoint=False,
    T=_REAL,
)
_alias(
    solvers.triangular_solve_op,
    "matrix: T, rhs: T -> output: T",
    (_MATRICES, f64(2, 2, 1)),
    lower=True,
    adjoint=False,
    T=_REAL,
)
_alias(
    solvers.solve_ls_op,
    "matrix: T, rhs: T, l2_regularizer: double -> output: T",
    (_MATRICES, f64(2, 2, 1), 0.5),
    T=_REAL,
    fast=True,
)
_alias(spectra.packed_eig_op, "input: T -> output: T", (_MATRICES,), T=_REAL)
_alias(spectra.eig_op, "input: T -> e: T, v: T", _MATRICES, compute_v=True, T=_REAL)
_alias(
    spectra.svd_op,
    "input: T -> s: T, u: T, v: T",
    f64(2, 2, 3),
    compute_uv=True,
    full_matrices=False,
    T=types("double float complex64 complex128"),
)
_alias(diagonals.matrix_diag_op, "diagonal: T -> output: T", f32(2, 3))
_alias(diagonals.matrix_diag_part_op, "input: T -> diagonal: T", f32(2, 3, 3))
_alias(diagonals.matrix_set_diag_op, "input: T, diagonal: T -> output: T", (f32(2, 3, 3), f32(2, 3)))
_alias(
    diagonals.matrix_band_part_op,
    "input: T, num_lower: int64, num_upper: int64 -> band: T",
    (f32(2, 3, 3), np.array(1), np.array(0)),
)
