"""tf.keras.datasets: local files, and what is refused of them."""

import gzip
import json
import os
import pickle
import tarfile

import numpy as np
import pytest

import tideflow as tf

datasets = tf.keras.datasets


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".keras" / "datasets"
    folder.mkdir(parents=True)
    return folder


def texts(*each):
    made = np.empty(len(each), dtype=object)
    made[:] = each
    return made


def test_arrays_of_images(cache):
    images, labels = np.arange(2 * 28 * 28).reshape(2, 28, 28).astype(np.uint8), np.array([3, 4], np.uint8)
    np.savez(cache / "mnist.npz", x_train=images, y_train=labels, x_test=images[:1], y_test=labels[:1])
    (x, y), (x_test, _) = datasets.mnist.load_data()
    assert np.array_equal(x, images) and list(y) == [3, 4] and x_test.shape == (1, 28, 28)
    fashion = cache / "fashion-mnist"
    fashion.mkdir()
    for part in ("train", "t10k"):
        (fashion / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + labels.tobytes()))
        (fashion / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16) + images.tobytes()))
    (x, y), _ = datasets.fashion_mnist.load_data()
    assert np.array_equal(x, images) and list(y) == [3, 4]


def test_texts_are_shuffled_marked_and_cut(tmp_path):
    """The numbers are those that TensorFlow gives for this file."""
    path = str(tmp_path / "reuters.npz")
    np.savez(path, x=texts(*([i, i + 1, i + 2] for i in range(1, 6)), [9]), y=np.arange(6))
    (x, y), (x_test, y_test) = datasets.reuters.load_data(path, num_words=9, skip_top=5, test_split=0.5)
    assert x.tolist() == [[2, 5, 6, 7], [2, 2, 5, 6], [2, 7, 8, 2]] and list(y) == [1, 0, 3]
    assert list(x_test) == [[2, 6, 7, 8], [2, 8, 2, 2], [2, 2]] and list(y_test) == [2, 4, 5]
    with pytest.raises(TypeError, match="Unrecognized keyword arguments"):
        datasets.reuters.load_data(path, colour="red")
    both = {f"{kind}_{part}": value for part in ("train", "test") for kind, value in
            (("x", texts([1, 2], [3])), ("y", np.arange(2)))}  # fmt: skip
    path = str(tmp_path / "imdb.npz")
    np.savez(path, **both)
    (x, _), _ = datasets.imdb.load_data(path, start_char=None, oov_char=None)
    assert sorted(x) == [[], [4, 5]]
    with pytest.raises(ValueError, match="no sequence was kept"):
        datasets.imdb.load_data(path, maxlen=1)


def test_cifar_from_its_archive(cache, tmp_path):
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    batch = {b"data": np.arange(2 * 3072).reshape(2, 3072).astype(np.uint8), b"labels": [7, 8]}
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
    with tarfile.open(cache / "cifar-10-batches-py.tar.gz", "w:gz") as archive:
        archive.add(folder, "cifar-10-batches-py")
    (x, y), (x_test, _) = datasets.cifar10.load_data()
    assert x.shape == (10, 32, 32, 3) and y.dtype == np.uint8 and x_test.shape == (2, 32, 32, 3)
    assert np.array_equal(x[1, ..., 2], batch[b"data"][1].reshape(3, 32, 32)[2])
    with pytest.raises(ValueError, match="label_mode"):
        datasets.cifar100.load_data("finest")


def test_a_file_that_is_not_there_is_asked_for(cache):
    with pytest.raises(OSError, match=r"imdb_word_index.json is not there, and nothing is downloaded: fetch"):
        datasets.imdb.get_word_index()
    (cache / "imdb_word_index.json").write_text(json.dumps({"tide": 1}))
    assert datasets.imdb.get_word_index() == {"tide": 1}


class Hostile:
    def __reduce__(self):
        return os.mkdir, ("/nowhere/at/all",)


def test_pickles_make_nothing_but_arrays(tmp_path):
    path = str(tmp_path / "reuters.npz")
    np.savez(path, x=texts([1], Hostile()), y=np.arange(2))
    with pytest.raises(pickle.UnpicklingError, match="nothing but arrays and numbers"):
        datasets.reuters.load_data(path)
