"""Names of TensorFlow's inner modules of graphs, operations and sessions."""
