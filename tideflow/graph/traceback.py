"""The user's line: which frames of the caller's program an operation was made in."""

import os
import sys
from types import CodeType, FrameType

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_KEPT = 6  # frames of the user's program kept per operation, innermost first

Frame = tuple[
    CodeType, int
]  # the code and the offset in it; `file_and_line` finds the line, when it is needed

_is_ours: dict[CodeType, bool] = {}


def is_of_package(code: CodeType) -> bool:
    """Whether the code is this package's own."""
    ours = _is_ours.get(code)
    if ours is None:
        ours = _is_ours[code] = code.co_filename.startswith(_PACKAGE)
    return ours


def user_frames() -> tuple[Frame, ...]:
    """The innermost frames outside this package, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    frames = []
    while frame is not None:
        code = frame.f_code
        if not (_is_ours[code] if code in _is_ours else is_of_package(code)):
            frames.append((code, frame.f_lasti))
            if len(frames) == _KEPT:
                break
        frame = frame.f_back
    return tuple(frames)


def file_and_line(frame: Frame) -> tuple[str, int]:
    """The file and the line that a frame was at."""
    code, offset = frame
    line = next((line for start, end, line in code.co_lines() if start <= offset < end), None)
    return code.co_filename, line or code.co_firstlineno


def user_line(frames: tuple[Frame, ...]) -> str:
    """`file:line` of the innermost user frame: the line that error messages name."""
    return "{}:{}".format(*file_and_line(frames[0])) if frames else "<unknown>"
