"""What tests of the statistics of datasets are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.programs.inner.testing.dataset_testing import DatasetTestBase


class StatsDatasetTestBase(DatasetTestBase):
    """A test case that looks into the summaries which an aggregator of statistics gives."""

    def datasetExperimentalStats(
        self, dataset: Any, aggregator: Any, prefix: str = "", counter_prefix: str = ""
    ) -> Any:
        """The dataset, whose statistics the aggregator gets."""
        options = tf.data.Options()
        options.experimental_stats.aggregator = aggregator
        options.experimental_stats.prefix = prefix
        options.experimental_stats.counter_prefix = counter_prefix
        options.experimental_stats.latency_all_edges = False
        return dataset.with_options(options)

    def regexForNodeName(self, op_name: str, stats_type: str = "") -> str:
        """The tags of a statistic of one kind of dataset."""
        return f"{op_name}/_\\d+" + (f"::{stats_type}" if stats_type else "")

    def _value(self, handle: bytes, tag: str) -> Any:
        summary = tf.Summary.FromString(handle)
        for value in summary.value:
            if re.match(tag, value.tag):
                return value
        self.fail(f"Expected tag {tag!r} not found in summary {summary!r}")
        return None

    def assertStatisticsContains(
        self, handle: bytes, tag: str, num_events: int = -1, offset: int = 0
    ) -> None:
        """Checks that there is a value of this tag."""
        self._value(handle, tag)

    def assertStatisticsHasCount(
        self,
        handle: bytes,
        tag: str,
        count: float,
        num_events: int = -1,
        greater_than: bool = False,
        offset: int = 0,
    ) -> None:
        """Checks how often a histogram was added to."""
        found = self._value(handle, tag).histo.num
        if greater_than:
            self.assertGreaterEqual(found, count)
        else:
            self.assertEqual(count, found)

    def assertStatisticsHasSum(
        self, handle: bytes, tag: str, expected_value: float, num_events: int = -1, offset: int = 0
    ) -> None:
        """Checks the sum of a histogram."""
        self.assertEqual(expected_value, self._value(handle, tag).histo.sum)

    def assertStatisticsHasScalarValue(
        self, handle: bytes, tag: str, expected_value: float, num_events: int = -1, offset: int = 0
    ) -> None:
        """Checks a number."""
        self.assertEqual(expected_value, self._value(handle, tag).simple_value)

    def assertStatisticsHasRange(
        self,
        handle: bytes,
        tag: str,
        min_value: float,
        max_value: float,
        num_events: int = -1,
        offset: int = 0,
    ) -> None:
        """Checks that a histogram lies between two numbers."""
        histogram = self._value(handle, tag).histo
        self.assertLessEqual(min_value, histogram.min)
        self.assertGreaterEqual(max_value, histogram.max)

    def getHandle(self, aggregator: Any) -> Any:
        """What the aggregator has so far."""
        return self.evaluate(aggregator.get_summary())

    def parallelCallsStats(
        self,
        dataset_fn: Callable[[], Any],
        dataset_names: Sequence[str],
        num_output: int,
        function_processing_time: bool = False,
        check_elements: bool = True,
    ) -> None:
        """Checks what is known of the calls of a parallel dataset's function, after each element."""
        aggregator = tf.data.experimental.StatsAggregator()
        dataset = self.datasetExperimentalStats(dataset_fn(), aggregator)
        following = self.getNext(dataset, requires_initialization=True)
        for index in range(num_output):
            element = self.evaluate(following())
            if check_elements:
                self.assertAllEqual(np.full(index, index, np.int64), element)
            handle = self.getHandle(aggregator)
            for name in dataset_names:
                if function_processing_time:
                    self._check_times(handle, index + 1)
                self.assertStatisticsContains(handle, self.regexForNodeName(name, "thread_utilization"))
        with self.assertRaises(tf.errors.OutOfRangeError):
            self.evaluate(following())
        if function_processing_time:
            for _ in dataset_names:
                self._check_times(self.getHandle(aggregator), num_output)

    def _check_times(self, handle: bytes, count: int) -> None:
        self.assertStatisticsHasCount(handle, r"(.*)::execution_time$", float(count), greater_than=True)
