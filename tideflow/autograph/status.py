"""Whether AutoGraph converts what is called now, as a program says by `with` blocks, thread by thread."""

from __future__ import annotations

import enum
import threading
from typing import Any

from tideflow.graph import traceback


class Status(enum.Enum):
    """What a block says."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class _Blocks(threading.local):
    def __init__(self) -> None:
        self.entered = [ControlStatusCtx(Status.UNSPECIFIED)]


class ControlStatusCtx:
    """A block inside of which functions are converted or, if it says DISABLED, called as they are.

    Args:
      status: What the block says.
      options: Options of the conversion, which tests look at.
    """

    def __init__(self, status: Status, options: Any = None):
        self.status, self.options = status, options

    def __enter__(self) -> ControlStatusCtx:
        _blocks.entered.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        if _blocks.entered[-1] is not self:
            raise AssertionError("Blocks that say whether functions are converted end in their order")
        _blocks.entered.pop()

    def __repr__(self) -> str:
        return f"{type(self).__name__}[status={self.status}, options={self.options}]"


_blocks = _Blocks()


def is_disabled() -> bool:
    """Whether the innermost block of this thread says that nothing is converted."""
    return _blocks.entered[-1].status is Status.DISABLED


def control_status_ctx() -> ControlStatusCtx:
    """The innermost block of this thread, or one that says whether the function that runs was converted."""
    block, converts = _blocks.entered[-1], traceback.runs_converted()
    if block.status is not Status.UNSPECIFIED or converts is None:
        return block
    return ControlStatusCtx(Status.ENABLED if converts else Status.DISABLED)
