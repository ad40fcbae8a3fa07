"""What TensorFlow's unit tests of the core take from its inner modules."""

import unittest

import numpy as np
import pytest

import tideflow as tf
from tideflow.programs.finder import Facade
from tideflow.programs.inner.graph import op_def_library_names, parallel_loops, random_names
from tideflow.programs.inner.testing import bijector_testing, linear_operator_testing, random_testing
from tideflow.programs.inner.util import utilities


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_a_class_of_operators_is_held_against_matrices():
    class Diagonals(linear_operator_testing.SquareLinearOperatorDerivedClassTest):
        @staticmethod
        def dtypes_to_test():
            return [tf.float32]

        def operator_and_matrix(self, shapes_info, dtype, use_placeholder, ensure_self_adjoint_and_pd=False):
            diagonal = linear_operator_testing.random_uniform(
                list(shapes_info.shape)[:-1], minval=1.0, maxval=2.0, dtype=dtype
            )
            given = tf.placeholder_with_default(diagonal, None) if use_placeholder else diagonal
            operator = tf.linalg.LinearOperatorDiag(given, is_positive_definite=True)
            return operator, tf.matrix_diag(diagonal)

    linear_operator_testing.add_tests(Diagonals)
    names = unittest.TestLoader().getTestCaseNames(Diagonals)
    assert len(names) == 241  # each of them once; one is of TestCase itself
    wanted = ("test_solve__shape=(3, 4, 4)", "test_cholesky", "test_log_abs_det__shape=(1, 1)")
    suite = unittest.TestSuite(Diagonals(name) for name in names if name.startswith(wanted))
    result = unittest.TestResult()
    suite.run(result)
    assert result.testsRun == 8 + 10 + 2 and result.wasSuccessful(), (result.errors, result.failures)
    with pytest.raises(RuntimeError, match="defined more than once"):
        linear_operator_testing.add_tests(Diagonals)


def test_an_operator_that_is_not_its_matrix_fails():
    class Wrong(linear_operator_testing.NonSquareLinearOperatorDerivedClassTest):
        def operator_and_matrix(self, shapes_info, dtype, use_placeholder, ensure_self_adjoint_and_pd=False):
            matrix = linear_operator_testing.random_normal(list(shapes_info.shape), dtype=dtype)
            return tf.linalg.LinearOperatorFullMatrix(matrix), 2 * matrix

    linear_operator_testing.add_tests(Wrong)
    result = unittest.TestResult()
    Wrong("test_to_dense__shape=(2, 1),dtype=<dtype: 'float32'>,use_placeholder=False").run(result)
    assert len(result.failures) == 1


def test_bijectors_are_checked():
    bijector = tf.contrib.distributions.bijectors.Exp()
    with tf.Session() as session:
        bijector_testing.assert_scalar_congruency(bijector, -2.0, 1.5, rtol=0.05, sess=session)
        points = np.float32([0.5, 1.0])
        bijector_testing.assert_bijective_and_finite(bijector, points, points, event_ndims=0, sess=session)
    with pytest.raises(AssertionError):
        bijector_testing.assert_strictly_monotonic(np.array([1, 3, 2, 4]))


def test_statistics_of_random_numbers():
    numbers = np.random.RandomState(0).uniform(size=10000)
    assert random_testing.chi_squared(numbers, 10) < 30 < random_testing.chi_squared(numbers**2, 10)
    normal = np.random.RandomState(0).normal(size=10000)
    assert random_testing.anderson_darling(normal) < 3 < random_testing.anderson_darling(normal + 0.1)


def test_loops_run_operations_and_leave_out_none():
    total = tf.get_variable("total", initializer=0, use_resource=True)
    counted, missing = parallel_loops.pfor(lambda i: (total.assign_add(i).op, None), 4)
    with tf.Session() as session:
        session.run(total.initializer)
        session.run(counted)
        assert session.run(total) == 6 and missing is None


def test_op_defs_are_checked():
    made = Facade("tensorflow.core.framework.op_def_pb2").OpDef(name="Bad")
    made.input_arg.add(name="a", type_attr="T")
    with pytest.raises(TypeError, match="Inconsistent OpDef for 'Bad', missing attr 'T'"):
        op_def_library_names.OpDefLibrary().add_op(made)
    made.attr.add(name="T", type="int")
    with pytest.raises(TypeError, match="used as a type_attr but has type int"):
        op_def_library_names.OpDefLibrary().add_op(made)


def test_seeds_and_names_of_functions():
    assert random_names._make_1d_state(3, 2**70 + 5).tolist() == [5, 64, 0]
    assert random_names._uint_to_int(2**64 - 1) == -1
    assert utilities.get_func_name(test_seeds_and_names_of_functions).startswith("test_seeds")
    with pytest.raises(ValueError, match="must be callable"):
        utilities.get_func_code(5)
