"""Models on TPUs: Keras models that train there, and estimators that are exported for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tideflow.export import export


@export("contrib.tpu.keras_to_tpu_model")
def keras_to_tpu_model(model: Any, strategy: Any = None) -> Any:
    """Takes a Keras model to where it trains: here, where it is.

    Args:
      model: The model.
      strategy: Must be None. For several GPUs, build the model in the scope of a
        `tf.distribute.MirroredStrategy`.

    Returns:
      The model itself.

    Raises:
      ValueError: If a strategy of TPUs is given.
    """
    if strategy is not None:
        raise ValueError(
            "strategy must be None: Tideflow runs on CPUs and GPUs, not on TPUs. Build the model in the "
            "scope of a tf.distribute.MirroredStrategy to train it on several GPUs."
        )
    return model


@export("contrib.tpu.export_estimator_savedmodel")
def export_estimator_savedmodel(
    estimator: Any,
    export_dir_base: str,
    serving_input_receiver_fn: Callable,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> Any:
    """Exports an estimator as a SavedModel for inference on a TPU: here, as any other.

    Args:
      estimator: The estimator.
      export_dir_base: The directory below which a directory is made for the SavedModel.
      serving_input_receiver_fn: Makes the inputs of the exported model.
      assets_extra: Files to copy, by their path in the SavedModel's directory.
      as_text: Whether the model is written as text.
      checkpoint_path: The checkpoint; the latest if None.

    Returns:
      The path of the SavedModel.
    """
    return estimator.export_saved_model(
        export_dir_base,
        serving_input_receiver_fn,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=checkpoint_path,
    )
