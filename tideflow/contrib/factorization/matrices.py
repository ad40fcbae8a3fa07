"""Factors of a matrix of which few elements are known, by weighted alternating least squares."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, colocate_with, control_dependencies, name_scope
from tideflow.nn.embeddings import embedding_lookup
from tideflow.ops.arrays import constants, creation, distinct, indexing, joining, shapes, stitching
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.linalg.contraction import trace
from tideflow.ops.linalg.factorization import masked_matmul_op, wals_partial_op
from tideflow.ops.linalg.matmul import matmul
from tideflow.ops.linalg.solvers import matrix_solve
from tideflow.ops.math import adding, binary, casting, checks, reductions, unary
from tideflow.ops.random.distributions import random_normal
from tideflow.ops.sparse import construction, with_dense
from tideflow.ops.state.reference_variables import assign
from tideflow.ops.state.variable_rows import scatter_update
from tideflow.variables.base import Variable
from tideflow.variables.collections import variables_initializer

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _sizes(total: int, shards: int) -> list[int]:
    size, longer = divmod(total, shards)
    return [size + 1] * longer + [size] * (shards - longer)


def _temporary(name: str) -> Any:
    """A variable for a copy of any shape, which workers keep for themselves."""
    return Variable(
        1.0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=False, name=name
    )


class _Cache:
    """A copy of a variable, or of a list of them, that a worker reads instead; or these themselves."""

    def __init__(self, variables: Any, name: str, is_copied: bool):
        self.values, self.fill, self.empty = variables, constants.no_operation(), constants.no_operation()
        if not is_copied:
            return
        many = isinstance(variables, list)
        parts = variables if many else [variables]
        copies = [_temporary(f"{name}_shard_{i}" if many else name) for i in range(len(parts))]
        filled: list[Any] = []
        for copy, part in zip(copies, parts, strict=True):
            with control_dependencies(filled[-1:]), colocate_with(copy):
                filled.append(assign(copy, part, validate_shape=False))
        self.fill = filled[-1]
        self.empty = grouping.group(*[assign(copy, 1.0, validate_shape=False) for copy in copies])
        self.values = copies if many else copies[0]


class _Side:
    """The rows of the matrix, or its columns: their factors and weights, in shards."""

    def __init__(self, name: str, size: int, shards: int):
        self.name, self.size, self.shards = name, size, shards
        self.weights: list[Any] | None = None
        self.factors: list[Any] = []
        self.gramian: Any = None
        # What workers read of this side while they update the other.
        self.cached_factors: Any = None
        self.cached_weights: Any = None
        self.cached_gramian: Any = None

    def make_weights(self, given: Any) -> None:
        """Variables with a weight for each row: one number, or numbers for each shard."""
        if given is None:
            return
        if isinstance(given, Iterable):
            if self.shards == 1 and len(given) == self.size:
                given = [given]
            if len(given) != self.shards:
                raise AssertionError(f"{len(given)} lists of weights are given for {self.shards} shards")
        elif not (isinstance(given, numbers.Real) and given >= 0):
            raise ValueError(
                "Invalid weight initialization argument. Must be one of these: None, a real non-negative "
                "real number, or a list of lists of non-negative real numbers (or equivalent iterables) "
                "corresponding to sharded factors."
            )

        def first(i: int, size: int) -> Callable[[], Any]:
            return lambda: given[i] if isinstance(given, Iterable) else given * creation.ones([size])

        self.weights = self._sharded("weights", first)

    def make_factors(self, start: Any, components: int) -> None:
        """Variables with a vector for each row: random, or as given for each shard."""
        start = start() if callable(start) else start
        is_random = isinstance(start, str) and start == "random"
        if not is_random and not isinstance(start, list):
            start = [start]
        if not is_random and len(start) != self.shards:
            raise AssertionError(f"{len(start)} matrices of factors are given for {self.shards} shards")

        def first(i: int, size: int) -> Callable[[], Any]:
            return lambda: random_normal([size, components]) if is_random else start[i]

        self.factors = self._sharded("factors", first)

    def _sharded(self, kind: str, first: Callable[[int, int], Callable[[], Any]]) -> list[Any]:
        return [
            Variable(first(i, size), dtype=dtypes.float32, name=f"{self.name}_{kind}_shard_{i}")
            for i, size in enumerate(_sizes(self.size, self.shards))
        ]

    def make_gramian(self, components: int) -> None:
        """A variable for the sum of the outer products of all factors."""
        zeros = creation.zeros([components, components])
        self.gramian = Variable(zeros, dtype=dtypes.float32, name=f"{self.name}_gramian")

    def update_gramian(self) -> Operation:
        """The operation that computes it."""
        products = []
        for part in self.factors:
            with colocate_with(part):
                products.append(matmul(part, part, transpose_a=True))
        with colocate_with(self.gramian):
            return assign(self.gramian, adding.add_n(products)).op

    def updated(self, places: Tensor, values: Tensor) -> Operation:
        """The operation that sets the factors of some rows."""
        name = f"{self.name}_update"
        if self.shards == 1:
            with colocate_with(self.factors[0]):
                return scatter_update(self.factors[0], places, values, name=name).op
        size, longer = divmod(self.size, self.shards)
        shard = binary.maximum(places // (size + 1), (places - longer) // size)
        within = indexing.where_v2(shard < longer, places % (size + 1), (places - longer) % size)
        shard = casting.cast(shard, dtypes.int32)
        parts = zip(
            self.factors,
            stitching.dynamic_partition(within, shard, self.shards),
            stitching.dynamic_partition(values, shard, self.shards),
            strict=True,
        )
        return grouping.group(*[scatter_update(*part) for part in parts], name=name)


@export("contrib.factorization.WALSModel")
class WALSModel:
    """Factors of a matrix, found by weighted alternating least squares.

    Args:
      input_rows: The number of rows of the matrix.
      input_cols: The number of its columns.
      n_components: The size of a factor.
      unobserved_weight: What an element counts, beside its own weight: that of the unknown ones, which are 0.
      regularization: The factor of the factors' squares; None for none.
      row_init: The first factors of rows: `"random"`, a matrix, a list with a matrix for each shard, or a
        function that gives these.
      col_init: The first factors of columns.
      num_row_shards: In how many variables the factors of rows are kept.
      num_col_shards: In how many those of columns are kept.
      row_weights: The weights of rows: a number, numbers, or a list with numbers for each shard. A known
        element counts the product of its row's and its column's; None for both if all count alike.
      col_weights: The weights of columns.
      use_factors_weights_cache: Whether workers keep copies of factors and weights.
      use_gramian_cache: Whether workers keep copies of Gramians.
      use_scoped_vars: Whether variables are made in name scopes of their own.
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: float = 0.1,
        regularization: float | None = None,
        row_init: str | TensorLike | Sequence[TensorLike] | Callable = "random",
        col_init: str | TensorLike | Sequence[TensorLike] | Callable = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ):
        if (row_weights is None) != (col_weights is None):
            raise AssertionError("row_weights and col_weights must be given both, or neither")
        self._unobserved_weight, self._regularization = unobserved_weight, regularization
        self._ridge = None
        if regularization is not None:
            self._ridge = regularization * creation.eye(n_components)
        self._rows = _Side("row", input_rows, num_row_shards)
        self._cols = _Side("col", input_cols, num_col_shards)
        sides = (self._rows, self._cols)

        def scope(name: str) -> Any:
            return name_scope(name) if use_scoped_vars else contextlib.nullcontext()

        for side, weights in zip(sides, (row_weights, col_weights), strict=True):
            with scope(f"{side.name}_weights"):
                side.make_weights(weights)
        for side, start in zip(sides, (row_init, col_init), strict=True):
            with scope(f"{side.name}_factors"):
                side.make_factors(start, n_components)
        for side in sides:
            side.make_gramian(n_components)
        with name_scope("row_prepare_gramian"):
            self._row_prepared = self._cols.update_gramian()
        with name_scope("col_prepare_gramian"):
            self._col_prepared = self._rows.update_gramian()
        with name_scope("transient_vars"):
            for side in sides:
                name = f"{side.name}_factors_cache"
                side.cached_factors = _Cache(side.factors, name, use_factors_weights_cache)
            for side in sides:
                is_copied = use_factors_weights_cache and side.weights is not None
                side.cached_weights = _Cache(side.weights, f"{side.name}_wt_cache", is_copied)
            for side in sides:
                side.cached_gramian = _Cache(side.gramian, f"{side.name}_gramian_cache", use_gramian_cache)
            self._row_started = _started(self._rows, self._cols)
            self._col_started = _started(self._cols, self._rows)
            fills = [side.cached_weights.fill for side in sides if side.weights is not None]
            self._worker_init = grouping.group(*fills, name="worker_init")

    @property
    def row_factors(self) -> list[Any]:
        """The variables of the factors of rows, one for each shard."""
        return self._rows.factors

    @property
    def col_factors(self) -> list[Any]:
        """The variables of the factors of columns, one for each shard."""
        return self._cols.factors

    @property
    def row_weights(self) -> list[Any] | None:
        """The variables of the weights of rows, one for each shard."""
        return self._rows.weights

    @property
    def col_weights(self) -> list[Any] | None:
        """The variables of the weights of columns, one for each shard."""
        return self._cols.weights

    @property
    def initialize_op(self) -> Operation:
        """The operation that initializes the variables of the model."""
        made = [*self._rows.factors, *self._cols.factors, self._rows.gramian, self._cols.gramian]
        made += [*(self._rows.weights or ()), *(self._cols.weights or ())]
        return variables_initializer(made)

    @property
    def worker_init(self) -> Operation:
        """The operation that fills a worker's copies of the weights; run once."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Operation:
        """The operation that one worker runs before the factors of rows are updated."""
        return self._row_prepared

    @property
    def col_update_prep_gramian_op(self) -> Operation:
        """The operation that one worker runs before the factors of columns are updated."""
        return self._col_prepared

    @property
    def initialize_row_update_op(self) -> Operation:
        """The operation that each worker runs next, before the factors of rows are updated."""
        return self._row_started

    @property
    def initialize_col_update_op(self) -> Operation:
        """The operation that each worker runs next, before the factors of columns are updated."""
        return self._col_started

    def update_row_factors(
        self, sp_input: SparseTensor | None = None, transpose_input: bool = False
    ) -> tuple[Tensor, Operation, Tensor, Tensor, Tensor]:
        """Solves for the factors of rows.

        Args:
          sp_input: The known elements of these rows.
          transpose_input: Whether rows of the matrix are columns of `sp_input`.

        Returns:
          The new factors; the operation that keeps them; estimates of the loss, of the regularization and of
          the sum of the weights, over the whole matrix.
        """
        return self._solved(self._rows, self._cols, sp_input, transpose_input)

    def update_col_factors(
        self, sp_input: SparseTensor | None = None, transpose_input: bool = False
    ) -> tuple[Tensor, Operation, Tensor, Tensor, Tensor]:
        """Solves for the factors of columns.

        Args:
          sp_input: The known elements of these columns.
          transpose_input: Whether columns of the matrix are rows of `sp_input`.

        Returns:
          The new factors; the operation that keeps them; estimates of the loss, of the regularization and of
          the sum of the weights, over the whole matrix.
        """
        return self._solved(self._cols, self._rows, sp_input, not transpose_input)

    def project_row_factors(
        self,
        sp_input: SparseTensor | None = None,
        transpose_input: bool = False,
        projection_weights: TensorLike | None = None,
    ) -> Tensor:
        """Solves for the factors of rows that the matrix need not have.

        Args:
          sp_input: The known elements of these rows.
          transpose_input: Whether rows are columns of `sp_input`.
          projection_weights: The weights of the rows: a number, or one for each; 1 if None.

        Returns:
          A tensor [rows, components].
        """
        weights = 1 if projection_weights is None else projection_weights
        return self._solved(self._rows, self._cols, sp_input, transpose_input, weights)[0]

    def project_col_factors(
        self,
        sp_input: SparseTensor | None = None,
        transpose_input: bool = False,
        projection_weights: TensorLike | None = None,
    ) -> Tensor:
        """Solves for the factors of columns that the matrix need not have.

        Args:
          sp_input: The known elements of these columns.
          transpose_input: Whether columns are rows of `sp_input`.
          projection_weights: The weights of the columns: a number, or one for each; 1 if None.

        Returns:
          A tensor [columns, components].
        """
        weights = 1 if projection_weights is None else projection_weights
        return self._solved(self._cols, self._rows, sp_input, not transpose_input, weights)[0]

    def _solved(
        self, left: _Side, right: _Side, elements: Any, is_transposed: bool, own_weights: Any = None
    ) -> tuple[Any, ...]:
        """New factors of one side by those of the other; the elements' rows are `left`, or their columns."""
        if not isinstance(elements, SparseTensor):
            raise AssertionError(f"sp_input must be a SparseTensor, but is {elements!r}")
        columns = [distinct.unique(elements.indices[:, axis]) for axis in (0, 1)]
        (places, own), (others, other) = columns[::-1] if is_transposed else columns
        count = casting.cast(shapes.shape(places)[0], dtypes.int64)
        factors = embedding_lookup(right.cached_factors.values, others, partition_strategy="div")
        # Rows and columns that have elements are numbered from 0 on.
        at = casting.cast(joining.stack([own, other], axis=1), dtypes.int64)
        numbered = SparseTensor(
            at, elements.values, [count, casting.cast(shapes.shape(others)[0], dtypes.int64)]
        )
        gramian = right.cached_gramian.values
        lhs = self._unobserved_weight * gramian
        if self._ridge is not None:
            lhs += self._ridge
        own_weight, other_weight = None, None
        if left.weights is None:
            rhs = self._unobserved_weight * with_dense.sparse_tensor_dense_matmul(
                construction.sparse_reorder(numbered), factors
            )
            solution = shapes.transpose(matrix_solve(lhs, shapes.transpose(rhs)))
        else:
            own_weight = self._own_weights(left, places, own_weights)
            other_weight = embedding_lookup(right.cached_weights.values, others, partition_strategy="div")
            partial_lhs, rhs = wals_partial_op(
                factors,
                other_weight,
                self._unobserved_weight,
                own_weight,
                at,
                elements.values,
                [],
                count,
                False,
                name="wals_compute_partial_lhs_rhs",
            )
            whole = shapes.expand_dims(lhs, 0) + partial_lhs
            solution = shapes.squeeze(matrix_solve(whole, shapes.expand_dims(rhs, -1)), [2])
        update = left.updated(places, solution)
        return (
            solution,
            update,
            *self._losses(left, right, solution, factors, numbered, own_weight, other_weight, gramian),
        )

    @staticmethod
    def _own_weights(side: _Side, places: Tensor, given: Any) -> Tensor:
        if given is None:
            return embedding_lookup(side.cached_weights.values, places, partition_strategy="div")
        count = shapes.shape(places)[0]
        with control_dependencies([checks.assert_less_equal(shapes.rank(given), 1)]):
            return conditionals.cond(
                binary.equal(shapes.rank(given), 0),
                lambda: creation.ones([count]) * given,
                lambda: casting.cast(given, dtypes.float32),
            )

    def _losses(
        self,
        left: _Side,
        right: _Side,
        solution: Tensor,
        factors: Tensor,
        elements: SparseTensor,
        own_weight: Tensor | None,
        other_weight: Tensor | None,
        gramian: Any,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The loss, the regularization and the sum of the weights, extrapolated from some rows to all."""
        count = casting.cast(shapes.shape(solution)[0], dtypes.float32)
        scale = left.size / count
        guessed = masked_matmul_op(solution, factors, elements.indices, False, True)
        errors = unary.square(elements.values - guessed)
        known = constants.constant(0.0)
        weights = None
        if own_weight is not None:
            weights = indexing.gather(own_weight, elements.indices[:, 0])
            weights *= indexing.gather(other_weight, elements.indices[:, 1])
            known = reductions.reduce_sum(weights * errors)
        own_gramian = matmul(solution, solution, transpose_a=True)
        everywhere = trace(matmul(own_gramian, gramian))
        unknown = reductions.reduce_sum(errors) - reductions.reduce_sum(unary.square(guessed)) + everywhere
        loss = (self._unobserved_weight * unknown + known) * scale
        penalty = constants.constant(0.0)
        if self._regularization is not None:
            penalty = self._regularization * (trace(own_gramian) * scale + trace(gramian))
        total = self._unobserved_weight * casting.cast(left.size * right.size, dtypes.float32)
        if weights is not None:
            total += reductions.reduce_sum(weights) * scale
        return loss, penalty, total


def _started(side: _Side, other: _Side) -> Operation:
    """What a worker does before it updates a side: it copies the other, and forgets its copy of this one."""
    return grouping.group(
        other.cached_factors.fill,
        side.cached_factors.empty,
        other.cached_gramian.fill,
        side.cached_gramian.empty,
    )
