"""tf.keras.datasets: known datasets, read from local files. Nothing is downloaded."""

from tideflow.keras.datasets import images, texts  # noqa: F401
