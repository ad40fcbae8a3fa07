"""The op types by name.

The modules of `tideflow.ops` register their op types when they are imported. The first lookup imports all of
them.
"""

from __future__ import annotations

import importlib
import socket
from typing import TYPE_CHECKING

from tideflow.graph import errors

if TYPE_CHECKING:
    from tideflow.graph.op import Op

_VOCABULARY = "tideflow.ops"

_definitions: dict[str, Op] = {}
_unlisted: dict[str, Op] = {}  # known by their names, and in no list of op types


def register(op: Op) -> None:
    """Adds an op type. Raises ValueError if there is one of the same name."""
    if op.name in _definitions:
        raise ValueError(f"op type {op.name!r} is defined twice")
    _definitions[op.name] = op


def register_unlisted(op: Op) -> None:
    """Adds an op type that graphs may have, but that is none of those Tideflow offers."""
    _unlisted[op.name] = op


def definition(op_type: str) -> Op:
    """The definition of an op type. Raises NotFoundError if there is none of this name."""
    if op_type not in _definitions:
        importlib.import_module(_VOCABULARY)
    try:
        return _definitions.get(op_type) or _unlisted[op_type]
    except KeyError:
        raise errors.not_found(
            f"Op type not registered '{op_type}' in binary running on {socket.gethostname()}. Make sure the "
            "Op and Kernel are registered in the binary running in this process. Note that if you are "
            "loading a saved graph which used ops from tf.contrib, accessing (e.g.) `tf.contrib.resampler` "
            "should be done before importing the graph, as contrib ops are lazily registered when the module "
            "is first accessed."
        ) from None


def role_of(op_type: str) -> str:
    """The role of an op type; "" if it has none or is not registered."""
    op = definitions().get(op_type)
    return "" if op is None else op.role


def definitions() -> dict[str, Op]:
    """All registered op types, by name."""
    importlib.import_module(_VOCABULARY)
    return _definitions
