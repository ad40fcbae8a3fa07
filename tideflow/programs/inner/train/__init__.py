"""Names of TensorFlow's inner modules of training: variables, checkpoints, summaries, estimators, tasks."""
