"""tf.keras.preprocessing.image: pictures as arrays, changed at random, in batches from arrays or files."""

from tideflow.keras.preprocessing.image import generator, pictures, transforms  # noqa: F401
