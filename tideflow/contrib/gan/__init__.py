"""`tf.contrib.gan`: generative adversarial networks, from a model to its losses, training and scores.

TensorFlow has it up to 1.14; its estimators are not here.
"""

from tideflow.contrib.gan import (  # noqa: F401
    classifiers,
    conditions,
    images,
    losses_of_models,
    losses_of_outputs,
    models,
    namedtuples,
    normalization,
    penalties,
    scores,
    sliced_wasserstein,
    training,
    whole_losses,
)
