"""`tensorflow.python.ops.linalg.linear_operator_addition`: sums of operators, as simple as they can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import tideflow as tf
from tideflow.linalg.operator import LinearOperator
from tideflow.linalg.tools import broadcast_batch


class _Hints(NamedTuple):
    """What is known of a sum."""

    is_non_singular: bool | None = None
    is_positive_definite: bool | None = None
    is_self_adjoint: bool | None = None


class _Adder:
    """Adds two operators, where it can, to one of some class."""

    kinds: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        """Whether this adds the two."""
        return all(type(op).__name__ in self.kinds for op in (op1, op2))

    def add(
        self, op1: LinearOperator, op2: LinearOperator, operator_name: str | None, hints: _Hints | None = None
    ) -> LinearOperator:
        """The sum, as one operator. Hints that are given replace those that follow from the two."""
        known = _hints_of_sum(op1, op2, hints or _Hints())
        name = operator_name or f"Add/{op1.name}__{op2.name}/"
        with tf.name_scope(self.name.lstrip("_"), values=[*op1.graph_parents, *op2.graph_parents]):
            return self._add(op1, op2, name=name, **known._asdict())

    def _add(self, op1: Any, op2: Any, **options: Any) -> LinearOperator:
        raise TypeError(f"{self.name} does not say how it adds two operators.")


def _hints_of_sum(op1: LinearOperator, op2: LinearOperator, given: _Hints) -> _Hints:
    adjoint, definite, singular = given.is_self_adjoint, given.is_positive_definite, given.is_non_singular
    if definite is None:
        definite = op1.is_positive_definite and op2.is_positive_definite
        singular = True if definite else singular
    if adjoint is None:
        adjoint = op1.is_self_adjoint and op2.is_self_adjoint
    return _Hints(singular, definite, adjoint)


_IDENTITIES = ("LinearOperatorIdentity", "LinearOperatorScaledIdentity")
_DIAGONALS = ("LinearOperatorDiag", *_IDENTITIES)


def _dense_sum(op1: LinearOperator, op2: LinearOperator) -> Any:
    """Diagonals are added to the other's matrix."""
    first, second = (op1, op2) if type(op1).__name__ in _DIAGONALS else (op2, op1)
    return first.add_to_tensor(second.to_dense())


class _AddAndReturnScaledIdentity(_Adder):
    """Multiples of the identity."""

    kinds = _IDENTITIES

    def _add(self, op1: Any, op2: Any, **options: Any) -> LinearOperator:
        def multiplier(op: Any) -> Any:
            scaled = hasattr(op, "multiplier")
            return op.multiplier if scaled else tf.ones(op.batch_shape_tensor(), dtype=op.dtype)

        rows = op1.range_dimension_tensor()
        return tf.linalg.LinearOperatorScaledIdentity(rows, multiplier(op1) + multiplier(op2), **options)


class _AddAndReturnDiag(_Adder):
    """Diagonals."""

    kinds = _DIAGONALS

    def _add(self, op1: Any, op2: Any, **options: Any) -> LinearOperator:
        return tf.linalg.LinearOperatorDiag(op1.diag_part() + op2.diag_part(), **options)


class _AddAndReturnTriL(_Adder):
    """Triangles."""

    kinds = (*_DIAGONALS, "LinearOperatorLowerTriangular")

    def _add(self, op1: Any, op2: Any, **options: Any) -> LinearOperator:
        return tf.linalg.LinearOperatorLowerTriangular(_dense_sum(op1, op2), **options)


class _AddAndReturnMatrix(_Adder):
    """Everything else."""

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        return isinstance(op1, LinearOperator) and isinstance(op2, LinearOperator)

    def _add(self, op1: Any, op2: Any, **options: Any) -> LinearOperator:
        return tf.linalg.LinearOperatorFullMatrix(_dense_sum(op1, op2), **options)


_DEFAULT_ADDITION_TIERS = [
    [_AddAndReturnScaledIdentity()],
    [_AddAndReturnDiag()],
    [_AddAndReturnTriL()],
    [_AddAndReturnMatrix()],
]


def add_operators(
    operators: Sequence[LinearOperator],
    operator_name: str | None = None,
    addition_tiers: Sequence[Sequence[_Adder]] | None = None,
    name: str | None = None,
) -> list[LinearOperator]:
    """Fewer operators with the same sum.

    Args:
      operators: Operators of one type, whose matrices have the same sizes.
      operator_name: The name of sums; by default it says what was added.
      addition_tiers: Lists of adders: what one list cannot add, the next one tries.
      name: A name for the operations.

    Returns:
      The operators that are left.
    """
    tf.debugging.assert_proper_iterable(operators)
    waiting = list(reversed(list(operators)))
    _check(waiting)
    parents = [parent for operator in waiting for parent in operator.graph_parents]
    with tf.name_scope(name or "add_operators", values=parents):
        for tier in _DEFAULT_ADDITION_TIERS if addition_tiers is None else addition_tiers:
            waiting = _added(waiting, tier, operator_name)
        return waiting


def _added(operators: list[LinearOperator], tier: Sequence[_Adder], name: str | None) -> list[LinearOperator]:
    left = []
    while operators:
        first = operators.pop()
        pairs = ((i, adder) for i in reversed(range(len(operators))) for adder in tier)
        match = next(((i, adder) for i, adder in pairs if adder.can_add(first, operators[i])), None)
        if match is None:
            left.append(first)
        else:
            i, adder = match
            operators.append(adder.add(first, operators.pop(i), name))
    return left


def _check(operators: list[LinearOperator]) -> None:
    if not operators:
        raise ValueError("Argument 'operators' must contain at least one operator.  Found: []")
    if not all(isinstance(operator, LinearOperator) for operator in operators):
        raise TypeError(
            f"Argument 'operators' must contain only LinearOperator instances.  Found: {operators}"
        )
    for side in ("domain", "range"):
        sizes = [(op.name, getattr(op, f"{side}_dimension").value) for op in operators]
        if len({size for _, size in sizes if size is not None}) > 1:
            raise ValueError(f"Operators must have the same {side} dimension. Found: {sizes}")
    broadcast_batch([operator.batch_shape for operator in operators])
