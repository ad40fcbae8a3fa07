"""What TensorFlow's inner modules have beside its public names: libraries and unit tests import it.

`programs/modules.py` says which inner module finds its names where.
"""
