"""tf.keras: models of layers, trained by `fit`."""

from tideflow.export import load_when_asked_for
from tideflow.keras import (  # noqa: F401
    callbacks,
    losses,
    metrics,
    models,
    optimizers,
    preprocessing,
)
from tideflow.keras.backend import arrays, math, neural, recurrence  # noqa: F401
from tideflow.keras.engine import input_layer, sequential, training  # noqa: F401
from tideflow.keras.layers import (  # noqa: F401
    activations,
    cells,
    conv_recurrent,
    core,
    cudnn,
    local,
    merge,
    recurrent,
    resizing,
    wrappers,
)
from tideflow.keras.saving import models as _saving  # noqa: F401
from tideflow.keras.utils import arrays as _arrays  # noqa: F401

load_when_asked_for("tideflow.keras.applications", "keras.applications")
load_when_asked_for("tideflow.keras.datasets", "keras.datasets")
