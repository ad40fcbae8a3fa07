"""Where sessions run that are not of this process alone: what a session's `target` names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tideflow.graph import errors
from tideflow.graph.graph import Graph


class Scheme(NamedTuple):
    """How targets of a kind are reached: `connect(address, graph, config)` gives what runs a session's steps
    there (`compile`, `devices`, `gone`, `close`), `reset(address, containers, config)` clears the state.
    """

    connect: Callable[[str, Graph, Any], Any]
    reset: Callable[[str, Sequence[str], Any], None]


_schemes: dict[str, Scheme] = {}


def register_scheme(name: str, scheme: Scheme) -> None:
    """Targets `name://address` are reached this way."""
    _schemes[name] = scheme


def connect(target: str, graph: Graph, config: Any) -> Any:
    """What runs the steps of a session on this target."""
    scheme, address = _resolved(target)
    return scheme.connect(address, graph, config)


def reset(target: str, containers: Sequence[str], config: Any) -> None:
    """Clears the state that sessions on this target have left."""
    scheme, address = _resolved(target)
    scheme.reset(address, containers, config)


def _resolved(target: str | bytes) -> tuple[Scheme, str]:
    text = target.decode() if isinstance(target, bytes) else target
    name, separator, address = text.partition("://")
    if not separator or name not in _schemes:
        known = ", ".join(f"{name}://host:port" for name in _schemes)
        raise errors.not_found(
            f"No session factory registered for the given session options: {{target: {text!r}}}. A target is "
            f"what a tf.train.Server says of itself ({known}), or empty for this process alone.",
        )
    return _schemes[name], address
