"""The user's line: which frames of the caller's program an operation was made in."""

import os
import sys
import weakref
from types import CodeType, FrameType

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_KEPT = 6  # frames of the user's program kept per operation, innermost first

# The code and the offset in it. `file_and_line` finds the line when it is needed.
Frame = tuple[CodeType, int]

# What runs a user's program and is none of it: this package, Python's import system and `python -m`.
_MACHINERY = (_PACKAGE, "<frozen ")
# Where `tideflow run`, or IPython, calls the user's code: what is further out is not the user's.
_ENTRANCES = (
    os.path.join(_PACKAGE, "programs", "run.py"),
    os.path.join("IPython", "core", "interactiveshell.py"),
)

_KEEP, _SKIP, _STOP = range(3)
_kinds: dict[CodeType, int] = {}


def is_of_package(code: CodeType) -> bool:
    """Whether the code is this package's own."""
    return code.co_filename.startswith(_PACKAGE)


def user_frames() -> tuple[Frame, ...]:
    """The innermost frames of the user's program, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    frames = []
    while frame is not None:
        code = frame.f_code
        kind = _kinds[code] if code in _kinds else _kind(code)
        if kind == _KEEP:
            frames.append((code, frame.f_lasti))
            if len(frames) == _KEPT:
                break
        elif kind == _STOP:
            break
        frame = frame.f_back
    return tuple(frames)


def defining_frame() -> Frame:
    """The frame in which the caller's caller defines an op.

    For an op of this package it is the line of its module, even if that line calls a function that makes
    families of ops; for a user's own op it is the user's innermost line.
    """
    frame = sys._getframe(2)
    if not is_of_package(frame.f_code):
        return user_frames()[0]
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


def _kind(code: CodeType) -> int:
    file = code.co_filename
    kind = _STOP if file.endswith(_ENTRANCES) else _SKIP if file.startswith(_MACHINERY) else _KEEP
    _kinds[code] = kind
    return kind


# Code that AutoGraph has made (True), or that says that what it calls is not to be converted (False).
converted: weakref.WeakKeyDictionary[CodeType, bool] = weakref.WeakKeyDictionary()


def runs_converted() -> bool | None:
    """Whether AutoGraph converts the code that runs; None where nobody has said so."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in converted:
            return converted[frame.f_code]
        frame = frame.f_back
    return None


def file_and_line(frame: Frame) -> tuple[str, int]:
    """The file and the line that a frame was at."""
    code, offset = frame
    line = next((line for start, end, line in code.co_lines() if start <= offset < end), None)
    return code.co_filename, line or code.co_firstlineno


def user_line(frames: tuple[Frame, ...]) -> str:
    """`file:line` of the innermost user frame: the line that error messages name."""
    return "{}:{}".format(*file_and_line(frames[0])) if frames else "<unknown>"
