"""Which errors reach a program in words that are not ours: torch's, NumPy's or Python's own.

`python -m tests.ops.raw_errors` runs every refusal of the op table and lists those errors.
"""

from __future__ import annotations

import dis
import os
import re
from collections.abc import Iterator
from types import TracebackType

import tideflow as tf
from tests.ops.cases import arrays, build, split_attrs, vocabulary

EXPECTED = (tf.errors.OpError, ValueError, TypeError)  # the types that an op refuses with
_PACKAGE = os.path.dirname(tf.__file__)
_RAISE = dis.opmap["RAISE_VARARGS"]
_FOREIGN_WORDS = re.compile(
    r"Dimension out of range|size mismatch, m1|self must be|out of bounds for dimension|TORCH_CHECK|NoneType"
    r"|object has no attribute|INTERNAL ASSERT|unsupported operand|Traceback|\.cpp\b|\.cu\b|alloc_cpu"
    r"|Storage size calculation|positional argument|not subscriptable|torch\.\w+Tensor"
)


def is_raw(error: BaseException) -> bool:
    """Whether no line of the package chose the type or the words of this error."""
    if not isinstance(error, EXPECTED) or _FOREIGN_WORDS.search(str(error)):
        return True
    last = _last(error.__traceback__)
    if error.__cause__ is not None and last is not None and last.tb_frame.f_code.co_name == "fail":
        # It is of a step, and may repeat the words of what the kernel raised.
        cause = error.__cause__
        words = str(cause).strip() or type(cause).__name__
        return str(error).startswith(words.splitlines()[0]) and not _is_raised(_last(cause.__traceback__))
    return not _is_raised(last)


def _is_raised(trace: TracebackType | None) -> bool:
    """Whether a `raise` of the package is where the exception comes from."""
    if trace is None or not trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE


def _last(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def told(error: BaseException) -> str:
    """The error in a line: its type, its first words, and where they come from."""
    last = _last((error.__cause__ or error).__traceback__)
    place = f"{last.tb_frame.f_code.co_filename}:{last.tb_lineno}" if last else "nowhere"
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]} (from {place})"


def raw_refusals() -> Iterator[str]:
    """The refusals of the op table that are not in our words, a line each."""
    for op in vocabulary().values():
        for number, (sample, _, _) in enumerate(op.refusals, 1):
            inputs, attrs = split_attrs(sample)
            for how in ("known", "unknown", "computed"):
                try:
                    with tf.Graph().as_default() as graph:
                        built = build(op, inputs, arrays(inputs), attrs, how)
                    with tf.Session(graph=graph) as session:
                        built.run(session)
                except Exception as error:
                    if is_raw(error):
                        yield f"{op.name}-refusal-{number}, {how}: {told(error)}"


if __name__ == "__main__":
    for line in raw_refusals():
        print(line)
