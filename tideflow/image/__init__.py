"""Functions of images made of several ops: `tf.image` beyond what single ops do."""

from tideflow.image import adjusting, colors, cropping, decoding, flipping, quality, resizing  # noqa: F401
