"""Matrices whose rows stand for words: what is asked of files and remappings is checked."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.io.bundle_writer import BundleWriter
from tideflow.ops.state.vocabulary_remapping import generate_vocab_remapping_op, load_and_remap_matrix_op


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def _vocabulary(path, *words):
    path.write_text("\n".join(words) + "\n")
    return str(path)


def _run(fetches):
    with tf.Session() as sess:
        return sess.run(fetches)


def test_words_are_found_where_they_were(tmp_path):
    new = _vocabulary(tmp_path / "new", "x", "b", "c", "a")
    old = _vocabulary(tmp_path / "old", "a", "b", "x")
    remapped = generate_vocab_remapping_op(new, old, new_vocab_offset=1, num_new_vocab=3)
    sources, present = _run(remapped)
    assert (sources.tolist(), present) == ([1, -1, 0], 2)


def test_more_words_than_there_are(tmp_path):
    words = _vocabulary(tmp_path / "words", "a", "b")
    remapped = generate_vocab_remapping_op(words, words, new_vocab_offset=1, num_new_vocab=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="has 2 lines, but lines 1 to 3 are asked for"):
        _run(remapped)


def _matrix(tmp_path, rows, columns=(), filling=(), num_rows=2, num_cols=2, name="w"):
    with BundleWriter(tmp_path / "m") as writer:
        writer.add("w", np.float32([[1, 2], [3, 4], [5, 6]]))
        writer.add("vector", np.float32([1, 2]))
    return _run(
        load_and_remap_matrix_op(
            str(tmp_path / "m"),
            name,
            np.array(rows, np.int64),
            np.array(columns, np.int64),
            np.array(filling, np.float32),
            num_rows=num_rows,
            num_cols=num_cols,
        )
    )


def test_rows_and_columns_are_taken_and_the_rest_filled(tmp_path):
    found = _matrix(tmp_path, [2, -1], [1, 0, -1], [7, 8, 9, 10], num_cols=3)
    assert found.tolist() == [[6, 5, 7], [8, 9, 10]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rows": [0]}, "Size of row_remapping is 1 instead of being equal to 2"),
        ({"rows": [0, 3]}, "row_remapping has 3, which is not below 3"),
        ({"rows": [1, 1]}, "takes the same row or column twice"),
        ({"rows": [0, -1]}, "0 initializing_values for 2 missing values"),
        ({"rows": [0, 1], "num_cols": 3}, "Size of col_remapping is 2 instead of being equal to 3"),
        ({"rows": [0, 1], "name": "vector"}, "must have 2 dimensions"),
    ],
)
def test_remappings_that_do_not_fit(given, said, tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        _matrix(tmp_path, **given)
