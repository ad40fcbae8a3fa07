"""`tf.autograph`: Python's control flow as graph.

A function is converted from its source (`sources.py`). `list_syntax.py` and `jumps.py` change its tree such
that each statement ends at its end, and `liveness.py` finds which variables matter where. Then `rewriting.py`
makes functions of the bodies of statements, and calls of operators (`operators.py`) of the statements. These
look at what they are given when they run: tensors make graph, anything else is plain Python. `conversion.py`
keeps the converted code, `calls.py` decides what is converted.
"""

from tideflow.autograph import verbosity  # noqa: F401
from tideflow.autograph.api import tf_convert

__all__ = ["tf_convert"]
