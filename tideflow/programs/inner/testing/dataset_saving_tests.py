"""What tests of saved iterators are made of: datasets read in parts, each from where the last one ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tideflow as tf


def remove_variants(get_next_op: Any) -> Any:
    """An element without those parts that no session can fetch."""

    def fetchable(part: Any) -> Any:
        return () if isinstance(part, tf.Tensor) and part.dtype == tf.variant else part

    return tf.nest.map_structure(fetchable, get_next_op)


class DatasetSerializationTestBase(tf.test.TestCase):
    """A test case that saves iterators, restores them in other graphs and compares what they give."""

    def run_core_tests(
        self, ds_fn: Callable[[], Any], num_outputs: int, sparse_tensors: bool = False
    ) -> None:
        """Checks an iterator that is saved before, between, at and after its elements."""
        options = tf.data.Options()
        options.experimental_optimization.apply_default_optimizations = False

        def plain() -> Any:
            return ds_fn().with_options(options)

        self.verify_unused_iterator(plain, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_fully_used_iterator(plain, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_exhausted_iterator(plain, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_multiple_breaks(plain, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_reset_restored_iterator(plain, num_outputs, sparse_tensors=sparse_tensors)

    def verify_unused_iterator(
        self, ds_fn: Callable, num_outputs: int, sparse_tensors: bool = False, verify_exhausted: bool = True
    ) -> None:
        """Saves before the first element."""
        self.verify_run_with_breaks(ds_fn, [0], num_outputs, sparse_tensors, verify_exhausted)

    def verify_fully_used_iterator(
        self, ds_fn: Callable, num_outputs: int, sparse_tensors: bool = False
    ) -> None:
        """Saves after the last element, before the end is met."""
        self.verify_run_with_breaks(ds_fn, [num_outputs], num_outputs, sparse_tensors)

    def verify_exhausted_iterator(
        self, ds_fn: Callable, num_outputs: int, sparse_tensors: bool = False
    ) -> None:
        """Saves after the end was met: nothing follows."""
        self.gen_outputs(ds_fn, [], num_outputs, sparse_tensors=sparse_tensors)
        following = self.gen_outputs(ds_fn, [], 0, ckpt_saved=True, sparse_tensors=sparse_tensors)
        self.assertEqual(len(following), 0)

    def verify_multiple_breaks(
        self,
        ds_fn: Callable,
        num_outputs: int,
        num_breaks: int = 10,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
    ) -> None:
        """Saves many times on the way."""
        breaks = self.gen_break_points(num_outputs, num_breaks)
        self.verify_run_with_breaks(ds_fn, breaks, num_outputs, sparse_tensors, verify_exhausted)

    def verify_reset_restored_iterator(
        self,
        ds_fn: Callable,
        num_outputs: int,
        break_point: int | None = None,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
    ) -> None:
        """Initializes an iterator that was restored: it starts anew."""
        expected = self.gen_outputs(
            ds_fn, [], num_outputs, sparse_tensors=sparse_tensors, verify_exhausted=verify_exhausted
        )
        point = break_point or num_outputs // 2
        self.gen_outputs(ds_fn, [], point, sparse_tensors=sparse_tensors, verify_exhausted=False)
        with tf.Graph().as_default() as graph:
            init_op, get_next, saver = self._imported(ds_fn, sparse_tensors)
            with self.session(graph=graph) as sess:
                self._initialize(init_op, sess)
                self._restore(saver, sess)
                self._initialize(init_op, sess)
                actual = [sess.run(get_next) for _ in range(num_outputs)]
                if verify_exhausted:
                    self._verify_end(sess, get_next)
        self.match(expected, actual)

    def verify_error_on_save(
        self,
        ds_fn: Callable,
        num_outputs: int,
        error: type,
        break_point: int | None = None,
        sparse_tensors: bool = False,
    ) -> None:
        """Checks that an iterator refuses to be saved."""
        with tf.Graph().as_default() as graph:
            init_op, get_next, saver = self._built(ds_fn, sparse_tensors)
            with self.session(graph=graph) as sess:
                self._initialize(init_op, sess)
                for _ in range(break_point or num_outputs // 2):
                    sess.run(get_next)
                with self.assertRaises(error):
                    self._save(sess, saver)

    def verify_run_with_breaks(
        self,
        ds_fn: Callable,
        break_points: Sequence[int],
        num_outputs: int,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
    ) -> None:
        """Checks that an iterator that is saved and restored gives what one gives that is not."""
        arguments = {"sparse_tensors": sparse_tensors, "verify_exhausted": verify_exhausted}
        expected = self.gen_outputs(ds_fn, [], num_outputs, **arguments)
        self.match(expected, self.gen_outputs(ds_fn, break_points, num_outputs, **arguments))

    def gen_outputs(
        self,
        ds_fn: Callable,
        break_points: Sequence[int],
        num_outputs: int,
        ckpt_saved: bool = False,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
        save_checkpoint_at_end: bool = True,
    ) -> list[Any]:
        """The elements of a dataset, whose iterator is saved and restored at the break points.

        Args:
          ds_fn: Makes the dataset.
          break_points: After how many elements.
          num_outputs: How many elements in all.
          ckpt_saved: Whether there is a checkpoint to begin with.
          sparse_tensors: Whether elements are the parts of sparse tensors.
          verify_exhausted: Whether the end must follow.
          save_checkpoint_at_end: Whether the iterator is saved after the last part.

        Returns:
          The elements.
        """
        outputs: list[Any] = []
        starts, ends = [0, *break_points], [*break_points, num_outputs]
        for part, (start, end) in enumerate(zip(starts, ends, strict=True)):
            last = part == len(break_points)
            with tf.Graph().as_default() as graph:
                make = self._imported if ckpt_saved else self._built
                init_op, get_next, saver = make(ds_fn, sparse_tensors)
                with self.session(graph=graph) as sess:
                    self._initialize(init_op, sess)
                    if ckpt_saved:
                        self._restore(saver, sess)
                    outputs += [sess.run(get_next) for _ in range(end - start)]
                    if last and verify_exhausted:
                        self._verify_end(sess, get_next)
                    if save_checkpoint_at_end or not last:
                        self._save(sess, saver)
                        ckpt_saved = True
        return outputs

    def _verify_end(self, sess: Any, get_next: Any) -> None:
        with self.assertRaises(tf.errors.OutOfRangeError):
            sess.run(get_next)

    def match(self, expected: Any, actual: Any) -> None:
        """Checks that two structures of values are equal."""
        expected, actual = (_as_lists(value) for value in (expected, actual))
        self.assertEqual(type(expected), type(actual))
        if isinstance(expected, tf.SparseTensorValue):
            self.match(tuple(expected), tuple(actual))
        elif isinstance(expected, tf.ragged.RaggedTensorValue):
            self.match((expected.values, expected.row_splits), (actual.values, actual.row_splits))
        elif isinstance(expected, dict):
            self.assertEqual(sorted(expected), sorted(actual))
            for key in expected:
                self.match(expected[key], actual[key])
        elif isinstance(expected, (list, tuple)):
            self.assertEqual(len(expected), len(actual))
            for item, other in zip(expected, actual, strict=True):
                self.match(item, other)
        else:
            self.assertEqual(expected, actual)

    def does_not_match(self, expected: Any, actual: Any) -> None:
        """Checks that two structures of values differ."""
        with self.assertRaises(AssertionError):
            self.match(expected, actual)

    def gen_break_points(self, num_outputs: int, num_samples: int = 10) -> Any:
        """So many points between the first and the last element."""
        return np.linspace(0, num_outputs, num_samples, dtype=int)

    # -------------------------------------------------------------------------------- graphs and checkpoints

    def _built(self, ds_fn: Callable, sparse_tensors: bool) -> tuple[Any, Any, Any]:
        init_op, get_next, saver = self._build_graph(ds_fn, sparse_tensors)
        return init_op, remove_variants(get_next), saver

    def _imported(self, ds_fn: Callable, sparse_tensors: bool) -> tuple[Any, Any, Any]:
        saver = self._import_meta_graph()
        init_op, get_next = self._get_iterator_ops_from_collection(ds_fn, sparse_tensors)
        return init_op, remove_variants(get_next), saver

    def _build_graph(self, ds_fn: Callable, sparse_tensors: bool = False) -> tuple[Any, Any, Any]:
        iterator = tf.data.make_initializable_iterator(ds_fn())
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
        get_next = iterator.get_next()
        if sparse_tensors:
            get_next = tf.SparseTensor(*get_next)
        self._add_iterator_ops_to_collection(iterator.initializer, get_next, ds_fn, sparse_tensors)
        return iterator.initializer, get_next, tf.train.Saver(allow_empty=True)

    def _add_iterator_ops_to_collection(
        self, init_op: Any, get_next: Any, ds_fn: Callable, sparse_tensors: bool = False
    ) -> None:
        tf.add_to_collection("iterator_ops", init_op)
        for part in tf.nest.flatten(get_next, expand_composites=True):
            tf.add_to_collection("iterator_ops", part)

    def _get_iterator_ops_from_collection(
        self, ds_fn: Callable, sparse_tensors: bool = False
    ) -> tuple[Any, Any]:
        init_op, *parts = tf.get_collection("iterator_ops")
        if sparse_tensors:
            return init_op, tf.SparseTensor(*parts)
        pending = iter(parts)
        elements = []
        for output_class in tf.nest.flatten(self._get_output_classes(ds_fn)):
            sparse = output_class is tf.SparseTensor
            elements.append(tf.SparseTensor(*(next(pending) for _ in range(3))) if sparse else next(pending))
        return init_op, tf.nest.pack_sequence_as(self._get_output_types(ds_fn), elements)

    def _get_output_types(self, ds_fn: Callable) -> Any:
        with tf.Graph().as_default():
            return tf.data.get_output_types(ds_fn())

    def _get_output_shapes(self, ds_fn: Callable) -> Any:
        with tf.Graph().as_default():
            return tf.data.get_output_shapes(ds_fn())

    def _get_output_classes(self, ds_fn: Callable) -> Any:
        with tf.Graph().as_default():
            return tf.data.get_output_classes(ds_fn())

    def _ckpt_path(self) -> str:
        return os.path.join(self.get_temp_dir(), "iterator")

    def _latest_ckpt(self) -> Any:
        return tf.train.latest_checkpoint(self.get_temp_dir())

    def _save(self, sess: Any, saver: Any) -> None:
        saver.save(sess, self._ckpt_path())

    def _restore(self, saver: Any, sess: Any) -> None:
        sess.run(tf.tables_initializer())
        saver.restore(sess, self._latest_ckpt())

    def _initialize(self, init_op: Any, sess: Any) -> None:
        sess.run(tf.global_variables_initializer())
        sess.run(tf.tables_initializer())
        sess.run(init_op)

    def _import_meta_graph(self) -> Any:
        return tf.train.import_meta_graph(self._ckpt_path() + ".meta")


def _as_lists(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
