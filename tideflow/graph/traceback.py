"""The user's line: which frames of the caller's program an operation was made in."""

import os
import sys

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_KEPT = 6  # frames of the user's program kept per operation, innermost first

Frame = tuple[str, int, str]  # file, line, function


def user_frames() -> tuple[Frame, ...]:
    """The innermost frames outside this package, innermost first."""
    frame = sys._getframe(1)
    frames = []
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            frames.append((code.co_filename, frame.f_lineno, code.co_name))
            if len(frames) == _KEPT:
                break
        frame = frame.f_back
    return tuple(frames)


def user_line(frames: tuple[Frame, ...]) -> str:
    """`file:line` of the innermost user frame, the place to look."""
    return f"{frames[0][0]}:{frames[0][1]}" if frames else "<unknown>"
