"""Batches of serialized Examples as a dataset of their features, and its experimental twin."""

import tideflow as tf
from tests.ops.datasets.elements import check


def example(number, words):
    message = tf.train.Example()
    message.features.feature["number"].int64_list.value.append(number)
    message.features.feature["words"].bytes_list.value.extend(words)
    return message.SerializeToString()


def test_the_features_of_examples():
    messages = [example(1, [b"a", b"b"]), example(2, []), example(3, [b"c"])]
    features = {"number": tf.FixedLenFeature([], tf.int64), "words": tf.VarLenFeature(tf.string)}

    def parsed():
        batches = tf.data.Dataset.from_tensor_slices(messages).batch(2)
        found = batches.apply(tf.data.experimental.parse_example_dataset(features))
        return found.map(lambda parts: (parts["number"], parts["words"].values))

    check("ParseExampleDataset", parsed, [([1, 2], [b"a", b"b"]), ([3], [b"c"])])
