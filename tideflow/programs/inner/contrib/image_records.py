"""`tensorflow.contrib.slim.python.slim.data.test_utils`: small files of images, for unit tests of readers."""

from __future__ import annotations

import os

import numpy as np

import tideflow as tf


def generate_image(
    image_shape: tuple[int, ...], image_format: str = "jpeg", label: int = 0
) -> tuple[np.ndarray, str]:
    """An image of 0, 1, 2 and so on, and a message with the image encoded and its label.

    Args:
      image_shape: Its height, width and channels.
      image_format: `"jpeg"` or `"png"`.
      label: The label.

    Returns:
      The image and the message, serialized.
    """
    image = np.arange(np.prod(image_shape)).astype(np.uint8).reshape(image_shape)
    encode = {"jpeg": tf.image.encode_jpeg, "png": tf.image.encode_png}[image_format]
    with tf.Graph().as_default(), tf.Session() as session:
        encoded = session.run(encode(image))
    strings = {"image/encoded": encoded, "image/format": image_format.encode()}
    features = {key: _feature(bytes_list=tf.train.BytesList(value=[text])) for key, text in strings.items()}
    features["image/class/label"] = _feature(int64_list=tf.train.Int64List(value=[label]))
    return image, tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def _feature(**kind: object) -> tf.train.Feature:
    return tf.train.Feature(**kind)


def create_tfrecord_files(output_dir: str, num_files: int = 3, num_records_per_file: int = 10) -> list[str]:
    """Writes files of records with images of 10 x 10 pixels, of the label 0.

    Args:
      output_dir: Where to write them.
      num_files: How many files there are.
      num_records_per_file: How many records are in each.

    Returns:
      Their paths.
    """
    paths = []
    for i in range(num_files):
        paths.append(os.path.join(output_dir, f"flowers.tfrecord-{i}-of-{num_files}"))
        with tf.python_io.TFRecordWriter(paths[-1]) as writer:
            for _ in range(num_records_per_file):
                writer.write(generate_image((10, 10, 3))[1])
    return paths
