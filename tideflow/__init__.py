"""Tideflow: TensorFlow 1's dataflow graphs on today's kernels.

`import tideflow as tf`, and the program runs as it is. The first public name that is asked for loads the
rooms (`rooms.py`), and torch with them; commands that need no kernels never do.
"""

import sys

from tideflow import (
    export,
    process,  # noqa: F401 - its settings are made before torch is loaded
)
from tideflow._version import __version__  # noqa: F401

sys.modules[__name__].__class__ = export.Namespace
sys.meta_path.append(export.NamespaceFinder())
