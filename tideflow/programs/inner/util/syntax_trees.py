"""What libraries subclass of `tensorflow.python.autograph.pyct`: visitors of syntax trees.

AutoGraph's own passes are not there: `tideflow.autograph` converts functions by others.
"""

from __future__ import annotations

import ast
from typing import Any


class Base(ast.NodeTransformer):
    """A pass over a function's syntax tree, which may replace nodes.

    Args:
      ctx: What the pass knows of the function.
    """

    def __init__(self, ctx: Any):
        self.ctx = ctx
