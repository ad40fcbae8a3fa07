"""Datasets of images and of numbers: MNIST, Fashion-MNIST, CIFAR, Boston's houses."""

from __future__ import annotations

import gzip
import os
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.keras.datasets.files import arrays, stored, unpickled
from tideflow.layers import keras_state

Split = tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@export("keras.datasets.mnist.load_data")
def _mnist(path: str = "mnist.npz") -> Split:
    """Reads MNIST, 70,000 digits of 28 x 28 pixels. Nothing is downloaded.

    Args:
      path: The file in `~/.keras/datasets`, or its absolute path.

    Returns:
      The images and labels for training, and those for testing.

    Raises:
      OSError: If the file is not there.
    """
    found = arrays(stored(path, "mnist.npz"))
    return (found["x_train"], found["y_train"]), (found["x_test"], found["y_test"])


@export("keras.datasets.fashion_mnist.load_data")
def _fashion_mnist() -> Split:
    """Reads Fashion-MNIST, 70,000 clothes of 28 x 28 pixels, from `~/.keras/datasets/fashion-mnist`.

    Returns:
      The images and labels for training, and those for testing.

    Raises:
      OSError: If a file is not there: nothing is downloaded.
    """

    def read(name: str, header: int) -> np.ndarray:
        path = stored(name, name, cache_subdir=os.path.join("datasets", "fashion-mnist"))
        with gzip.open(path, "rb") as file:
            return np.frombuffer(file.read(), np.uint8, offset=header)

    def part(name: str) -> tuple[np.ndarray, np.ndarray]:
        labels = read(f"{name}-labels-idx1-ubyte.gz", 8)
        return read(f"{name}-images-idx3-ubyte.gz", 16).reshape(len(labels), 28, 28), labels

    return part("train"), part("t10k")


@export("keras.datasets.boston_housing.load_data")
def _boston_housing(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> Split:
    """Reads the prices of Boston's houses. Nothing is downloaded.

    Args:
      path: The file in `~/.keras/datasets`, or its absolute path.
      test_split: The fraction of the samples that is for testing.
      seed: The seed of the order.

    Returns:
      The samples and prices for training, and those for testing.

    Raises:
      OSError: If the file is not there.
    """
    if not 0 <= test_split < 1:
        raise AssertionError(f"test_split must be at least 0 and below 1, not {test_split}")
    found = arrays(stored(path, "boston_housing.npz"))
    np.random.seed(seed)
    order = np.arange(len(found["x"]))
    np.random.shuffle(order)
    x, y = found["x"][order], found["y"][order]
    first = int(len(x) * (1 - test_split))
    return (x[:first], y[:first]), (x[first:], y[first:])


def _cifar_batch(path: str, key: bytes) -> tuple[np.ndarray, np.ndarray]:
    batch: dict[bytes, Any] = unpickled(path)
    images, labels = batch[b"data"], batch[key]
    return images.reshape(len(images), 3, 32, 32), np.reshape(labels, (-1, 1)).astype(np.int64)


def _in_format(images: np.ndarray) -> np.ndarray:
    return images.transpose(0, 2, 3, 1) if keras_state.image_data_format() == "channels_last" else images


@export("keras.datasets.cifar10.load_data")
def _cifar10() -> Split:
    """Reads CIFAR-10, 60,000 colour images of 32 x 32 pixels, from `~/.keras/datasets/cifar-10-batches-py`.

    Returns:
      The images and labels for training, and those for testing.

    Raises:
      OSError: If neither the folder nor its archive is there: nothing is downloaded.
    """
    origin = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    folder = stored("cifar-10-batches-py", origin, untar=True)
    parts = [_cifar_batch(os.path.join(folder, f"data_batch_{i}"), b"labels") for i in range(1, 6)]
    x_test, y_test = _cifar_batch(os.path.join(folder, "test_batch"), b"labels")
    x_train, y_train = (np.concatenate(values) for values in zip(*parts, strict=True))
    return (
        (_in_format(x_train), y_train.astype(np.uint8)),
        (_in_format(x_test), y_test.astype(np.uint8)),
    )


@export("keras.datasets.cifar100.load_data")
def _cifar100(label_mode: str = "fine") -> Split:
    """Reads CIFAR-100, 60,000 colour images of 32 x 32 pixels, from `~/.keras/datasets/cifar-100-python`.

    Args:
      label_mode: `"fine"` for 100 classes, `"coarse"` for 20.

    Returns:
      The images and labels for training, and those for testing.

    Raises:
      ValueError: If the kind of labels is not known.
      OSError: If neither the folder nor its archive is there: nothing is downloaded.
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    origin = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    folder = stored("cifar-100-python", origin, untar=True)
    key = f"{label_mode}_labels".encode()
    parts = [_cifar_batch(os.path.join(folder, name), key) for name in ("train", "test")]
    (x_train, y_train), (x_test, y_test) = parts
    return (_in_format(x_train), y_train), (_in_format(x_test), y_test)
