"""The targets of sessions: where steps run that do not run in this process alone."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.session.executor import Executor


class Scheme(NamedTuple):
    """How targets of one kind are reached: `connect(address, graph, config)` gives the executor of a session
    there, `reset(address, containers, config)` clears the state.
    """

    connect: Callable[[str, Graph, ConfigProto | None], Executor]
    reset: Callable[[str, Sequence[str], ConfigProto | None], None]


_schemes: dict[str, Scheme] = {}
_modules: dict[str, str] = {}


def register_scheme(name: str, scheme: Scheme) -> None:
    """Targets `name://address` are reached this way."""
    _schemes[name] = scheme


def load_scheme_when_asked_for(module: str, name: str) -> None:
    """The first target `name://address` loads the module that registers the scheme."""
    _modules[name] = module


def connect(target: str | bytes, graph: Graph, config: ConfigProto | None) -> Executor:
    """The executor of a session on this target."""
    scheme, address = _resolved(target)
    return scheme.connect(address, graph, config)


def reset(target: str | bytes, containers: Sequence[str], config: ConfigProto | None) -> None:
    """Clears the state that sessions on this target have left."""
    scheme, address = _resolved(target)
    scheme.reset(address, containers, config)


def _resolved(target: str | bytes) -> tuple[Scheme, str]:
    text = target.decode() if isinstance(target, bytes) else target
    name, separator, address = text.partition("://")
    if separator and name in _modules:
        importlib.import_module(_modules[name])
    if not separator or name not in _schemes:
        known = ", ".join(f"{name}://host:port" for name in {**_modules, **_schemes})
        raise errors.not_found(
            f'No session factory registered for the given session options: {{target: "{text}" config: }} '
            "Registered factories are {DIRECT_SESSION, GRPC_SESSION}. A target is what a tf.train.Server "
            f"says of itself ({known}), or empty for this process alone.",
        )
    return _schemes[name], address
