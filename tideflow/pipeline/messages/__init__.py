"""The messages of TensorFlow Metadata and Model Analysis, in a package of their own."""
