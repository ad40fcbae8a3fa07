"""`tensorflow.contrib.learn.python.learn.experiment`: an attribute that comes back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def _new_attr_context(obj: Any, attr: str) -> Iterator[None]:
    """Within the context an attribute may be set; it is what it was afterwards."""
    before = getattr(obj, attr)
    try:
        yield
    finally:
        setattr(obj, attr, before)
