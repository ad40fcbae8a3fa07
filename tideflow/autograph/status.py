"""Whether AutoGraph converts what is called now, as a program says by `with` blocks, thread by thread."""

from __future__ import annotations

import enum
import threading
from typing import Any


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


def control_status_ctx() -> ControlStatusCtx:
    """The innermost block of this thread."""
    return _blocks.entered[-1]
