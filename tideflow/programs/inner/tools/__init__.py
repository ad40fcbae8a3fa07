"""`tensorflow.python.tools`: programs for graphs and SavedModels."""
