"""Names of `tensorflow.python.framework.errors_impl` that are not public."""

from __future__ import annotations

import warnings
from typing import Any

from tideflow.graph import errors


def _make_specific_exception(node_def: Any, op: Any, message: str, error_code: int) -> errors.OpError:
    """The error with a code; an UnknownError, with a warning, for codes that nobody knows."""
    try:
        return errors.exception_type_from_error_code(error_code)(node_def, op, message)
    except KeyError:
        warnings.warn(f"Unknown error code: {error_code}", stacklevel=2)
        return errors.UnknownError(node_def, op, message, error_code)
