"""Images as the models want them, and what their answers mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export, expose
from tideflow.keras.utils.data_utils import get_file
from tideflow.layers import keras_state

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_CLASSES = "imagenet_class_index.json"
_ORIGIN = "https://storage.googleapis.com/download.tensorflow.org/data/"
_MEAN_BGR = (103.939, 116.779, 123.68)
_MEAN, _STDDEV = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@export("keras.applications.imagenet_utils.preprocess_input")
def preprocess_input(x: TensorLike, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Scales images as a model was trained with them. An array of floating-point numbers is changed in place.

    Args:
      x: An array or tensor of images with values from 0 to 255, of rank 3 or 4.
      data_format: `"channels_last"` or `"channels_first"`; the default of Keras if None.
      mode: `"caffe"` (blue first, less the mean of each channel), `"tf"` (from -1 to 1), or `"torch"` (from 0
        to 1, then less the mean and divided by the standard deviation of each channel).

    Returns:
      The images.

    Raises:
      ValueError: If the data format is not known.
    """
    data_format = keras_state.image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format {data_format}")
    if isinstance(x, np.ndarray) and not issubclass(x.dtype.type, np.floating):
        x = x.astype(keras_state.floatx(), copy=False)
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    rank = x.ndim if isinstance(x, np.ndarray) else x.shape.ndims
    channels_first = data_format == "channels_first"
    per_channel = (-1, 1, 1) if channels_first else (-1,)

    def by_channel(values: tuple[float, ...]) -> Any:
        array = np.reshape(np.asarray(values), per_channel)
        kind = x.dtype if isinstance(x, np.ndarray) else x.dtype.as_numpy_dtype
        return array.astype(kind)

    if mode == "torch":
        x /= 255.0
        x -= by_channel(_MEAN)
        x /= by_channel(_STDDEV)
        return x
    if channels_first:
        x = x[::-1, ...] if rank == 3 else x[:, ::-1, ...]
    else:
        x = x[..., ::-1]
    x -= by_channel(_MEAN_BGR)
    return x


@export(
    *(
        f"keras.applications.{model}.decode_predictions"
        for model in (
            "densenet",
            "imagenet_utils",
            "inception_resnet_v2",
            "inception_v3",
            "mobilenet",
            "mobilenet_v2",
            "nasnet",
            "resnet",
            "resnet50",
            "resnet_v2",
            "vgg16",
            "vgg19",
            "xception",
        )
    )
)
def decode_predictions(preds: Any, top: int = 5) -> list[list[tuple[str, str, float]]]:
    """Names the most probable classes of ImageNet, by a file in `~/.keras/models`: nothing is downloaded.

    Args:
      preds: The probabilities, an array of shape [images, 1000].
      top: How many classes are named.

    Returns:
      For each image a list of the class's id, its name and its probability.

    Raises:
      ValueError: If the array has another shape.
      OSError: If the file of the names is not there.
    """
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, 1000)). "
            f"Found array with shape: {preds.shape}"
        )
    with open(get_file(_CLASSES, _ORIGIN + _CLASSES, cache_subdir="models"), encoding="utf8") as file:
        names = json.load(file)
    best = (row.argsort()[-top:][::-1] for row in preds)
    return [
        [(*names[str(index)], row[index]) for index in order] for row, order in zip(preds, best, strict=True)
    ]


def _preprocessing(mode: str) -> Callable:
    def preprocess_input(x: TensorLike, data_format: str | None = None) -> Any:
        """Scales images as the model was trained with them. An array of floating-point numbers is changed in
        place.

        Args:
          x: An array or tensor of images with values from 0 to 255, of rank 3 or 4.
          data_format: `"channels_last"` or `"channels_first"`; the default of Keras if None.

        Returns:
          The images.
        """
        return tf.keras.applications.imagenet_utils.preprocess_input(x, data_format, mode=mode)

    return preprocess_input


_MODES = {
    "caffe": ("resnet", "resnet50", "vgg16", "vgg19"),
    "tf": (
        "inception_resnet_v2",
        "inception_v3",
        "mobilenet",
        "mobilenet_v2",
        "nasnet",
        "resnet_v2",
        "xception",
    ),
    "torch": ("densenet",),
}
for _mode, _models in _MODES.items():
    expose(_preprocessing(_mode), *(f"keras.applications.{model}.preprocess_input" for model in _models))
