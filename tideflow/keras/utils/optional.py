"""Packages that only some functions need."""

from __future__ import annotations

from typing import Any


def require_yaml() -> Any:
    """The package of YAML."""
    try:
        import yaml  # loaded when asked for
    except ImportError:
        raise ImportError("Requires yaml module installed (`pip install pyyaml`).") from None
    return yaml
