"""Models of Keras as other libraries want them."""

from tideflow.keras.wrappers import scikit_learn  # noqa: F401
