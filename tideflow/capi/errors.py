"""What a C caller is told of an exception: a code and a message."""

from __future__ import annotations

from tideflow.graph import errors

_CODES: list[tuple[type[BaseException], int]] = [  # the first that fits
    (NotImplementedError, errors.UNIMPLEMENTED),
    (MemoryError, errors.RESOURCE_EXHAUSTED),
    (FileNotFoundError, errors.NOT_FOUND),
    (PermissionError, errors.PERMISSION_DENIED),
    (RuntimeError, errors.FAILED_PRECONDITION),
    (KeyError, errors.INVALID_ARGUMENT),
    (IndexError, errors.OUT_OF_RANGE),
    (LookupError, errors.NOT_FOUND),  # an operation without gradient
    (ValueError, errors.INVALID_ARGUMENT),
    (TypeError, errors.INVALID_ARGUMENT),
    (KeyboardInterrupt, errors.CANCELLED),
]


def status_of(error: BaseException) -> tuple[int, str]:
    """The code and the message of a TF_Status.

    Args:
      error: What a call has raised.
    """
    if isinstance(error, errors.OpError):
        at = "" if error.op is None else f"\n\t [[{{{{node {error.op.name}}}}}]]"
        return error.error_code, f"{error.message}{at}"
    code = next((code for kind, code in _CODES if isinstance(error, kind)), errors.INTERNAL)
    return code, str(error) or type(error).__name__
