"""Names of TensorFlow's inner modules of distributions and of linear operators."""
