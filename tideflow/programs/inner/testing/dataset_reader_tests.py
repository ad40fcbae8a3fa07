"""What tests of datasets of files are made of: small files of records, and what is read from them."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tideflow as tf
from tideflow.programs.inner.testing.dataset_testing import DatasetTestBase


class _Files(DatasetTestBase):
    """Tests with a few files of a few records each."""

    _num_files = 2
    _num_records = 7

    def _path(self, name: str) -> str:
        return os.path.join(self.get_temp_dir(), name)


class FixedLengthRecordDatasetTestBase(_Files):
    """Tests of files with records of one length, between a header and a footer."""

    _header_bytes = 5
    _record_bytes = 3
    _footer_bytes = 2

    def _record(self, f: int, r: int) -> bytes:
        return str(f * 2 + r).encode() * self._record_bytes

    def _createFiles(self) -> list[str]:
        paths = [self._path(f"fixed_length_record.{index}.txt") for index in range(self._num_files)]
        for index, path in enumerate(paths):
            records = b"".join(self._record(index, record) for record in range(self._num_records))
            with open(path, "wb") as file:
                file.write(b"H" * self._header_bytes + records + b"F" * self._footer_bytes)
        return paths


class TextLineDatasetTestBase(_Files):
    """Tests of files of lines; only the first file ends with a line's end."""

    def _lineText(self, f: int, l: int) -> bytes:
        return b"%d: %d" % (f, l)

    def _createFiles(
        self, num_files: int, num_lines: int, crlf: bool = False, compression_type: str | None = None
    ) -> list[str]:
        end = b"\r\n" if crlf else b"\n"
        paths = [self._path(f"text_line.{index}.txt") for index in range(num_files)]
        for index, path in enumerate(paths):
            text = end.join(self._lineText(index, line) for line in range(num_lines))
            if index == 0 and num_lines:
                text += end
            with open(path, "wb") as file:
                file.write(_compressed(text, compression_type))
        return paths


def _compressed(text: bytes, compression_type: str | None) -> bytes:
    if not compression_type:
        return text
    if compression_type not in ("GZIP", "ZLIB"):
        raise ValueError("Unsupported compression_type", compression_type)
    return gzip.compress(text) if compression_type == "GZIP" else zlib.compress(text)


class _RecordFiles(_Files):
    """Tests of record files, which several readers may read in turn."""

    def setUp(self) -> None:
        super().setUp()
        self.test_filenames = self._createFiles()

    def _content(self, f: int, r: int) -> bytes:
        raise NotImplementedError(f"{type(self).__name__} says what record {r} of file {f} is.")

    def _createFiles(self) -> list[str]:
        paths = [self._path(f"tf_record.{index}.txt") for index in range(self._num_files)]
        for index, path in enumerate(paths):
            with tf.python_io.TFRecordWriter(path) as writer:
                for record in range(self._num_records):
                    writer.write(self._content(index, record))
        return paths

    def _interleave(self, iterators: list[Iterator], cycle_length: int) -> Iterator[Any]:
        """One of each open iterator in turn; the next one takes the place of one that has ended."""
        pending = iter(iterators)
        places: list[Any] = [next(pending, None) for _ in range(cycle_length)]
        while any(place is not None for place in places):
            for index, place in enumerate(places):
                if place is None:
                    continue
                try:
                    yield next(place)
                except StopIteration:
                    places[index] = next(pending, None)

    def _records(self, file_indices: Iterable[int], num_epochs: int, cycle_length: int) -> Iterator[Any]:
        """File and number of each record, in the order in which they are read."""
        for _ in range(num_epochs):
            files = [iter([(f, r) for r in range(self._num_records)]) for f in file_indices]
            yield from self._interleave(files, cycle_length)

    def _file_indices(self, file_index: int | Sequence[int] | None) -> list[int]:
        if file_index is None:
            return list(range(self._num_files))
        return list(file_index) if isinstance(file_index, (list, tuple)) else [file_index]  # type: ignore


def _in_batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


class TFRecordDatasetTestBase(_RecordFiles):
    """Tests of files of short records."""

    def _record(self, f: int, r: int) -> bytes:
        return b"Record %d of file %d" % (r, f)

    def _content(self, f: int, r: int) -> bytes:
        return self._record(f, r)

    def _next_expected_batch(
        self,
        file_indices: Iterable[int],
        batch_size: int,
        num_epochs: int,
        cycle_length: int,
        drop_final_batch: bool,
        use_parser_fn: Any,
    ) -> Iterator[list[bytes]]:
        for batch in _in_batches(self._records(file_indices, num_epochs, cycle_length), batch_size):
            if len(batch) == batch_size or not drop_final_batch:
                yield [self._record(f, r)[1 if use_parser_fn else 0 :] for f, r in batch]

    def _verify_records(
        self,
        outputs: Any,
        batch_size: int,
        file_index: Any,
        num_epochs: int,
        interleave_cycle_length: int,
        drop_final_batch: bool,
        use_parser_fn: Any,
    ) -> None:
        files = self._file_indices(file_index)
        settings = (batch_size, num_epochs, interleave_cycle_length, drop_final_batch, use_parser_fn)
        for expected in self._next_expected_batch(files, *settings):
            self.assertAllEqual(expected, self.evaluate(outputs()))


class MakeBatchedFeaturesDatasetTestBase(_RecordFiles):
    """Tests of files of Examples, read in batches."""

    outputs: Any

    def make_batch_feature(
        self,
        filenames: Any,
        num_epochs: int | None,
        batch_size: int,
        label_key: str | None = None,
        reader_num_threads: int = 1,
        parser_num_threads: int = 1,
        shuffle: bool = False,
        shuffle_seed: int | None = None,
        drop_final_batch: bool = False,
    ) -> Any:
        """The dataset of the files' Examples."""
        self.filenames, self.num_epochs, self.batch_size = filenames, num_epochs, batch_size
        return tf.data.experimental.make_batched_features_dataset(
            file_pattern=filenames,
            batch_size=batch_size,
            features={
                "file": tf.io.FixedLenFeature([], tf.int64),
                "record": tf.io.FixedLenFeature([], tf.int64),
                "keywords": tf.io.VarLenFeature(tf.string),
                "label": tf.io.FixedLenFeature([], tf.string),
            },
            label_key=label_key,
            reader=tf.data.TFRecordDataset,
            num_epochs=num_epochs,
            shuffle=shuffle,
            shuffle_seed=shuffle_seed,
            reader_num_threads=reader_num_threads,
            parser_num_threads=parser_num_threads,
            drop_final_batch=drop_final_batch,
        )

    def _content(self, f: int, r: int) -> bytes:
        return self._record(f, r, "fake-label")

    def _record(self, f: int, r: int, l: str) -> bytes:
        def numbers(*values: int) -> Any:
            return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

        def words(*values: bytes) -> Any:
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))

        features = {
            "file": numbers(f),
            "record": numbers(r),
            "keywords": words(*self._get_keywords(f, r)),
            "label": words(l.encode()),
        }
        return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()

    def _get_keywords(self, f: int, r: int) -> list[bytes]:
        return [b"keyword%d" % index for index in range(1 + (f + r) % 2)]

    def _sum_keywords(self, num_files: int) -> int:
        return sum(len(self._get_keywords(f, r)) for f in range(num_files) for r in range(self._num_records))

    def _run_actual_batch(self, outputs: Any, label_key_provided: bool = False) -> list[Any]:
        element = self.evaluate(outputs())
        features, label = element if label_key_provided else (element, element["label"])
        words = features["keywords"]
        return [features["file"], words.indices, words.values, words.dense_shape, features["record"], label]

    def _next_actual_batch(self, label_key_provided: bool = False) -> list[Any]:
        return self._run_actual_batch(self.outputs, label_key_provided)

    def _next_expected_batch(
        self, file_indices: Iterable[int], batch_size: int, num_epochs: int, cycle_length: int = 1
    ) -> Iterator[list[Any]]:
        for batch in _in_batches(self._records(file_indices, num_epochs, cycle_length), batch_size):
            words = [self._get_keywords(f, r) for f, r in batch]
            yield [
                [f for f, _ in batch],
                [[row, column] for row, each in enumerate(words) for column in range(len(each))],
                [word for each in words for word in each],
                [len(batch), max(map(len, words))],
                [r for _, r in batch],
                [b"fake-label"] * len(batch),
            ]

    def verify_records(
        self,
        batch_size: int,
        file_index: int | None = None,
        num_epochs: int = 1,
        label_key_provided: bool = False,
        interleave_cycle_length: int = 1,
    ) -> None:
        """Checks the batches of `self.outputs`."""
        files = self._file_indices(file_index)
        for expected in self._next_expected_batch(files, batch_size, num_epochs, interleave_cycle_length):
            actual = self._next_actual_batch(label_key_provided=label_key_provided)
            for one, other in zip(expected, actual, strict=True):
                self.assertAllEqual(one, other)
