"""Words and categories as numbers."""

import numpy as np

import tideflow as tf


def test_words_beyond_a_row_are_cut():
    processor = tf.contrib.learn.preprocessing.VocabularyProcessor(2)
    rows = np.array(list(processor.fit_transform(["a b c", "b"])))
    np.testing.assert_array_equal(rows, [[1, 2], [2, 0]])
    assert list(processor.reverse(rows)) == ["a b", "b <UNK>"]


def test_a_saved_processor_knows_its_words(tmp_path):
    processor = tf.contrib.learn.preprocessing.VocabularyProcessor(3).fit(["a b c"])
    processor.save(str(tmp_path / "words"))
    restored = tf.contrib.learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "words"))
    np.testing.assert_array_equal(list(restored.transform(["c x a"])), [[3, 0, 1]])


def test_counting_goes_on_after_a_trim():
    vocabulary = tf.contrib.learn.preprocessing.CategoricalVocabulary()
    for word in ["a", "b", "b"]:
        vocabulary.add(word)
    vocabulary.trim(1)
    vocabulary.add("c")
    assert [vocabulary.get(word) for word in "bc"] == [1, 2]


def test_bytes_there_and_back():
    processor = tf.contrib.learn.preprocessing.ByteProcessor(6)
    assert list(processor.reverse(processor.transform(["tide", "hé"]))) == ["tide", "hé"]
