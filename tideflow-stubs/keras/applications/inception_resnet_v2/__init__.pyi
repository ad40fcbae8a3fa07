# Written by `python -m tideflow.programs.stubs`.

from builtins import str as _str
from tideflow.graph.typing import TensorLike as _TensorLike
from typing import Any as _Any
from tideflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tideflow.keras.applications.inception import InceptionResNetV2 as InceptionResNetV2

def preprocess_input(x: _TensorLike, data_format: _str | None = None) -> _Any:
    """Scales images as the model was trained with them. An array of floating-point numbers is changed in
    place.

    Args:
      x: An array or tensor of images with values from 0 to 255, of rank 3 or 4.
      data_format: `"channels_last"` or `"channels_first"`; the default of Keras if None.

    Returns:
      The images."""
