"""Which operations run, and how often: conditionals, loops, calls, TensorArrays, ordering."""
