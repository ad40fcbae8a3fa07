"""Names that libraries take from TensorFlow's inner modules of summaries."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Any

from tideflow.graph.scopes import add_to_collection
from tideflow.summary import functions

_INVALID_SCOPE_CHARACTERS = re.compile(r"[^-_/.A-Za-z0-9]")


def skip_summary() -> bool:
    """Whether this replica leaves summaries to another one: never, since each is recorded once."""
    return False


def summary_scope(
    name: str, family: str | None = None, default_name: str | None = None, values: Sequence[Any] | None = None
) -> contextlib.AbstractContextManager[tuple[str, str]]:
    """A scope for a summary op: its tag, and the scope's name.

    Args:
      name: The name of the summary.
      family: A prefix of the tag, which groups summaries.
      default_name: The scope's name where `name` is None.
      values: The tensors that are summed up.

    Returns:
      A context manager, which yields both.
    """
    return functions.tagged(name, family, values or [], default_name)


def collect(val: Any, collections: Sequence[str] | None, default_collections: Sequence[str]) -> None:
    """Adds a summary to collections.

    Args:
      val: The summary.
      collections: The collections; None for the default ones.
      default_collections: Those.
    """
    for key in default_collections if collections is None else collections:
        add_to_collection(key, val)
