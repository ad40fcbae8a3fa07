"""`tf.contrib.slim.nets`: image models that many programs begin with, by their papers' names."""

from tideflow.contrib.slim.nets import (  # noqa: F401
    alexnet,
    inception,
    inception_v1,
    inception_v2,
    inception_v3,
    overfeat,
    resnet_utils,
    resnet_v1,
    resnet_v2,
    vgg,
)
