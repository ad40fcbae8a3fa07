"""The MNIST reader: batches in TensorFlow's order, files compressed or not, errors that say what to do."""

import gzip
import struct

import numpy as np
import pytest

from tideflow.contrib.learn import digits as mnist


@pytest.fixture
def folder(tmp_path):
    rng = np.random.RandomState(0)
    for name, count in (("train", 30), ("t10k", 8)):
        images = rng.randint(0, 256, (count, 28, 28)).astype(np.uint8)
        labels = (np.arange(count) % 10).astype(np.uint8)
        header = struct.pack(">4I", 2051, count, 28, 28)
        (tmp_path / f"{name}-images-idx3-ubyte").write_bytes(header + images.tobytes())
        content = struct.pack(">2I", 2049, count) + labels.tobytes()
        (tmp_path / f"{name}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(content))
    return tmp_path


def test_sizes_types_and_encodings(folder):
    data = mnist.read_data_sets(str(folder), one_hot=True, validation_size=5)
    assert (data.train.num_examples, data.validation.num_examples, data.test.num_examples) == (25, 5, 8)
    assert data.train.images.shape == (25, 784) and data.train.images.dtype == np.float32
    assert 0.9 < data.train.images.max() <= 1.0 and data.train.labels.shape == (25, 10)
    plain = mnist.read_data_sets(str(folder), reshape=False, validation_size=0, dtype="uint8")
    assert plain.train.images.shape == (30, 28, 28, 1) and plain.train.images.dtype == np.uint8
    np.testing.assert_array_equal(plain.train.labels[:4], [0, 1, 2, 3])


def test_batches_cover_each_pass_and_go_over_its_end(folder):
    train = mnist.read_data_sets(str(folder), validation_size=0, seed=1).train
    first = [train.next_batch(12) for _ in range(2)]
    images, _ = train.next_batch(12)
    assert train.epochs_completed == 1 and len(images) == 12
    seen = np.concatenate([batch[0] for batch in first] + [images[:6]])
    assert len(np.unique(seen, axis=0)) == 30


def test_the_same_seed_gives_the_same_batches(folder):
    def batches(seed):
        train = mnist.read_data_sets(str(folder), validation_size=0, seed=seed).train
        return np.concatenate([train.next_batch(7)[1] for _ in range(6)])

    np.testing.assert_array_equal(batches(3), batches(3))
    assert (batches(3) != batches(4)).any()


def test_without_shuffling_the_order_is_the_files(folder):
    test = mnist.read_data_sets(str(folder), validation_size=0).test
    np.testing.assert_array_equal(test.next_batch(5, shuffle=False)[1], [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(test.next_batch(5, shuffle=False)[1], [5, 6, 7, 0, 1])


def test_fake_data():
    data = mnist.read_data_sets("/nowhere", fake_data=True, one_hot=True)
    images, labels = data.train.next_batch(2, fake_data=True)
    assert len(images) == 2 and len(images[0]) == 784 and labels[1] == [1] + [0] * 9


def test_refusals(folder):
    with pytest.raises(
        FileNotFoundError, match=r"train-images-idx3-ubyte is not there.*not downloaded.*t10k-labels"
    ):
        mnist.read_data_sets(str(folder / "empty"))
    with pytest.raises(ValueError, match=r"Validation size should be between 0 and 30\. Received: 31"):
        mnist.read_data_sets(str(folder), validation_size=31)
    with pytest.raises(TypeError, match="expected uint8 or float32"):
        mnist.read_data_sets(str(folder), validation_size=0, dtype="int32")
    with pytest.raises(ValueError, match="Invalid magic number 2051 in MNIST label file"):
        mnist.extract_labels(folder / "train-images-idx3-ubyte")
