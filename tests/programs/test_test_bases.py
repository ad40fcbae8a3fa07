"""What unit tests of datasets stand on: their bases, and combinations of arguments."""

import unittest

import numpy as np
import pytest
from absl.testing import parameterized

import tideflow as tf
from tideflow.programs.inner.testing import (
    dataset_reader_tests,
    dataset_saving_tests,
    dataset_stats_tests,
    dataset_testing,
    mode_combinations,
    test_combinations,
)


def run(case):
    """How many tests of a case have run, and how many it has skipped; `test_session` is none."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert not result.errors and not result.failures, (result.errors, result.failures)
    skipped = [reason for _, reason in result.skipped if reason != "Not a test."]
    return result.testsRun - len(result.skipped), len(skipped)


def test_iterators_that_are_saved_on_the_way_give_what_others_give():
    class Saved(dataset_saving_tests.DatasetSerializationTestBase):
        def testShuffled(self):
            self.run_core_tests(lambda: tf.data.Dataset.range(6).shuffle(3, seed=1), 6)

        def testSparse(self):
            def sparse():
                return tf.data.Dataset.range(3).map(lambda x: tf.SparseTensor([[0]], [x], [2]))

            self.verify_multiple_breaks(sparse, 3, num_breaks=2)

        def testMatch(self):
            self.match([np.arange(2), {"a": 1}], [np.arange(2), {"a": 1}])
            self.does_not_match([1], [2])

    assert run(Saved) == (3, 0)


def test_readers_find_what_was_written():
    class Read(dataset_reader_tests.MakeBatchedFeaturesDatasetTestBase):
        def testBatches(self):
            with tf.Graph().as_default():
                self.outputs = self.getNext(self.make_batch_feature(self.test_filenames, 1, 2))
                self.verify_records(2, interleave_cycle_length=1)

    class Lines(dataset_reader_tests.TextLineDatasetTestBase):
        def testLines(self):
            paths = self._createFiles(2, 3, crlf=True, compression_type="GZIP")
            with tf.Graph().as_default():
                lines = tf.data.TextLineDataset(paths, "GZIP")
                self.assertDatasetProduces(lines, [self._lineText(f, n) for f in range(2) for n in range(3)])

    assert run(Read) == run(Lines) == (1, 0)


def test_statistics_are_found_by_their_tags():
    class Stats(dataset_stats_tests.StatsDatasetTestBase):
        def testLatency(self):
            with tf.Graph().as_default():
                aggregator = tf.data.experimental.StatsAggregator()
                dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.latency_stats("took"))
                following = self.getNext(self.datasetExperimentalStats(dataset, aggregator), True)
                self.evaluate(following())
                self.assertStatisticsHasCount(self.getHandle(aggregator), "took", 1.0)

    assert run(Stats) == (1, 0)


def test_a_test_is_run_in_each_mode_and_version():
    seen = []

    class Modes(dataset_testing.DatasetTestBase, parameterized.TestCase):
        @mode_combinations.generate(
            test_combinations.times(
                dataset_testing.default_test_combinations(), test_combinations.combine(size=[1, 2])
            )
        )
        def testMode(self, size):
            seen.append((size, tf.executing_eagerly()))

    assert run(Modes) == (4, 4)  # those of TensorFlow 2 are skipped
    assert sorted(seen) == [(1, False), (1, True), (2, False), (2, True)]
    with pytest.raises(ValueError, match="Keys need to not overlap"):
        test_combinations.times(test_combinations.combine(a=1), test_combinations.combine(a=2))
