"""The op types of `tf.data`: datasets, transformations and iterators."""
