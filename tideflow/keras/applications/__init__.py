"""tf.keras.applications: image models of papers, with random weights or those of local files."""

from tideflow.keras.applications import (  # noqa: F401
    densenet,
    imagenet_utils,
    inception,
    mobilenets,
    nasnet,
    residual,
    vgg,
    xception,
)
