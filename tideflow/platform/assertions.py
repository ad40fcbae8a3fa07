"""What `tf.test.TestCase` asserts beyond absl's and unittest's own assertions."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from absl.testing import absltest
from google.protobuf import text_format

from tideflow.graph import dtypes, errors, nest
from tideflow.graph.convert import is_tensor
from tideflow.graph.device import canonical_name
from tideflow.graph.graph import GRAPH_DEF_VERSION
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.ops.control_flow.python_functions import py_func
from tideflow.platform.message_comparison import assertProtoEqual

if TYPE_CHECKING:
    from tideflow.graph.device import DeviceSpec
    from tideflow.graph.typing import DTypeLike


def py_func_if_in_function(f: Callable) -> Callable:
    """An assertion about values that runs in the step where it is made while a function is traced."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if not get_default_graph().building_function:
            return f(*args, **kwargs)
        tensors = [place for place, value in enumerate(args) if isinstance(value, Tensor)]

        def with_values(*values: Any) -> None:
            given = dict(zip(tensors, values, strict=True))
            f(*(given.get(place, value) for place, value in enumerate(args)), **kwargs)

        return py_func(with_values, [args[place] for place in tensors], [])

    return decorated


class Assertions(absltest.TestCase):
    """Assertions about arrays, structures of arrays, tensors, messages and errors."""

    evaluate: Callable[[Any], Any]  # the values of a structure of tensors: the test case has the session

    def _array(self, value: Any) -> np.ndarray:
        """The value as an array, of lists where it is a list of lists of different lengths."""
        if any(map(is_tensor, nest.flatten(value))):
            value = self.evaluate(value)
        if isinstance(value, np.ndarray):
            return value
        try:
            return np.array(value)
        except ValueError:
            return np.array(value, dtype=object)

    _GetNdArray = _array  # TensorFlow's name, which tests call

    def _list(self, value: Any) -> Any:
        """A ragged tensor, a tensor, an array or a list as nested lists."""
        if is_tensor(value) or hasattr(value, "row_lengths"):
            value = self.evaluate(value)
        if _is_ragged(value):
            return value.to_list()
        if isinstance(value, (list, tuple)):
            return [self._list(part) for part in value]
        return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value

    def _assert_same_ragged_rank(self, a: Any, b: Any, msg: str | None) -> None:
        if not isinstance(a, (list, tuple)) and not isinstance(b, (list, tuple)):
            self.assertEqual(getattr(a, "ragged_rank", 0), getattr(b, "ragged_rank", 0), msg)

    # Names of unittest's that Python 3.12 no longer has, and tests of TensorFlow's time use.
    assertEquals = absltest.TestCase.assertEqual
    assertNotEquals = absltest.TestCase.assertNotEqual
    assertNotAlmostEquals = absltest.TestCase.assertNotAlmostEqual
    assertRaisesRegexp = absltest.TestCase.assertRaisesRegex
    assertRegexpMatches = absltest.TestCase.assertRegex
    assertNotRegexpMatches = absltest.TestCase.assertNotRegex
    assert_ = absltest.TestCase.assertTrue

    # -------------------------------------------------------------------------------------------- closeness

    def assertAlmostEqual(self, first: Any, second: Any, *args: Any, **options: Any) -> None:
        """Asserts that two numbers are the same when they are rounded.

        Args:
          first: A number. One of NumPy's is compared as Python's: NumPy 2 would round the other to its type.
          second: Another one.
          args: As of `unittest.TestCase.assertAlmostEqual`.
          options: As of `unittest.TestCase.assertAlmostEqual`.
        """
        first, second = (x.item() if isinstance(x, np.number) else x for x in (first, second))
        super().assertAlmostEqual(first, second, *args, **options)

    assertAlmostEquals = assertAlmostEqual

    @py_func_if_in_function
    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Asserts that arrays, tensors, or structures of them, are near: `|a - b| <= atol + rtol * |b|`.

        Args:
          a: An array, a tensor, or a structure of them.
          b: Another one of the same structure.
          rtol: The relative tolerance.
          atol: The absolute tolerance.
          msg: What a failure says besides.
        """
        if _is_ragged(a) or _is_ragged(b):
            self._assert_lists_close(self._list(a), self._list(b), rtol, atol, "value", msg or "")
            self._assert_same_ragged_rank(a, b, msg)
        else:
            self._assert_close(a, b, rtol, atol, "", msg or "")

    def _assert_lists_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        self.assertEqual(type(a), type(b))
        if not isinstance(a, list):
            self._assert_close(a, b, rtol, atol, path, msg)
            return
        self.assertLen(a, len(b), f"Length differs for {path}")
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            self._assert_lists_close(x, y, rtol, atol, f"{path}[{i}]", msg)

    def _assert_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        a, b = (x._asdict() if hasattr(x, "_asdict") else x for x in (a, b))
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg}")
        if isinstance(a, Mapping):
            self.assertCountEqual(a, b, f"mismatched keys of a{path} and b{path}. {msg}")
            for key in a:
                self._assert_close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
            return
        try:
            left, right = self._array(a), self._array(b)
            if left.dtype == object or right.dtype == object:
                raise TypeError(f"a{path} has {type(a)}, but b{path} has {type(b)}. {msg}")
        except (ValueError, TypeError):
            if not isinstance(a, (list, tuple)) or not isinstance(b, (list, tuple)):
                raise
            if len(a) != len(b):
                raise ValueError(
                    f"Mismatched length: a{path} has {len(a)} items, but b{path} has {len(b)} items. {msg}"
                ) from None
            for i, (x, y) in enumerate(zip(a, b)):
                self._assert_close(x, y, rtol, atol, f"{path}[{i}]", msg)
            return
        self._assert_same_shape(left, right, msg)
        np.testing.assert_allclose(
            left,
            right,
            rtol,
            atol,
            equal_nan=True,
            err_msg=f"Mismatched value: a{path} is different from b{path}. {msg}"
            + _what_is_not_close(left, right, rtol, atol),
        )

    def _assert_same_shape(self, a: np.ndarray, b: np.ndarray, msg: str | None) -> None:
        contents = f" with contents {b}" if b.size < 500 else ""
        self.assertEqual(
            a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}{contents}. {msg or ''}"
        )

    @py_func_if_in_function
    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """`assertAllClose` with the tolerance of the less precise of the two types.

        Args:
          a: An array or a tensor.
          b: Another one.
          rtol: The relative tolerance.
          atol: The absolute tolerance.
          float_rtol: The relative tolerance of float32.
          float_atol: The absolute tolerance of float32.
          half_rtol: The relative tolerance of half.
          half_atol: The absolute tolerance of half.
          bfloat16_rtol: The relative tolerance of bfloat16.
          bfloat16_atol: The absolute tolerance of bfloat16.
          msg: What a failure says besides.
        """
        a, b = self._array(a), self._array(b)
        for kinds, type_rtol, type_atol in (
            ((np.float32, np.complex64), float_rtol, float_atol),
            ((np.float16,), half_rtol, half_atol),
            ((ml_dtypes.bfloat16,), bfloat16_rtol, bfloat16_atol),
        ):
            if a.dtype in kinds or b.dtype in kinds:
                rtol, atol = max(rtol, type_rtol), max(atol, type_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    @py_func_if_in_function
    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """Asserts that `assertAllClose` fails.

        Args:
          a: An array or a tensor.
          b: Another one.
          kwargs: Arguments of `assertAllClose`.
        """
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    @py_func_if_in_function
    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Asserts that `|f1 - f2| <= err`.

        Args:
          f1: A number.
          f2: Another one.
          err: The largest distance.
          msg: What a failure says besides.
        """
        a, b, distance = (np.asarray(each).item() for each in (f1, f2, err))  # they may be arrays of one
        self.assertTrue(
            a == b or abs(a - b) <= distance, f"{a:f} != {b:f} +/- {distance:f}{f' ({msg})' if msg else ''}"
        )

    @py_func_if_in_function
    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """Asserts that each pair of two sequences of numbers is near.

        Args:
          farray1: A sequence of numbers.
          farray2: Another one of the same length.
          err: The largest distance.
          msg: What a failure says besides.
        """
        self.assertEqual(len(farray1), len(farray2), msg)
        for x, y in zip(farray1, farray2):
            self.assertNear(float(x), float(y), err, msg)

    @py_func_if_in_function
    def assertNDArrayNear(
        self, ndarray1: np.ndarray, ndarray2: np.ndarray, err: float, msg: str | None = None
    ) -> None:
        """Asserts that the arrays' difference has a norm below a bound.

        Args:
          ndarray1: An array.
          ndarray2: Another one of the same shape.
          err: The bound of the norm.
          msg: What a failure says besides.
        """
        self.assertTrue(self._NDArrayNear(ndarray1, ndarray2, err), msg)

    def _NDArrayNear(self, ndarray1: np.ndarray, ndarray2: np.ndarray, err: float) -> bool:
        return bool(np.linalg.norm(np.subtract(ndarray1, ndarray2)) < err)

    # -------------------------------------------------------------------------------------------- elements

    @py_func_if_in_function
    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Asserts that both have the same shape and the same elements, NaN being equal to NaN.

        Args:
          a: An array, a tensor or a ragged tensor.
          b: Another one; beside a ragged tensor, also nested lists.
          msg: What a failure says besides.
        """
        if _is_ragged(a) or _is_ragged(b):
            self.assertEqual(self._list(a), self._list(b), msg)
            self._assert_same_ragged_rank(a, b, msg)
            return
        a, b = self._array(a), self._array(b)
        self._assert_same_shape(a, b, msg)
        same = a == b
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same |= np.isnan(a) & np.isnan(b)
        if not np.all(same):
            where = np.nonzero(np.atleast_1d(~np.asarray(same, bool)))
            lhs, rhs = np.atleast_1d(a)[where], np.atleast_1d(b)[where]
            self.fail(f"not equal where = {where}\nnot equal lhs = {lhs}\nnot equal rhs = {rhs}\n{msg or ''}")

    @py_func_if_in_function
    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Asserts that `assertAllEqual` fails.

        Args:
          a: An array or a tensor.
          b: Another one.
          msg: What a failure says besides.
        """
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def _assert_all(self, holds: Callable, a: Any, wanted: str) -> None:
        array = self._array(a)
        bad = ~np.asarray(holds(array), bool)
        if bad.any():
            self.fail(f"not all elements are {wanted}: {np.atleast_1d(array)[np.atleast_1d(bad)][:10]}")

    @py_func_if_in_function
    def assertAllGreater(self, a: Any, comparison_target: float) -> None:
        """Asserts that every element is greater than a number.

        Args:
          a: An array or a tensor.
          comparison_target: The number.
        """
        self._assert_all(lambda x: x > comparison_target, a, f"> {comparison_target}")

    @py_func_if_in_function
    def assertAllGreaterEqual(self, a: Any, comparison_target: float) -> None:
        """Asserts that every element is a number or greater.

        Args:
          a: An array or a tensor.
          comparison_target: The number.
        """
        self._assert_all(lambda x: x >= comparison_target, a, f">= {comparison_target}")

    @py_func_if_in_function
    def assertAllLess(self, a: Any, comparison_target: float) -> None:
        """Asserts that every element is less than a number.

        Args:
          a: An array or a tensor.
          comparison_target: The number.
        """
        self._assert_all(lambda x: x < comparison_target, a, f"< {comparison_target}")

    @py_func_if_in_function
    def assertAllLessEqual(self, a: Any, comparison_target: float) -> None:
        """Asserts that every element is a number or less.

        Args:
          a: An array or a tensor.
          comparison_target: The number.
        """
        self._assert_all(lambda x: x <= comparison_target, a, f"<= {comparison_target}")

    @py_func_if_in_function
    def assertAllInRange(
        self,
        target: Any,
        lower_bound: float,
        upper_bound: float,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Asserts that every element lies between the bounds.

        Args:
          target: An array or a tensor.
          lower_bound: The lower bound.
          upper_bound: The upper bound.
          open_lower_bound: Whether the lower bound itself is out.
          open_upper_bound: Whether the upper bound itself is out.
        """
        array = self._array(target)
        if not np.issubdtype(array.dtype, np.floating) and not np.issubdtype(array.dtype, np.integer):
            self.fail(
                f"The value of {array} does not have an ordered numeric type, instead it has type: "
                f"{array.dtype}"
            )
        missing = np.where(np.isnan(array))
        self._refuse(missing, array, "are NaN. Subscripts(s) and value(s) of the NaN element(s):")
        above = np.greater if open_lower_bound else np.greater_equal
        below = np.less if open_upper_bound else np.less_equal
        left, right = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
        self._refuse(
            np.where(~(above(array, lower_bound) & below(array, upper_bound))),
            array,
            f"are outside the range {left}{lower_bound}, {upper_bound}{right}. Subscript(s) and value(s) of "
            "the offending elements:",
        )

    def _refuse(self, subscripts: Sequence[np.ndarray], array: np.ndarray, what: str) -> None:
        """Fails if there are elements at these places of an array, and lists them."""
        if np.size(subscripts):
            listed = "\n".join(self._format_subscripts(subscripts, array))
            self.fail(f"{len(subscripts[0])} of the {array.size} element(s) {what}\n{listed}")

    def _format_subscripts(
        self, subscripts: Sequence[np.ndarray], value: np.ndarray, limit: int = 10, indent: int = 2
    ) -> list[str]:
        """A line for each of these places of an array, which are as np.where has them, with the element."""
        places = np.transpose(subscripts)
        space = " " * indent
        lines = [f"{space}{place} : {value[tuple(place)]}" for place in places[:limit]]
        return [*lines, f"{space}..."] if len(places) > limit else lines

    @py_func_if_in_function
    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Asserts that every element is one of a set.

        Args:
          target: An array or a tensor.
          expected_set: The elements that are allowed.
        """
        others = np.setdiff1d(self._array(target).flatten(), list(expected_set))
        if others.size:
            self.fail(f"{others.size} unique element(s) are not in the set {expected_set}: {others}")

    def assertItemsEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """Asserts that both have the same items, in any order.

        Args:
          first: The items.
          second: The other items.
          msg: What a failure says besides.
        """
        self.assertCountEqual(first, second, msg)

    # -------------------------------------------------------------------------------------------- tensors

    def assertDTypeEqual(self, target: Any, expected_dtype: DTypeLike) -> None:
        """Asserts that the target has a type.

        Args:
          target: An array or a tensor.
          expected_dtype: The type.
        """
        found = target.dtype if hasattr(target, "dtype") else self._array(target).dtype
        self.assertEqual(dtypes.as_dtype(found).base_dtype, dtypes.as_dtype(expected_dtype))

    def assertShapeEqual(self, np_array: np.ndarray, tf_tensor: Tensor, msg: str | None = None) -> None:
        """Asserts that a tensor's shape in the graph is an array's.

        Args:
          np_array: The array.
          tf_tensor: The tensor.
          msg: What a failure says besides.
        """
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)

    def assertDeviceEqual(
        self, device1: DeviceSpec | str, device2: DeviceSpec | str, msg: str | None = None
    ) -> None:
        """Asserts that two names are of one device.

        Args:
          device1: A device or its name.
          device2: Another one.
          msg: What a failure says besides.
        """
        first, second = canonical_name(device1), canonical_name(device2)
        self.assertEqual(first, second, f"Devices {first} and {second} are not equal. {msg or ''}")

    # -------------------------------------------------------------------------------------------- messages

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None
    ) -> None:
        """Asserts that a message is the expected one. Numbers are compared by six or seven places.

        Args:
          expected_message_maybe_ascii: The expected message, or its text.
          message: The message.
          msg: What a failure says besides.
        """
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = text_format.Parse(expected, type(message)())
        self.assertIs(type(expected), type(message), msg)
        if expected != message:
            assertProtoEqual(self, expected, message, normalize_numbers=True, msg=msg)

    def assertProtoEqualsVersion(
        self,
        expected: str,
        actual: Any,
        producer: int = GRAPH_DEF_VERSION,
        min_consumer: int = 0,
        msg: str | None = None,
    ) -> None:
        """Asserts that a GraphDef is the expected one.

        Args:
          expected: The text of the expected GraphDef without its versions.
          actual: The GraphDef.
          producer: The version of the producer.
          min_consumer: The least version of a consumer.
          msg: What a failure says besides.
        """
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }}\n"
        self.assertProtoEquals(versions + expected, actual, msg)

    # -------------------------------------------------------------------------------------------- errors

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: type[BaseException], expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """Asserts that a block raises an exception whose message, or op names, a pattern accepts.

        Args:
          exception_type: The class of the exception.
          expected_err_re_or_predicate: A regular expression that the message matches, or a function of the
            exception.

        Returns:
          A context manager.
        """
        wanted = expected_err_re_or_predicate
        matches = wanted if callable(wanted) else lambda error: re.search(wanted, _searched(error))
        try:
            yield
        except Exception as error:
            if not isinstance(error, exception_type) or not matches(error):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Asserts that a block raises a `tf.errors.OpError` whose message matches.

        Args:
          expected_err_re_or_predicate: A regular expression that the message matches, or a function of the
            exception.

        Returns:
          A context manager.
        """
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)


def _is_ragged(value: Any) -> bool:
    return hasattr(value, "ragged_rank")


def _searched(error: Exception) -> str:
    """An error's message, and the names of the ops it comes from."""
    if not isinstance(error, errors.OpError):
        return str(error)
    lines, op = [error.message], error.op
    while op is not None:
        lines.append(f"Caused by: {op.name}")
        op = getattr(op, "_original_op", None)
    return "\n".join(lines)


def _what_is_not_close(a: np.ndarray, b: np.ndarray, rtol: float, atol: float) -> str:
    """The lines that tell where two arrays are not close, and by how much; none where they are."""
    if np.allclose(a, b, rtol, atol, equal_nan=True):
        return ""
    number = np.result_type(a.dtype, b.dtype, np.int64) if a.dtype == bool or b.dtype == bool else None
    x, y = np.asarray(a, number), np.asarray(b, number)
    lines = [f"dtype = {a.dtype}, shape = {a.shape}"]
    if a.ndim:
        where = np.nonzero(~np.isclose(x, y, rtol, atol, equal_nan=True))
        lines.insert(0, f"not close where = {where}")
        x, y = x[where], y[where]
    lines[-1:-1] = [
        f"not close lhs = {x}",
        f"not close rhs = {y}",
        f"not close dif = {np.abs(x - y)}",
        f"not close tol = {atol + rtol * np.abs(y)}",
    ]
    return "\n" + "\n".join(lines)
