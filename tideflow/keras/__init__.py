"""tf.keras: models of layers, trained by `fit`."""

from tideflow.export import load_when_asked_for
from tideflow.keras import (  # noqa: F401
    callbacks,
    losses,
    metrics,
    models,
    optimizers,
    premade,
    preprocessing,
)
from tideflow.keras.backend import arrays, math, neural, recurrence  # noqa: F401
from tideflow.keras.engine import input_layer, sequential, training  # noqa: F401
from tideflow.keras.layers import activations as _activations  # noqa: F401
from tideflow.keras.layers import (  # noqa: F401
    cells,
    conv_recurrent,
    core,
    cudnn,
    feature_layers,
    local,
    merge,
    recurrent,
    resizing,
)
from tideflow.keras.layers import wrappers as _layer_wrappers  # noqa: F401
from tideflow.keras.saving import layer_objects as _layer_objects  # noqa: F401
from tideflow.keras.saving import models as _saving  # noqa: F401
from tideflow.keras.utils import arrays as _arrays  # noqa: F401
from tideflow.keras.utils import drawing as _drawing  # noqa: F401
from tideflow.keras.utils import replicas as _replicas  # noqa: F401

__version__ = "2.2.4-tf"  # of the Keras that TensorFlow 1.15 has

load_when_asked_for("tideflow.keras.applications", "keras.applications")
load_when_asked_for("tideflow.keras.datasets", "keras.datasets")
load_when_asked_for("tideflow.keras.mixed_precision", "keras.mixed_precision")
load_when_asked_for("tideflow.keras.wrappers", "keras.wrappers")
