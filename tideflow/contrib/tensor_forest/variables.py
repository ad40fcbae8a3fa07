"""Trees and what their leaves know, as variables that sessions share and checkpoints keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection
from tideflow.ops.forests import statistics, trees
from tideflow.train.resource_registry import register_resource
from tideflow.train.saveables import SaveableObject, SaveSpec

if TYPE_CHECKING:
    from tideflow.contrib.tensor_forest.graphs import ForestHParams


@export("contrib.tensor_forest.model_ops.TreeVariableSavable")
class TreeVariableSavable(SaveableObject):
    """How checkpoints keep a tree.

    Args:
      params: The forest's parameters.
      tree_handle: A tensor, the tree's handle.
      stats_handle: A tensor, the handle of its statistics; None if it does not grow.
      create_op: The operation that makes the tree, before it is filled.
      name: The name in checkpoints.
    """

    def __init__(
        self,
        params: ForestHParams,
        tree_handle: Tensor,
        stats_handle: Tensor | None,
        create_op: Operation,
        name: str,
    ):
        self.params = params
        super().__init__(tree_handle, [SaveSpec(trees.serialize_tree_op(tree_handle), "", name)], name)
        self._handle, self._create_op = tree_handle, create_op

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any = None) -> Operation:
        """Makes the operation that fills the tree.

        Args:
          restored_tensors: The serialized tree.
          restored_shapes: Not used.
        """
        with tf.control_dependencies([self._create_op]):
            params = self.params.serialized_params_proto
            return trees.deserialize_tree_op(self._handle, restored_tensors[0], params=params)


@export("contrib.tensor_forest.stats_ops.FertileStatsVariableSavable")
class FertileStatsVariableSavable(SaveableObject):
    """How checkpoints keep what the leaves of a tree know.

    Args:
      params: The forest's parameters.
      stats_handle: A tensor, the handle of the statistics.
      create_op: The operation that makes them, before they are filled.
      name: The name in checkpoints.
    """

    def __init__(self, params: ForestHParams, stats_handle: Tensor, create_op: Operation, name: str):
        self.params = params
        kept = statistics.serialize_stats_op(stats_handle, params=params.serialized_params_proto)
        super().__init__(stats_handle, [SaveSpec(kept, "", name)], name)
        self._handle, self._create_op = stats_handle, create_op

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any = None) -> Operation:
        """Makes the operation that fills the statistics.

        Args:
          restored_tensors: The serialized statistics.
          restored_shapes: Not used.
        """
        with tf.control_dependencies([self._create_op]):
            params = self.params.serialized_params_proto
            return statistics.deserialize_stats_op(self._handle, restored_tensors[0], params=params)


@export("contrib.tensor_forest.model_ops.TreeVariable")
class TreeVariable:
    """A tree that sessions share by name.

    Args:
      params: The forest's parameters.
      tree_config: A serialized tree to start with; a single leaf if empty.
      stats_handle: A tensor, the handle of its statistics; None if it does not grow.
      name: Its name.
      container: The container of its resource.
    """

    def __init__(
        self,
        params: ForestHParams,
        tree_config: str | bytes,
        stats_handle: Tensor | None,
        name: str,
        container: str | None = None,
    ):
        self._params, self._stats_handle = params, stats_handle
        self.resource_handle = trees.tree_handle_op(container=container or "", shared_name=name, name=name)
        self.initializer = trees.create_tree_op(
            self.resource_handle, tree_config, params=params.serialized_params_proto
        )

    def is_initialized(self) -> Tensor:
        """Whether the tree was made, a boolean scalar."""
        return trees.tree_is_initialized_op(self.resource_handle)

    def saveable(self, name: str) -> TreeVariableSavable:
        """How checkpoints keep it.

        Args:
          name: The name in checkpoints.
        """
        return TreeVariableSavable(
            self._params, self.resource_handle, self._stats_handle, self.initializer, name
        )


@export("contrib.tensor_forest.stats_ops.FertileStatsVariable")
class FertileStatsVariable:
    """What the leaves of a tree know, which sessions share by name.

    Args:
      params: The forest's parameters.
      stats_config: Serialized statistics to start with; none if empty.
      name: Its name.
      container: The container of its resource.
    """

    def __init__(
        self, params: ForestHParams, stats_config: str | bytes, name: str, container: str | None = None
    ):
        self._params = params
        self.resource_handle = statistics.stats_handle_op(
            container=container or "", shared_name=name, name=name
        )
        self.initializer = statistics.create_stats_op(
            self.resource_handle, stats_config, params=params.serialized_params_proto
        )

    def is_initialized(self) -> Tensor:
        """Whether the statistics were made, a boolean scalar."""
        return statistics.stats_are_initialized_op(self.resource_handle)

    def saveable(self, name: str) -> FertileStatsVariableSavable:
        """How checkpoints keep them.

        Args:
          name: The name in checkpoints.
        """
        return FertileStatsVariableSavable(self._params, self.resource_handle, self.initializer, name)


def _registered(variable: TreeVariable | FertileStatsVariable) -> Tensor:
    handle = variable.resource_handle
    is_initialized = variable.is_initialized()
    add_to_collection(GraphKeys.SAVEABLE_OBJECTS, variable.saveable(handle.name))
    register_resource(handle, variable.initializer, is_initialized)
    return handle


@export("contrib.tensor_forest.model_ops.tree_variable")
def tree_variable(
    params: ForestHParams,
    tree_config: str | bytes,
    stats_handle: Tensor | None,
    name: str,
    container: str | None = None,
) -> Tensor:
    """Makes a tree that checkpoints keep and that is initialized with the graph's resources.

    Args:
      params: The forest's parameters.
      tree_config: A serialized tree to start with; a single leaf if empty.
      stats_handle: A tensor, the handle of its statistics; None if it does not grow.
      name: Its name.
      container: The container of its resource.

    Returns:
      The tree's handle.
    """
    with tf.name_scope(name, "TreeVariable") as scope:
        return _registered(TreeVariable(params, tree_config, stats_handle, scope, container))


@export("contrib.tensor_forest.stats_ops.fertile_stats_variable")
def fertile_stats_variable(
    params: ForestHParams, stats_config: str | bytes, name: str, container: str | None = None
) -> Tensor:
    """Makes what the leaves of a tree know, kept in checkpoints and initialized with the graph's resources.

    Args:
      params: The forest's parameters.
      stats_config: Serialized statistics to start with; none if empty.
      name: Its name.
      container: The container of its resource.

    Returns:
      The handle of the statistics.
    """
    with tf.name_scope(name, "FertileStatsVariable") as scope:
        return _registered(FertileStatsVariable(params, stats_config, scope, container))
