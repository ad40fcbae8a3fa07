"""`tf.contrib.keras`, the older name of the parts of `tf.keras`."""

import tideflow as tf

activations = tf.keras.activations
applications = tf.keras.applications
backend = tf.keras.backend
callbacks = tf.keras.callbacks
constraints = tf.keras.constraints
datasets = tf.keras.datasets
initializers = tf.keras.initializers
layers = tf.keras.layers
losses = tf.keras.losses
metrics = tf.keras.metrics
models = tf.keras.models
optimizers = tf.keras.optimizers
preprocessing = tf.keras.preprocessing
regularizers = tf.keras.regularizers
utils = tf.keras.utils
wrappers = tf.keras.wrappers
