"""`tensorflow.python.ops.linalg.linear_operator_test_util`: base classes whose tests hold an operator against
the matrix that it stands for, and random matrices to test with.
"""

from __future__ import annotations

import abc
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import DEFAULT_GRAPH_SEED
from tideflow.graph.shapes import TensorShape
from tideflow.linalg.operator import LinearOperator
from tideflow.linalg.tools import matrix_solve
from tideflow.platform.testing import TestCase
from tideflow.programs.inner.testing.test_utilities import run_deprecated_v1

_TOLERANCES = {
    tf.float16: 1e-3,
    tf.float32: 1e-6,
    tf.float64: 1e-12,
    tf.complex64: 1e-6,
    tf.complex128: 1e-12,
}


class OperatorShapesInfo:
    """A shape of an operator to test, and what else a test case wants to know.

    Args:
      shape: The shape of the matrix, or of the batch of them.
      **kwargs: Further attributes.
    """

    def __init__(self, shape: tuple[int, ...], **kwargs: Any):
        self.shape = shape
        self.__dict__.update(kwargs)


OperatorBuildInfo = OperatorShapesInfo


class CheckTapeSafeSkipOptions:
    """Methods that `check_tape_safe` can leave out."""

    DETERMINANT = "determinant"
    DIAG_PART = "diag_part"
    LOG_ABS_DETERMINANT = "log_abs_determinant"
    TRACE = "trace"


class LinearOperatorDerivedClassTest(TestCase, metaclass=abc.ABCMeta):
    """What tests of a class of operators say of it; `add_tests` makes the tests."""

    _atol = dict(_TOLERANCES)
    _rtol = dict(_TOLERANCES)

    def assertAC(self, x: Any, y: Any) -> None:
        """Two arrays are equal, as nearly as their type allows."""
        dtype = tf.as_dtype(x.dtype)
        self.assertAllClose(x, y, atol=self._atol[dtype], rtol=self._rtol[dtype])

    @staticmethod
    def adjoint_options() -> list[bool]:
        """Whether to test with the adjoint of the operator."""
        return [False, True]

    @staticmethod
    def adjoint_arg_options() -> list[bool]:
        """Whether to test with the adjoint of the argument."""
        return [False, True]

    @staticmethod
    def dtypes_to_test() -> list[DType]:
        """The types of the elements."""
        return [tf.float32, tf.float64, tf.complex64, tf.complex128]

    @staticmethod
    def use_placeholder_options() -> list[bool]:
        """Whether shapes are known only in the step."""
        return [False, True]

    @staticmethod
    @abc.abstractmethod
    def operator_shapes_infos() -> list[OperatorShapesInfo]:
        """The shapes to test."""

    @abc.abstractmethod
    def operator_and_matrix(
        self, shapes_info: Any, dtype: Any, use_placeholder: bool, ensure_self_adjoint_and_pd: bool = False
    ) -> tuple[LinearOperator, Tensor]:
        """An operator, and the matrix that it stands for."""

    @abc.abstractmethod
    def make_rhs(self, operator: LinearOperator, adjoint: bool, with_batch: bool = True) -> Tensor:
        """A matrix that `operator.solve` takes."""

    @abc.abstractmethod
    def make_x(self, operator: LinearOperator, adjoint: bool, with_batch: bool = True) -> Tensor:
        """A matrix that `operator.matmul` takes."""

    @staticmethod
    def skip_these_tests() -> list[str]:
        """The names of tests that are not made."""
        return []

    def assertRaisesError(self, msg: str) -> Any:
        """A context in which an error with these words must be raised."""
        if tf.executing_eagerly():
            return self.assertRaisesRegex(Exception, msg)
        return self.assertRaisesOpError(msg)

    def check_tape_safe(self, operator: LinearOperator, skip_options: Sequence[str] | None = None) -> None:
        """What the operator computes has a gradient by each of its variables."""
        if not operator.variables:
            raise AssertionError("`operator.variables` was empty")
        x = tf.cast(tf.ones(shape=operator.H.shape_tensor()[:-1]), operator.dtype)
        computed: list[Callable[[], Any]] = [
            operator.to_dense,
            lambda: operator.adjoint().to_dense(),
            lambda: operator.matvec(x),
        ]
        if operator.is_square:
            methods = ("determinant", "log_abs_determinant", "diag_part", "trace")
            computed += [
                getattr(operator, method) for method in methods if method not in (skip_options or ())
            ]
            if operator.is_non_singular is not False:
                computed += [lambda: operator.inverse().to_dense(), lambda: operator.solvevec(x)]
                if operator.is_self_adjoint and operator.is_positive_definite:
                    computed.append(lambda: operator.cholesky().to_dense())
        for compute in computed:
            with tf.GradientTape() as tape:
                for gradient in tape.gradient(compute(), operator.variables):
                    self.assertIsNotNone(gradient)

    def _random_argument(self, operator: LinearOperator, rows: str, with_batch: bool) -> Tensor:
        """A matrix, or a batch of them, with as many rows as a side of the operator."""
        columns = 1 if operator.tensor_rank is None or operator.tensor_rank % 2 else 2
        if operator.shape.is_fully_defined():
            batch: Any = operator.batch_shape.as_list() if with_batch else []
            return random_normal([*batch, getattr(operator, rows).value, columns], dtype=operator.dtype)
        sides = [getattr(operator, f"{rows}_tensor")(), columns]
        shape: Any = tf.concat([operator.batch_shape_tensor(), sides], 0) if with_batch else sides
        return random_normal(shape, dtype=operator.dtype)


class SquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest):
    """For square operators."""

    @staticmethod
    def operator_shapes_infos() -> list[OperatorShapesInfo]:
        shapes = [(0, 0), (1, 1), (1, 3, 3), (3, 4, 4), (2, 1, 4, 4)]
        return [OperatorShapesInfo(shape) for shape in shapes]

    def make_rhs(self, operator: LinearOperator, adjoint: bool, with_batch: bool = True) -> Tensor:
        return self.make_x(operator, adjoint=not adjoint, with_batch=with_batch)

    def make_x(self, operator: LinearOperator, adjoint: bool, with_batch: bool = True) -> Tensor:
        return self._random_argument(operator, "domain_dimension", with_batch)


class NonSquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest):
    """For operators that are not square."""

    @staticmethod
    def skip_these_tests() -> list[str]:
        return ["cholesky", "inverse", "solve", "solve_with_broadcast", "det", "log_abs_det"]

    @staticmethod
    def operator_shapes_infos() -> list[OperatorShapesInfo]:
        shapes = [(2, 1), (1, 2), (1, 3, 2), (3, 3, 4), (2, 1, 2, 4)]
        return [OperatorShapesInfo(shape) for shape in shapes]

    def make_rhs(self, operator: LinearOperator, adjoint: bool, with_batch: bool = True) -> Tensor:
        raise TypeError("An operator that is not square is not tested with `solve`.")

    def make_x(self, operator: LinearOperator, adjoint: bool, with_batch: bool = True) -> Tensor:
        rows = "range_dimension" if adjoint else "domain_dimension"
        return self._random_argument(operator, rows, with_batch)


# ---------------------------------------------------------------------------------- the tests


def _compared(
    test: LinearOperatorDerivedClassTest,
    computed: Callable[[Any, Any], Sequence[tuple[Any, Any]]],
    shapes_info: Any,
    dtype: DType,
    use_placeholder: bool,
    **options: Any,
) -> None:
    """Pairs of what the operator gives and what its matrix gives are equal, in shape and in value."""
    with test.session(graph=tf.Graph()) as session:
        session.graph.seed = DEFAULT_GRAPH_SEED
        operator, matrix = test.operator_and_matrix(
            shapes_info, dtype, use_placeholder=use_placeholder, **options
        )
        pairs = computed(operator, matrix)
        for given, wanted in pairs:
            if not use_placeholder and not options:
                test.assertAllEqual(given.shape, wanted.shape)
        for given, wanted in session.run(list(pairs)):
            test.assertAC(given, wanted)


_PLAIN: dict[str, Callable[[Any, Any], Sequence[tuple[Any, Any]]]] = {
    "add_to_tensor": lambda operator, matrix: [(operator.add_to_tensor(2 * matrix), 3 * matrix)],
    "cholesky": lambda operator, matrix: [(operator.cholesky().to_dense(), tf.cholesky(matrix))],
    "det": lambda operator, matrix: [(operator.determinant(), tf.matrix_determinant(matrix))],
    "diag_part": lambda operator, matrix: [(operator.diag_part(), tf.matrix_diag_part(matrix))],
    "inverse": lambda operator, matrix: [(operator.inverse().to_dense(), tf.linalg.inv(matrix))],
    "log_abs_det": lambda operator, matrix: [
        (operator.log_abs_determinant(), tf.linalg.slogdet(matrix).log_abs_determinant)
    ],
    "to_dense": lambda operator, matrix: [(operator.to_dense(), matrix)],
    "trace": lambda operator, matrix: [(operator.trace(), tf.trace(matrix))],
}


def _plain_test(name: str, use_placeholder: bool, shapes_info: Any, dtype: DType) -> Callable:
    def test(self: LinearOperatorDerivedClassTest) -> None:
        options = {"ensure_self_adjoint_and_pd": True} if name == "cholesky" else {}
        _compared(self, _PLAIN[name], shapes_info, dtype, use_placeholder, **options)

    return test


def _test_with_argument(
    name: str, use_placeholder: bool, shapes_info: Any, dtype: DType, adjoint: bool, adjoint_arg: bool
) -> Callable:
    with_batch = name != "solve_with_broadcast"

    def test(self: LinearOperatorDerivedClassTest) -> None:
        if not with_batch and len(shapes_info.shape) <= 2:
            return  # the same as the test with a batch

        def computed(operator: Any, matrix: Any) -> list[tuple[Any, Any]]:
            solves = name.startswith("solve")
            make = self.make_rhs if solves else self.make_x
            x = make(operator, adjoint=adjoint, with_batch=with_batch)
            method = operator.solve if solves else operator.matmul
            given = tf.linalg.adjoint(x) if adjoint_arg else x
            result = method(given, adjoint=adjoint, adjoint_arg=adjoint_arg)
            if solves:
                return [(result, matrix_solve(matrix, x, adjoint=adjoint))]
            return [(result, tf.matmul(matrix, x, adjoint_a=adjoint))]

        _compared(self, computed, shapes_info, dtype, use_placeholder)

    return test


_WITH_ARGUMENT = ("matmul", "matmul_with_broadcast", "solve", "solve_with_broadcast")


def add_tests(test_cls: Any) -> None:
    """Gives a test case a test for each method, shape and type."""
    kinds = itertools.product(
        test_cls.dtypes_to_test(), test_cls.use_placeholder_options(), test_cls.operator_shapes_infos()
    )
    skipped = test_cls.skip_these_tests()
    for dtype, use_placeholder, info in kinds:
        about = f"_shape={info.shape},dtype={dtype},use_placeholder={use_placeholder}"
        for name in _PLAIN:
            if name not in skipped:
                _add(test_cls, f"test_{name}_{about}", _plain_test(name, use_placeholder, info, dtype))
        adjoints = itertools.product(test_cls.adjoint_options(), test_cls.adjoint_arg_options())
        for (adjoint, adjoint_arg), name in itertools.product(list(adjoints), _WITH_ARGUMENT):
            if name not in skipped:
                test = _test_with_argument(name, use_placeholder, info, dtype, adjoint, adjoint_arg)
                _add(test_cls, f"test_{name}_{about},adjoint={adjoint},adjoint_arg={adjoint_arg}", test)


def _add(test_cls: Any, name: str, test: Callable) -> None:
    if hasattr(test_cls, name):
        raise RuntimeError(f"Test {name} defined more than once")
    setattr(test_cls, name, run_deprecated_v1(test))


# ---------------------------------------------------------------------------------- random matrices


def _real_or_complex(sample: Callable[..., Tensor], dtype: Any, seed: int | None, salt: int) -> Tensor:
    """Random numbers; complex ones have a second sample as their imaginary part."""
    dtype = tf.as_dtype(dtype)
    real = sample(dtype=dtype.real_dtype, seed=seed)
    if not dtype.is_complex:
        return real
    return tf.complex(real, sample(dtype=dtype.real_dtype, seed=None if seed is None else seed + salt))


def random_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = tf.float32, seed: int | None = None
) -> Tensor:
    """Normal numbers, or complex ones whose two parts are normal."""
    with tf.name_scope("random_normal"):

        def sample(**options: Any) -> Tensor:
            return tf.random_normal(shape, mean=mean, stddev=stddev, **options)

        return _real_or_complex(sample, dtype, seed, 1234)


def random_uniform(
    shape: Any, minval: Any = None, maxval: Any = None, dtype: Any = tf.float32, seed: int | None = None
) -> Tensor:
    """Uniform numbers, or complex ones whose two parts are uniform."""
    with tf.name_scope("random_uniform"):

        def sample(**options: Any) -> Tensor:
            return tf.random_uniform(shape, minval=minval, maxval=maxval, **options)

        return _real_or_complex(sample, dtype, seed, 12345)


def random_sign_uniform(
    shape: Any, minval: Any = None, maxval: Any = None, dtype: Any = tf.float32, seed: int | None = None
) -> Tensor:
    """Uniform numbers, half of them with their sign turned."""
    with tf.name_scope("random_sign_uniform"):
        unsigned = random_uniform(shape, minval=minval, maxval=maxval, dtype=dtype, seed=seed)
        seed = None if seed is None else seed + 12
        signs = tf.sign(tf.random_uniform(shape, minval=-1.0, maxval=1.0, seed=seed))
        return unsigned * tf.cast(signs, unsigned.dtype)


def random_tril_matrix(
    shape: Any, dtype: Any, force_well_conditioned: bool = False, remove_upper: bool = True
) -> Tensor:
    """A triangular matrix; well conditioned, its diagonal is between one and the root of two in size."""
    with tf.name_scope("random_tril_matrix"):
        tril = random_normal(shape, dtype=dtype)
        if remove_upper:
            tril = tf.matrix_band_part(tril, -1, 0)
        if force_well_conditioned:
            most = tf.convert_to_tensor(np.sqrt(2.0), dtype=dtype.real_dtype)
            diagonal = random_sign_uniform(shape[:-1], dtype=dtype, minval=1.0, maxval=most)
            tril = tf.matrix_set_diag(tril, diagonal)
        return tril


def random_positive_definite_matrix(shape: Any, dtype: Any, force_well_conditioned: bool = False) -> Tensor:
    """A positive definite matrix: the product of a triangle and its adjoint."""
    dtype = tf.as_dtype(dtype)
    if not tf.is_tensor(shape):
        shape = TensorShape(shape)
        shape.dims[-1].assert_is_compatible_with(shape.dims[-2])
    with tf.name_scope("random_positive_definite_matrix"):
        tril = random_tril_matrix(shape, dtype, force_well_conditioned=force_well_conditioned)
        return tf.matmul(tril, tril, adjoint_b=True)


def random_normal_correlated_columns(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = tf.float32,
    eps: float = 1e-4,
    seed: int | None = None,
) -> Tensor:
    """A matrix of normal numbers whose columns, if there are enough of them, almost depend on each other."""
    if len(shape) < 2:
        raise ValueError(f"Argument shape must be at least length 2.  Found: {shape}")
    *batch, rows, columns = list(shape)
    if columns < 2 or columns < rows:
        return random_normal(shape, mean=mean, stddev=stddev, dtype=dtype, seed=seed)
    with tf.name_scope("random_normal_correlated_columns"):
        few = random_normal(
            [*batch, rows, columns - 1], stddev=1 / np.sqrt(columns - 1), dtype=dtype, seed=seed
        )
        seed = None if seed is None else seed + 1287
        embedding = random_normal([*batch, columns, columns - 1], dtype=dtype, seed=seed)
        embedded = tf.matrix_transpose(tf.matmul(embedding, few, transpose_b=True))
        noise = random_normal(shape, stddev=eps, dtype=dtype)
        return embedded + noise + tf.ones_like(embedded) * mean
