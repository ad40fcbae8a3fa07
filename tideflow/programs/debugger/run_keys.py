"""The names of what a step fetches and is fed, as one text: the key of the step."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

GRPC_URL_PREFIX = "grpc://"


class RunKey(NamedTuple):
    """The names of feeds and of fetches."""

    feed_names: list[str]
    fetch_names: list[str]


def get_graph_element_name(elem: Any) -> str:
    """The name of a tensor, an operation or a variable; of anything else, what it is as a text."""
    return elem.name if hasattr(elem, "name") else str(elem)


def get_flattened_names(feeds_or_fetches: Any) -> list[str]:
    """The names in lists, tuples and the values of dictionaries.

    Args:
      feeds_or_fetches: A structure of tensors, operations, variables and names.

    Returns:
      The names.
    """
    if isinstance(feeds_or_fetches, dict):
        feeds_or_fetches = list(feeds_or_fetches.values())
    if isinstance(feeds_or_fetches, (list, tuple)):
        return [name for item in feeds_or_fetches for name in get_flattened_names(item)]
    return [get_graph_element_name(feeds_or_fetches)]


def get_run_key(feed_dict: Any, fetches: Any) -> str:
    """The key of a step.

    Args:
      feed_dict: What it is fed.
      fetches: What it fetches.

    Returns:
      A text in JSON.
    """
    return json.dumps(RunKey(get_flattened_names(feed_dict), get_flattened_names(fetches)))
