"""Layers of `tf.layers`, which Keras's models do not take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tideflow.layers import scoped


def refuse_legacy_layers(layers: Iterable[Any]) -> None:
    """Refuses layers of `tf.layers`.

    Args:
      layers: The layers.

    Raises:
      TypeError: If there is one that does not behave as Keras's layers do.
    """
    legacy = [each for each in layers if isinstance(each, scoped.Layer) and not each._keras_style]
    if legacy:
        listed = "\n".join(f"  {layer}" for layer in legacy)
        raise TypeError(
            f"The following are legacy tf.layers.Layers:\n{listed}\nTo use keras as a framework (for "
            "instance using the Network, Model, or Sequential classes), please use the tf.keras.layers "
            "implementation instead. (Or, if writing custom layers, subclass from tf.keras.layers rather "
            "than tf.layers)"
        )
