"""Sequences and text as arrays."""

import numpy as np
import pytest

import tideflow as tf

sequence, text = tf.keras.preprocessing.sequence, tf.keras.preprocessing.text


def test_padding():
    made = sequence.pad_sequences([[1], [2, 3], [4, 5, 6]], maxlen=2)
    assert made.tolist() == [[0, 1], [2, 3], [5, 6]] and made.dtype == np.int32
    made = sequence.pad_sequences([[1], [2, 3, 4]], maxlen=2, padding="post", truncating="post", value=9)
    assert made.tolist() == [[1, 9], [2, 3]]
    with pytest.raises(ValueError, match="not understood"):
        sequence.pad_sequences([[1]], padding="middle")


def test_a_tokenizer():
    tokens = text.Tokenizer(num_words=4, oov_token="?")
    tokens.fit_on_texts(["The tide, the sea", "the tide"])
    assert tokens.word_index == {"?": 1, "the": 2, "tide": 3, "sea": 4}
    assert tokens.texts_to_sequences(["the sea", "a tide"]) == [[2, 1], [1, 3]]
    assert tokens.sequences_to_texts([[2, 3]]) == ["the tide"]
    assert tokens.texts_to_matrix(["the the tide"], "count").tolist() == [[0, 0, 2, 1]]
    again = text.tokenizer_from_json(tokens.to_json())
    assert again.texts_to_sequences(["the sea"]) == [[2, 1]] and again.index_word == tokens.index_word


def test_windows_over_time():
    windows = sequence.TimeseriesGenerator(np.arange(10), np.arange(10) * 10, 3, batch_size=4)
    x, y = windows[0]
    assert len(windows) == 2 and x[0].tolist() == [0, 1, 2] and y[0] == 30


def test_pairs_of_neighbours():
    pairs, labels = sequence.skipgrams([1, 2, 3], 4, window_size=1, negative_samples=0.0, shuffle=False)
    assert pairs == [[1, 2], [2, 1], [2, 3], [3, 2]] and labels == [1] * 4


def test_hashed_words():
    assert text.hashing_trick("the tide the", 10, "md5")[0] == text.hashing_trick("the", 10, "md5")[0]
    assert text.text_to_word_sequence("The tide; the SEA!") == ["the", "tide", "the", "sea"]


def test_labels():
    assert tf.keras.utils.to_categorical([0, 2]).tolist() == [[1, 0, 0], [0, 0, 1]]
    np.testing.assert_allclose(tf.keras.utils.normalize(np.array([[3.0, 4.0]])), [[0.6, 0.8]])
