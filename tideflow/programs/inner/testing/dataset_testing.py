"""`tensorflow.python.data.kernel_tests.test_base`: what tests of datasets are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.data import structure
from tideflow.data.conversions import make_initializable_iterator, make_one_shot_iterator
from tideflow.data.dataset import Dataset
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import SparseTensor, SparseTensorValue
from tideflow.graph.scopes import executing_eagerly, get_default_graph
from tideflow.ops.arrays.creation import zeros
from tideflow.ops.control_flow.tensor_array import TensorArray
from tideflow.platform.testing import TestCase
from tideflow.programs.inner.testing.test_combinations import combine
from tideflow.ragged.tensor import RaggedTensor, RaggedTensorValue

_SPARSE = (SparseTensor, SparseTensorValue)
_RAGGED = (RaggedTensor, RaggedTensorValue)


def default_test_combinations() -> list[Any]:
    """In which modes tests of datasets are run."""
    return combine(tf_api_version=[1, 2], mode=["eager", "graph"])


class DatasetTestBase(TestCase):
    """A test case that compares what datasets give."""

    def assert_op_cancelled(self, op: Any) -> None:
        """Checks that a step is cancelled."""
        with self.assertRaises(errors.CancelledError):
            self.evaluate(op)

    def assertValuesEqual(self, expected: Any, actual: Any) -> None:
        """Checks that two values are equal, part by part where they are sparse."""
        if not isinstance(expected, _SPARSE):
            self.assertAllEqual(expected, actual)
            return
        for part in ("indices", "values", "dense_shape"):
            self.assertAllEqual(getattr(expected, part), getattr(actual, part))

    def getNext(
        self, dataset: Dataset, requires_initialization: bool = False, shared_name: str | None = None
    ) -> Callable[[], Any]:
        """A function that gives the next element: at once, or as tensors to be run, in a graph.

        Args:
          dataset: The dataset.
          requires_initialization: Whether a graph's iterator is one that is initialized.
          shared_name: The name under which sessions share the iterator.

        Returns:
          The function. TensorArrays come as one tensor each.
        """
        if executing_eagerly() or get_default_graph().building_function:
            following: Callable[[], Any] = iter(dataset)._next_internal
        else:
            if requires_initialization:
                iterator = make_initializable_iterator(dataset, shared_name)
                self.evaluate(iterator.initializer)
            else:
                iterator = make_one_shot_iterator(dataset)
            element = iterator.get_next()
            following = lambda: element
        return lambda: _stacked(following())

    def _compareOutputToExpected(
        self, result_values: Sequence[Any], expected_values: Sequence[Any], assert_items_equal: bool
    ) -> None:
        if assert_items_equal:
            self.assertItemsEqual(result_values, expected_values)
            return
        for result, expected in zip(result_values, expected_values, strict=True):
            structure.assert_same(result, expected)
            for one, other in zip(structure.flatten(result), structure.flatten(expected), strict=True):
                self.assertValuesEqual(other, one)

    def assertDatasetProduces(
        self,
        dataset: Dataset,
        expected_output: Sequence[Any] | None = None,
        expected_shapes: Any = None,
        expected_error: tuple[Any, Any] | None = None,
        requires_initialization: bool = False,
        num_test_iterations: int = 1,
        assert_items_equal: bool = False,
        expected_error_iter: int = 1,
    ) -> None:
        """Checks the elements of a dataset, or that it fails.

        Args:
          dataset: The dataset.
          expected_output: Its elements.
          expected_shapes: The shapes of an element.
          expected_error: The class of the error, and what its message matches or a predicate of it.
          requires_initialization: As for `getNext`.
          num_test_iterations: How many times the dataset is read.
          assert_items_equal: Whether the elements may come in any order.
          expected_error_iter: With which element the error comes at the latest.
        """
        one = "Exactly one of expected_output or expected error should be provided."
        self.assertTrue((expected_error is None) != (expected_output is None), one)
        if expected_error:
            with self.assertRaisesWithPredicateMatch(*expected_error):
                get_next = self.getNext(dataset, requires_initialization)
                for _ in range(expected_error_iter):
                    self.evaluate(get_next())
            return
        assert expected_output is not None
        if expected_shapes:
            self.assertEqual(expected_shapes, dataset.output_shapes)
        self.assertGreater(num_test_iterations, 0)
        for _ in range(num_test_iterations):
            get_next = self.getNext(dataset, requires_initialization)
            result = [self.evaluate(get_next()) for _ in expected_output]
            self._compareOutputToExpected(result, expected_output, assert_items_equal)
            for _ in range(2):
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(get_next())

    def assertDatasetsEqual(self, dataset1: Dataset, dataset2: Dataset) -> None:
        """Checks that two datasets have the same elements."""
        structure.assert_same(dataset1.element_spec, dataset2.element_spec)
        types = structure.flatten(dataset1.output_types)
        next1, next2 = self.getNext(dataset1), self.getNext(dataset2)
        while True:
            try:
                one = structure.flatten(self.evaluate(next1()))
            except errors.OutOfRangeError:
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(next2())
                return
            other = structure.flatten(self.evaluate(next2()))
            for first, second, dtype in zip(one, other, types, strict=True):
                if isinstance(first, (*_SPARSE, *_RAGGED)) or dtype == dtypes.string:
                    self.assertValuesEqual(first, second)
                else:
                    self.assertAllClose(first, second)

    def assertDatasetsRaiseSameError(
        self,
        dataset1: Dataset,
        dataset2: Dataset,
        exception_class: type[Exception],
        replacements: Sequence[tuple[str, str, int]] | None = None,
    ) -> None:
        """Checks that the first elements of two datasets fail in the same way.

        Args:
          dataset1: One dataset.
          dataset2: The other.
          exception_class: The class of the error.
          replacements: What differs in the message: the old words, the new ones, and how often.
        """
        next1, next2 = self.getNext(dataset1), self.getNext(dataset2)
        with self.assertRaises(exception_class) as caught:
            self.evaluate(next1())
        message = caught.exception.message
        for old, new, count in replacements or ():
            message = message.replace(old, new, count)
        with self.assertRaisesRegex(exception_class, re.escape(message)):
            self.evaluate(next2())

    def structuredDataset(self, dataset_structure: Any, shape: Any = None, dtype: Any = dtypes.int64) -> Any:
        """A dataset of one element, zeros in a structure of tuples in which None is a tensor."""
        if dataset_structure is None:
            return Dataset.from_tensors(zeros(shape or [], dtype=dtype))
        return Dataset.zip(tuple(self.structuredDataset(part, shape, dtype) for part in dataset_structure))

    def structuredElement(self, element_structure: Any, shape: Any = None, dtype: Any = dtypes.int64) -> Any:
        """Zeros in a structure of tuples in which None is a tensor."""
        if element_structure is None:
            return zeros(shape or [], dtype=dtype)
        return tuple(self.structuredElement(part, shape, dtype) for part in element_structure)


def _stacked(element: Any) -> Any:
    return element.stack() if isinstance(element, TensorArray) else element
