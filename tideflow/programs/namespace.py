"""The public namespace as data: what is at a path, which namespaces there are and what stands in them."""

from __future__ import annotations

import difflib
import functools
import types
from collections import defaultdict
from typing import Any

from tideflow import export, raw_ops

# What very old programs call by a name that went away before TensorFlow 1.0, or soon after.
RENAMED = {
    "audio_summary": "summary.audio",
    "batch_matmul": "matmul",
    "complex_abs": "abs",
    "concat_v2": "concat",
    "histogram_summary": "summary.histogram",
    "image_summary": "summary.image",
    "inv": "reciprocal",
    "listdiff": "setdiff1d",
    "merge_all_summaries": "summary.merge_all",
    "merge_summary": "summary.merge",
    "mul": "multiply",
    "neg": "negative",
    "pack": "stack",
    "python_io.TFRecordIterator": "python_io.tf_record_iterator",
    "scalar_summary": "summary.scalar",
    "select": "where",
    "sub": "subtract",
    "train.SummaryWriter": "summary.FileWriter",
    "unpack": "unstack",
}


class Missing(LookupError):
    """A path that leads nowhere."""


def _tree(path: str) -> dict[str, dict[str, Any]]:
    """The namespaces that are loaded, those on the way to `path` among them."""
    export.load(path)
    return _tree_of(len(export.symbols))


def _whole_tree() -> dict[str, dict[str, Any]]:
    export.load_all()
    return _tree_of(len(export.symbols))


@functools.lru_cache(maxsize=1)
def _tree_of(count: int) -> dict[str, dict[str, Any]]:
    """Namespaces by path, "" being tf itself: what stands in each by name, but for namespaces.

    Symbols are never taken away, so a tree of as many symbols as there are now is up to date.
    """
    tree: dict[str, dict[str, Any]] = defaultdict(dict)
    tree["raw_ops"] = {name: value for name, value in vars(raw_ops).items() if not name.startswith("_")}
    for path, value in export.symbols.items():
        space, _, name = path.rpartition(".")
        tree[space][name] = value
        while space:  # namespaces that hold nothing but namespaces are there too
            space = space.rpartition(".")[0]
            tree[space]
    return dict(tree)


def is_namespace(path: str) -> bool:
    """Whether a path ("nn", "contrib.layers", "" for tf itself) is a namespace."""
    return path in _tree(path) or export.holds_rooms(path)


def names(path: str) -> list[str]:
    """What stands in a namespace, its own namespaces included."""
    tree = _whole_tree()
    inner = {space[len(path) :].lstrip(".").split(".")[0] for space in tree if _is_below(space, path)}
    return sorted({*tree.get(path, ()), *inner})


def symbols(path: str) -> set[str]:
    """What stands in a namespace, but for namespaces."""
    return set(_whole_tree().get(path, ()))


def _is_below(space: str, path: str) -> bool:
    return space.startswith(f"{path}.") if path else bool(space)


def symbol(space: str, name: str) -> Any:
    """What stands in a namespace under a name; Missing where nothing does, or only a namespace."""
    try:
        return _tree(f"{space}.{name}".lstrip("."))[space][name]
    except KeyError:
        raise Missing(f"{space}.{name}" if space else name) from None


def resolve(path: str) -> Any:
    """What a dotted path leads to, members of classes and modules included; Missing where nothing is.

    A namespace's own value is its module.
    """
    space, rest = "", path.split(".")
    while (
        rest
        and (inner := f"{space}.{rest[0]}".lstrip("."))
        and is_namespace(inner)
        and not _holds(space, rest[0])
    ):
        space = inner
        rest.pop(0)
    if not rest:
        return types.ModuleType(f"tensorflow.{space}")
    value = symbol(space, rest[0])
    for name in rest[1:]:
        try:
            value = getattr(value, name)
        except AttributeError:
            raise Missing(path) from None
    return value


def _holds(space: str, name: str) -> bool:
    return name in _tree(space).get(space, ())


def nearest(path: str, count: int = 3) -> list[str]:
    """The paths that somebody who wrote `path` may have meant, the likeliest first."""
    if path in RENAMED:
        return [RENAMED[path]]
    space, _, name = path.rpartition(".")
    elsewhere = [f"{other}.{name}".lstrip(".") for other, values in _whole_tree().items() if name in values]
    elsewhere = [other for other in elsewhere if not other.startswith(("raw_ops.", "keras.", "compat."))]
    alike = difflib.get_close_matches(name, names(space), count, cutoff=0.6) if is_namespace(space) else []
    found = [f"{space}.{other}".lstrip(".") for other in alike]
    return [*sorted(elsewhere, key=len), *found][:count]
