"""What the inner modules of `tensorflow.contrib` have beside its public names."""
