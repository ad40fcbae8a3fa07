"""Callbacks: what is called while a model is trained."""

from tideflow.keras.callbacks import base, files, schedules, tensorboard  # noqa: F401
