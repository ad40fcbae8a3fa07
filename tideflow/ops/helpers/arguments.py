"""Arguments that have had more than one name, and lists that may be given short."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any


def renamed(new_name: str, new: Any, old_name: str, old: Any) -> Any:
    """The value of an argument that may come under its new or its deprecated name, but not under both."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old


def are_integers(value: Any) -> bool:
    """Whether a value is a list or tuple of Python's integers alone."""
    if type(value) is not list and type(value) is not tuple:
        return False
    for item in value:  # noqa: SIM110 (`all` takes twice as long, and eager mode asks often)
        if type(item) is not int:
            return False
    return True


def per_axis(value: Any, spatial_rank: int, channels_first: bool, name: str) -> list[int]:
    """One number for every axis of an image, from one number, one for each spatial axis, or all of them."""
    values = [1] if value is None else list(value) if isinstance(value, Sized) else [value]
    if len(values) == spatial_rank + 2:
        return values
    if len(values) == 1:
        values = values * spatial_rank
    if len(values) != spatial_rank:
        raise ValueError(
            f"{name} should be of length 1, {spatial_rank} or {spatial_rank + 2} but was {len(values)}"
        )
    return [1, 1, *values] if channels_first else [1, *values, 1]
