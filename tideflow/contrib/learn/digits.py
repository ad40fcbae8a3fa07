"""`tensorflow.examples.tutorials.mnist.input_data`: handwritten digits from the files of the MNIST database.

The files are read where they lie, compressed or not; none is downloaded.
"""

from __future__ import annotations

import gzip
import struct
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np

from tideflow.export import expose
from tideflow.graph import dtypes
from tideflow.graph.scopes import get_seed

Datasets = namedtuple("Datasets", ["train", "validation", "test"])
expose(Datasets, "contrib.learn.datasets.base.Datasets")

TRAIN_IMAGES = "train-images-idx3-ubyte"
TRAIN_LABELS = "train-labels-idx1-ubyte"
TEST_IMAGES = "t10k-images-idx3-ubyte"
TEST_LABELS = "t10k-labels-idx1-ubyte"
DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"

_IMAGES, _LABELS = 2051, 2049  # the first number of a file says what is in it


# ----------------------------------------------------------------------------------------------------- files


def _path(train_dir: str, name: str) -> Path:
    """Where a file is, with or without .gz; FileNotFoundError that names what is looked for."""
    folder = Path(train_dir)
    for path in (folder / f"{name}.gz", folder / name):
        if path.exists():
            return path
    wanted = ", ".join((TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS))
    raise FileNotFoundError(
        f"{folder / name} is not there, nor with .gz. The MNIST files are not downloaded: put {wanted} "
        f"(or their .gz) into {folder.resolve()}."
    )


def _numbers(f: Any, kind: int, axes: int, what: str) -> np.ndarray:
    """What is in an IDX file (a path, or a file opened), compressed or not, as an array of `axes` axes."""
    name = getattr(f, "name", f) if hasattr(f, "read") else f
    print("Extracting", name)
    content = f.read() if hasattr(f, "read") else Path(f).read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    magic, *sizes = struct.unpack_from(f">{1 + axes}I", content)
    if magic != kind:
        raise ValueError(f"Invalid magic number {magic} in MNIST {what} file: {name}")
    return np.frombuffer(content, np.uint8, offset=4 * (1 + axes)).reshape(sizes)


def extract_images(f: Any) -> np.ndarray:
    """The images of a file, [count, rows, columns, 1], 0 to 255."""
    return _numbers(f, _IMAGES, 3, "image")[..., np.newaxis]


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> np.ndarray:
    """The labels of a file, as numbers or as vectors with a one at their place."""
    labels = _numbers(f, _LABELS, 1, "label")
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    """Numbers as vectors with a one at their place."""
    return np.eye(num_classes)[labels_dense.ravel()]


# ------------------------------------------------------------------------------------------------- data sets


class DataSet:
    """Images and their labels, handed out in batches."""

    def __init__(
        self,
        images: np.ndarray | None,
        labels: np.ndarray | None,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ):
        graph_seed, op_seed = get_seed(seed)
        # NumPy's own generator, as in TensorFlow: the same seeds give the same batches.
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot = one_hot
        self._fake_data = fake_data
        if fake_data:
            self._num_examples = 10000
        else:
            if images.shape[0] != labels.shape[0]:
                raise AssertionError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
            self._num_examples = images.shape[0]
            if reshape:
                if images.shape[3] != 1:
                    raise AssertionError(f"images.shape[3] is {images.shape[3]}, not 1")
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if dtype is dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images = images
        self._labels = labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self) -> np.ndarray:
        return self._images

    @property
    def labels(self) -> np.ndarray:
        return self._labels

    @property
    def num_examples(self) -> int:
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next `batch_size` images and labels. Each pass over the data has an order of its own; a batch
        that a pass does not fill takes the rest from the next.
        """
        if fake_data:
            return self._fake_batch(batch_size)
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._reorder()
        if start + batch_size <= self._num_examples:
            self._index_in_epoch += batch_size
            taken = slice(start, self._index_in_epoch)
            return self._images[taken], self._labels[taken]
        self._epochs_completed += 1
        rest = self._images[start:], self._labels[start:]
        if shuffle:
            self._reorder()
        self._index_in_epoch = batch_size - len(rest[0])
        more = self._images[: self._index_in_epoch], self._labels[: self._index_in_epoch]
        return np.concatenate((rest[0], more[0])), np.concatenate((rest[1], more[1]))

    def _reorder(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]

    def _fake_batch(self, batch_size: int) -> tuple[list, list]:
        label: Any = [1] + [0] * 9 if self.one_hot else 0
        return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """Training, validation and test data from the four files in `train_dir`."""
    if fake_data:
        return Datasets(
            *(DataSet(None, None, fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed) for _ in range(3))
        )
    train_images = extract_images(_path(train_dir, TRAIN_IMAGES))
    train_labels = extract_labels(_path(train_dir, TRAIN_LABELS), one_hot=one_hot)
    test_images = extract_images(_path(train_dir, TEST_IMAGES))
    test_labels = extract_labels(_path(train_dir, TEST_LABELS), one_hot=one_hot)
    if not 0 <= validation_size <= len(train_images):
        raise ValueError(
            f"Validation size should be between 0 and {len(train_images)}. Received: {validation_size}."
        )
    options = {"dtype": dtype, "reshape": reshape, "seed": seed}
    cut = validation_size
    return Datasets(
        train=DataSet(train_images[cut:], train_labels[cut:], **options),
        validation=DataSet(train_images[:cut], train_labels[:cut], **options),
        test=DataSet(test_images, test_labels, **options),
    )


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """`read_data_sets` of the folder that programs use by default."""
    return read_data_sets(train_dir)
