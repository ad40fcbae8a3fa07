"""Names of TensorFlow's inner modules of Keras and of layers."""
