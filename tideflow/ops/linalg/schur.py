"""Functions of a matrix by its Schur form: A = Q·T·Qᴴ with T upper triangular, so f(A) = Q·f(T)·Qᴴ.

Every matrix has one, whether or not it has a full set of eigenvectors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

_STEPS_PER_EIGENVALUE = 100
_NEAR_ONE = 0.25  # how close to the identity the sum for the logarithm wants a matrix to be
_ROOTS = 64  # enough to bring any finite matrix that close
_NODES, _WEIGHTS = (torch.from_numpy(part) for part in np.polynomial.legendre.leggauss(16))


def square_root(matrix: torch.Tensor) -> torch.Tensor:
    """The principal square root of each matrix; of a real one not a number where it is not real."""
    result = _by_schur_form(matrix, _triangular_root)
    if matrix.is_complex() or not result.numel():
        return result.to(matrix.dtype)
    imaginary, real = (part.abs().amax((-2, -1), keepdim=True) for part in (result.imag, result.real))
    return torch.where(imaginary <= 1e-6 * real, result.real, torch.nan).to(matrix.dtype)


def logarithm(matrix: torch.Tensor) -> torch.Tensor:
    """The principal logarithm of each matrix."""
    return _by_schur_form(matrix, _triangular_log).to(matrix.dtype)


def _by_schur_form(matrix: torch.Tensor, function: Callable) -> torch.Tensor:
    wide = matrix.to(torch.complex128)
    batch = wide.reshape(-1, *wide.shape[-2:]) if wide.numel() else []
    results = [_of_one(one, function) for one in batch]
    return torch.stack(results).reshape(wide.shape) if results else wide


def _of_one(matrix: torch.Tensor, function: Callable) -> torch.Tensor:
    if not matrix.isfinite().all():
        return torch.full_like(matrix, torch.nan)
    triangle, basis = schur(matrix)
    return basis @ function(triangle) @ basis.mH


def schur(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """T and Q of one complex matrix, by the shifted QR algorithm.

    Orthonormalised eigenvectors are Q already, unless some of them (nearly) coincide: that is where the
    algorithm starts, and it mostly has nothing left to do.
    """
    basis, _ = torch.linalg.qr(torch.linalg.eig(matrix).eigenvectors)
    triangle = basis.mH @ matrix @ basis
    small = torch.finfo(matrix.real.dtype).eps * torch.linalg.norm(matrix)
    for last in range(len(matrix) - 1, 0, -1):
        for step in range(_STEPS_PER_EIGENVALUE):
            if torch.linalg.norm(triangle[last, :last]) <= 4 * small:
                break
            _turn(triangle, basis, last + 1, step)
    return torch.triu(triangle), basis


def _turn(triangle: torch.Tensor, basis: torch.Tensor, size: int, step: int) -> None:
    """One step of the algorithm on the leading block, whose last row it makes smaller."""
    corner = triangle[size - 2 : size, size - 2 : size]
    shifts = torch.linalg.eigvals(corner)
    shift = shifts[(shifts - corner[1, 1]).abs().argmin()]
    if step % 10 == 9:  # a shift that brought nothing ten times is left for once
        shift = shift + corner[1, 0].abs()
    block = triangle[:size, :size]
    turn, _ = torch.linalg.qr(block - shift * torch.eye(size, dtype=block.dtype, device=block.device))
    triangle[:size] = turn.mH @ triangle[:size]
    triangle[:, :size] = triangle[:, :size] @ turn
    basis[:, :size] = basis[:, :size] @ turn


def _triangular_root(triangle: torch.Tensor) -> torch.Tensor:
    """R with R·R = T, column by column: T[i, j] = R[i, i]·R[i, j] + … + R[i, j]·R[j, j]."""
    root = torch.diag(triangle.diagonal().sqrt())
    for j in range(1, len(triangle)):
        for i in range(j - 1, -1, -1):
            known = root[i, i + 1 : j] @ root[i + 1 : j, j]
            rest, divisor = triangle[i, j] - known, root[i, i] + root[j, j]
            root[i, j] = rest / divisor
    return root


def _triangular_log(triangle: torch.Tensor) -> torch.Tensor:
    """log T = 2ᵏ·log T^(1/2ᵏ), and near the identity log(1 + X) = ∫₀¹ X·(1 + tX)⁻¹ dt by Gauss's rule."""
    identity = torch.eye(len(triangle), dtype=triangle.dtype, device=triangle.device)
    halvings = 0
    while torch.linalg.norm(triangle - identity, 1) > _NEAR_ONE and halvings < _ROOTS:
        triangle, halvings = _triangular_root(triangle), halvings + 1
    if not torch.linalg.norm(triangle - identity, 1) <= _NEAR_ONE:  # a zero, or not a number
        return torch.full_like(triangle, torch.nan)
    rest = triangle - identity
    result = torch.zeros_like(rest)
    for node, weight in zip((_NODES + 1) / 2, _WEIGHTS / 2, strict=True):
        result += weight * torch.linalg.solve_triangular(identity + node * rest, rest, upper=True)
    return result * 2**halvings
