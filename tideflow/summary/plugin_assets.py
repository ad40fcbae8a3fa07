"""Assets of TensorBoard's plugins: files that a graph's plugins put beside its event files."""

from __future__ import annotations

import abc
import os
from typing import ClassVar, TypeVar

from tideflow.graph.graph import Graph
from tideflow.graph.scopes import get_default_graph

_PREFIX = "__tensorboard_plugin_asset__"
_PLUGINS_DIR = "plugins"


class PluginAsset(abc.ABC):
    """What a plugin wants written when a graph is. A subclass gives its plugin's name."""

    plugin_name: ClassVar[str | None] = None

    @abc.abstractmethod
    def assets(self) -> dict[str, str]:
        """The contents of the plugin's files by name."""


Asset = TypeVar("Asset", bound=PluginAsset)


def get_plugin_asset(plugin_asset_cls: type[Asset], graph: Graph | None = None) -> Asset:
    """The one asset of a class that a graph has; it is made when it is first asked for.

    Args:
      plugin_asset_cls: The class.
      graph: The graph; by default the default graph.

    Returns:
      The asset.

    Raises:
      ValueError: If the class gives no name, or another class has the same.
    """
    graph = get_default_graph() if graph is None else graph
    if not plugin_asset_cls.plugin_name:
        raise ValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    key = _PREFIX + plugin_asset_cls.plugin_name
    if not graph.get_collection(key):
        graph.add_to_collection(key, plugin_asset_cls())
        graph.add_to_collection(_PREFIX, plugin_asset_cls.plugin_name)
    found = _only(graph, plugin_asset_cls.plugin_name)
    if not isinstance(found, plugin_asset_cls):
        names = f"{plugin_asset_cls.__name__} and {type(found).__name__}"
        raise ValueError(f"Plugin name collision between classes {names}")
    return found


def get_all_plugin_assets(graph: Graph | None = None) -> list[PluginAsset]:
    """Every asset of a graph.

    Args:
      graph: The graph; by default the default graph.

    Returns:
      The assets.
    """
    graph = get_default_graph() if graph is None else graph
    return [_only(graph, name) for name in graph.get_collection(_PREFIX)]


def _only(graph: Graph, plugin_name: str) -> PluginAsset:
    found = graph.get_collection(_PREFIX + plugin_name)
    if len(found) != 1:
        raise ValueError(f"Collection for {_PREFIX}{plugin_name} had {len(found)} items, expected 1")
    return found[0]


def write_plugin_assets(graph: Graph, logdir: str) -> None:
    """Writes the assets of a graph's plugins to plugins/<plugin>/<name> below a directory."""
    for asset in get_all_plugin_assets(graph):
        folder = os.path.join(logdir, _PLUGINS_DIR, str(asset.plugin_name))
        os.makedirs(folder, exist_ok=True)
        for name, contents in asset.assets().items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(contents)
