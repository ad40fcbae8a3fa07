"""tf.test: the test case and its assertions, used as a user's tests use them."""

import collections
import os
import subprocess
import sys

import numpy as np
import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode
from tideflow.eager.gradient_checker import compute_gradient, max_error

Pair = collections.namedtuple("Pair", "a b")


class AssertionsTest(tf.test.TestCase):
    def test_close(self):
        self.assertAllClose({"a": [1.0], "b": (2, {"c": 3})}, {"a": [1.0], "b": (2, {"c": 3 + 1e-7})})
        self.assertAllClose(Pair(1, tf.constant(2.0)), Pair(1, 2))
        self.assertAllClose([[1], [2, 3]], [[1], [2, 3]])
        self.assertAllClose(float("nan"), float("nan"))
        self.assertAllCloseAccordingToType(np.float16(1), np.float16(1.001))
        self.assertNotAllClose([1], [2])
        for a, b in (([1, 2], [1, 3]), ([1], [1, 2]), ({"a": 1}, {"a": 2}), ([[1], [2, 3]], [[1], [2, 4]])):
            with self.assertRaises(AssertionError):
                self.assertAllClose(a, b)
        with self.assertRaisesRegex(ValueError, "Can't compare dict to non-dict"):
            self.assertAllClose({"a": 1}, [1])

    def test_elements(self):
        self.assertAllEqual(tf.constant(["a"]), [b"a"])
        self.assertAllEqual([float("nan")], [float("nan")])
        self.assertNotAllEqual([1], [2])
        self.assertAllInRange([1, 2], 1, 2)
        self.assertAllInSet([1, 1, 2], {1, 2, 3})
        for name, args in (
            ("assertAllEqual", ([1], 1)),
            ("assertAllEqual", (1, 2)),
            ("assertAllGreater", ([1, 2], 1)),
            ("assertAllGreaterEqual", ([1, 2], 2)),
            ("assertAllLess", (2, 2)),
            ("assertAllLessEqual", ([3], 2)),
            ("assertAllInRange", ([1, 2], 1, 2, True)),
            ("assertAllInRange", ([float("nan")], 0, 2)),
            ("assertAllInSet", ([1, 5], {1, 2})),
            ("assertNear", (1.0, 1.3, 0.2)),
            ("assertArrayNear", ([1.0, 2.0], [1.0, 2.3], 0.2)),
            ("assertNDArrayNear", (np.ones(2), np.zeros(2), 0.1)),
        ):
            with self.assertRaises(AssertionError, msg=name):
                getattr(self, name)(*args)

    def test_what_differs_is_told(self):
        with self.assertRaisesRegex(AssertionError, r"not close where = \(array\(\[1\]\),\)") as found:
            self.assertAllClose([1.0, 2.0], [1.0, 2.5])
        for words in ("lhs = [2.]", "rhs = [2.5]", "dif = [0.5]", "tol = "):
            self.assertIn(f"not close {words}", str(found.exception))
        with self.assertRaisesRegex(AssertionError, "not close dif = 1"):
            self.assertAllClose(True, False)
        with self.assertRaisesRegex(AssertionError, r"1 of the 2 element\(s\) are outside the range \[0, 1"):
            self.assertAllInRange([0.5, 1.0], 0, 1, open_upper_bound=True)
        with self.assertRaisesRegex(AssertionError, r"element\(s\) are NaN"):
            self.assertAllInRange([float("nan")], 0, 1)
        for values in (["a"], [1j], [True]):
            with self.assertRaisesRegex(AssertionError, "not have an ordered numeric type"):
                self.assertAllInRange(values, 0, 1)
        with self.assertRaisesRegex(AssertionError, r"1 unique element\(s\) are not in the set"):
            self.assertAllInSet([1, 2, 2], {1})
        many = np.arange(12)
        listed = self._format_subscripts(np.where(many >= 0), many)
        self.assertEqual((listed[1], listed[-1]), ("  [1] : 1", "  ..."))

    def test_tensors_and_messages(self):
        self.assertDTypeEqual(tf.constant(1), np.int32)
        self.assertShapeEqual(np.ones((2, 3)), tf.ones((2, 3)))
        self.assertDeviceEqual("/cpu:0", "/device:CPU:0")
        self.assertProtoEquals("versions { producer: 134 }", tf.Graph().as_graph_def())
        self.assertProtoEqualsVersion("", tf.Graph().as_graph_def())
        with self.assertRaises(AssertionError):
            self.assertProtoEquals("versions { producer: 1 }", tf.Graph().as_graph_def())
        summary = tf.Summary(value=[tf.Summary.Value(tag="t", simple_value=0.1 + 1e-8)])
        self.assertProtoEquals('value { tag: "t" simple_value: 0.1 }', summary)
        with self.assertRaises(AssertionError):
            self.assertProtoEquals('value { tag: "t" simple_value: 0.10001 }', summary)

    def test_errors(self):
        with self.session():
            fed = tf.placeholder(tf.float32, name="fed")
            with self.assertRaisesOpError("must feed"):
                fed.eval()
            with self.assertRaisesOpError(lambda error: error.op.name == "fed"):
                fed.eval()
            with self.assertRaisesRegex(AssertionError, "Exception of type"):
                with self.assertRaisesWithPredicateMatch(tf.errors.NotFoundError, "must feed"):
                    fed.eval()
            with self.assertRaisesRegex(AssertionError, "OpError not raised"):
                with self.assertRaisesOpError("anything"):
                    pass

    def test_sessions(self):
        with self.cached_session() as first:
            self.assertEqual(tf.constant(1).device, "/device:CPU:0")
        with self.test_session() as again:
            self.assertIs(again, first)
        with self.assertRaisesRegex(ValueError, "The graph used to get the cached session"):
            with self.cached_session(graph=tf.Graph()):
                pass
        with self.session(use_gpu=True) as other:
            self.assertIsNot(other, first)
            self.assertEqual(tf.constant(1).device, "")
        self.assertEqual(self.evaluate({"a": tf.constant(2)}), {"a": 2})
        self.assertEqual(tf.get_default_graph().seed, 87654321)

    def test_a_cleared_session_takes_the_next_graph(self):
        with self.test_session() as first:
            pass
        tf.reset_default_graph()
        self._ClearCachedSession()
        with self.test_session() as second:
            self.assertIsNot(second, first)
            self.assertEqual(tf.constant(1).eval(), 1)

    def test_surroundings(self):
        self.assertTrue(os.path.isdir(self.get_temp_dir()))
        self.assertStartsWith(self.get_temp_dir(), tf.test.get_temp_dir())
        failing = self.checkedThread(lambda: 1 / 0)
        failing.start()
        with self.assertRaisesRegex(AssertionError, "division by zero"):
            failing.join()
        with self.captureWritesToStream(sys.__stdout__) as captured:
            print("captured", file=sys.__stdout__)
        self.assertEqual(captured.contents(), "captured\n")


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-6), (np.float32, 1e-2), (np.complex64, 1e-2)])
def test_gradients_agree_with_small_steps(dtype, tolerance):
    with tf.Graph().as_default(), tf.Session():
        value = np.arange(1, 7).reshape(2, 3).astype(dtype)
        x = tf.constant(value)
        y = tf.square(x)[:, :2]
        graph, numeric = tf.test.compute_gradient(x, [2, 3], y, [2, 2], value)
        parts = 2 if dtype is np.complex64 else 1
        assert graph.shape == numeric.shape == (6 * parts, 4 * parts)
        assert graph[0, 0] == 2
        assert tf.test.compute_gradient_error(x, [2, 3], y, [2, 2], value) < tolerance


def test_gradients_of_several_inputs_sparse_and_empty_ones():
    with tf.Graph().as_default(), tf.Session():
        x, empty = tf.ones([5, 2]), tf.zeros([0, 2])
        y = tf.gather(x, [1, 1, 3])
        pairs = tf.test.compute_gradient([x, x], [[5, 2]] * 2, y, [3, 2])
        assert [graph.shape for graph, _ in pairs] == [(10, 6)] * 2
        assert tf.test.compute_gradient_error(x, [5, 2], y, [3, 2]) < 1e-2
        assert tf.test.compute_gradient_error(empty, [0, 2], empty * 2, [0, 2]) == 0


def test_a_wrong_gradient_is_found():
    @tf.custom_gradient
    def wrong(x):
        return tf.square(x), lambda dy: dy * x

    with tf.Graph().as_default(), tf.Session():
        x = tf.constant([1.0, 2.0])
        assert tf.test.compute_gradient_error(x, [2], wrong(x), [2], np.float32([1, 2])) > 0.5


@pytest.mark.parametrize("eagerly", [False, True])
def test_jacobians_of_functions_count_complex_numbers_twice(eagerly):
    with eager_mode() if eagerly else tf.Graph().as_default():
        graph, numeric = compute_gradient(tf.conj, [np.array([1 + 2j])])
        np.testing.assert_allclose(graph[0], [[1, 0], [0, -1]])
        np.testing.assert_allclose(numeric[0], graph[0], atol=1e-6)
        pair = compute_gradient(lambda x, y: tf.stack([x * y, y, x]), [np.float32(2), np.float32(3)])
        assert [x.shape for x in pair[0]] == [(1, 3), (1, 3)] and max_error(*pair) < 1e-2
        assert compute_gradient(lambda x: tf.gather(x, [1, 1]), [np.ones(2, np.float32)])[0][0].sum() == 2


def test_jacobians_of_functions_use_the_session_that_there_is():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(2.0)
        session.run(v.initializer)
        assert compute_gradient(lambda x: x * v, [np.float32(1)])[0][0].tolist() == [[2.0]]


def test_gradients_of_nothing_must_be_nothing():
    @tf.custom_gradient
    def wrong(x):
        return tf.zeros([0]), lambda dy: tf.ones_like(x)

    with tf.Graph().as_default(), tf.Session():
        with pytest.raises(ValueError, match="Empty tensor with nonzero gradients"):
            compute_gradient(wrong, [np.ones(2, np.float32)])
        with pytest.raises(ValueError, match="`x` must be a list of Tensors"):
            compute_gradient(wrong, np.ones(2, np.float32))
        x = tf.ones([2])
        with pytest.raises(ValueError, match="Empty tensor with nonzero gradients"):
            tf.test.compute_gradient(x, [2], wrong(x), [0])


def test_stubs_are_put_back():
    exists, isdir = os.path.exists, os.path.isdir
    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(os.path, "exists", lambda path: "stub")
        stubs.SmartSet(os.path, "isdir", lambda path: "stub")
        assert os.path.exists("") == os.path.isdir("") == "stub"
    assert os.path.exists is exists and os.path.isdir is isdir


def test_graph_defs_are_compared_by_name():
    def graph_def(*names, value=1):
        with tf.Graph().as_default() as graph:
            for name in names:
                tf.constant(value, name=name)
        return graph.as_graph_def()

    tf.test.assert_equal_graph_def(graph_def("a", "b"), graph_def("b", "a"))
    for other, message in (
        (graph_def("a", value=2), "Node 'a' is"),
        (graph_def("a", "c"), "Did not find"),
        (graph_def(), "unexpected node '{{node a}}'"),
    ):
        with pytest.raises(AssertionError, match=message):
            tf.test.assert_equal_graph_def(graph_def("a"), other)
    with pytest.raises(TypeError, match=r"Expected tf\.GraphDef for actual, got int"):
        tf.test.assert_equal_graph_def(1, graph_def("a"))


def test_setting_up_again_inside_of_a_graph_stays_in_graph_mode():
    """Tests of an eager program that are for graph mode only prepare themselves anew in a graph."""
    program = """
import tideflow as tf
tf.enable_eager_execution()

class Test(tf.test.TestCase):
    def test(self):
        with tf.Graph().as_default():
            self.setUp()
            with self.test_session() as session:
                assert not tf.executing_eagerly()
                assert session.run(tf.constant(1.0) + 1) == 2
        assert tf.executing_eagerly()

tf.test.main()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
