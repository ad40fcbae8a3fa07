"""Smaller names that tests and libraries take from inside Keras: `backend`, `base_layer_utils`,
`tf_utils` and others.
"""

from __future__ import annotations

import contextlib
from typing import Any

import tideflow as tf
from tideflow.keras import losses
from tideflow.keras.engine import data
from tideflow.keras.saving import hdf5
from tideflow.layers import keras_session, keras_state
from tideflow.layers import nodes as layer_nodes
from tideflow.variables.custom_objects import get_custom_objects

# ------------------------------------------------------------------------------------------------- backend

_GRAPH_VARIABLES = keras_session._variables
_get_session = keras_session.get_session
_current_graph = tf.get_default_graph


class _LearningPhases:
    """The learning phases of graphs, by the graph."""

    def __getitem__(self, graph: Any) -> Any:
        return keras_state.of_graph(graph).phase

    def __contains__(self, graph: Any) -> bool:
        return keras_state.of_graph(graph).phase is not None


_GRAPH_LEARNING_PHASES = _LearningPhases()


def track_tf_optimizer(tf_optimizer: Any) -> None:
    """Has Keras's session initialize the variables of an optimizer of `tf.train`.

    Args:
      tf_optimizer: What holds the optimizer.
    """
    for variable in tf_optimizer.optimizer.variables():
        keras_session.track_variable(variable)


def get_default_graph_uid_map() -> Any:
    """How many objects of the default graph took each name."""
    return keras_state.of_graph().names


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of a sum of exponentials.

    Args:
      x: A tensor.
      axis: The axes that are summed; all if None.
      keepdims: Whether they stay, with size 1.

    Returns:
      The tensor.
    """
    return tf.reduce_logsumexp(x, axis, keepdims)


# -------------------------------------------------------------------------------------------------- losses


def is_categorical_crossentropy(loss: Any) -> bool:
    """Whether a loss is the cross entropy of categories.

    Args:
      loss: A loss, its function, or its name.

    Returns:
      Whether it is.
    """
    function = losses.categorical_crossentropy
    return (
        isinstance(loss, losses.CategoricalCrossentropy)
        or getattr(loss, "fn", None) is function
        or loss is function
        or loss == "categorical_crossentropy"
    )


class _Endpoint:
    def __init__(self, loss: Any, shape: Any):
        self.loss, self.shape = loss, shape


def check_loss_and_target_compatibility(
    targets: list[Any], loss_fns: list[Any], output_shapes: list[Any]
) -> None:
    """Refuses targets that surely are not what losses want.

    Args:
      targets: An array, or None, for each output.
      loss_fns: The losses.
      output_shapes: The shapes of the outputs.

    Raises:
      ValueError: If one has another size.
    """
    ends = [_Endpoint(loss, shape) for loss, shape in zip(loss_fns, output_shapes, strict=True)]
    data.check_losses([None if tf.is_tensor(y) else y for y in targets], ends)


def get_metric_name(metric: Any, weighted: bool = False) -> str:
    """What the results of a metric are called.

    Args:
      metric: The metric, its function, or its name.
      weighted: Whether samples have weights.

    Returns:
      The name.
    """
    short = {"accuracy": "acc", "acc": "acc", "crossentropy": "ce", "ce": "ce"}
    if isinstance(metric, str) and metric in short:
        name = short[metric]
    else:
        found = tf.keras.metrics.get(metric)
        name = getattr(found, "name", None) or found.__name__
    return f"weighted_{name}" if weighted else name


# ------------------------------------------------------------------------------------------ base_layer_utils


def make_variable(
    name: str,
    shape: Any = None,
    dtype: Any = tf.float32,
    initializer: Any = None,
    trainable: bool | None = None,
    **options: Any,
) -> Any:
    """A variable of a layer.

    Args:
      name: Its name.
      shape: Its shape.
      dtype: Its type.
      initializer: What makes its first value: an initializer, its class, or a function.
      trainable: Whether it is trained.
      **options: Further arguments of `tf.Variable`; a partitioner is not used.

    Returns:
      The variable.
    """
    options.pop("partitioner", None)
    if isinstance(initializer, type):
        initializer = initializer()
    is_value = initializer is not None and not callable(initializer)
    first = (
        initializer
        if is_value
        else lambda: initializer(shape, dtype=dtype) if shape is not None else initializer()
    )
    return tf.Variable(first, name=name, dtype=dtype, trainable=trainable, **options)


def create_mean_metric(value: Any, name: str | None = None) -> tuple[Any, Any]:
    """A mean, and its result with a first value.

    Args:
      value: The value.
      name: The metric's name.

    Returns:
      The metric and the result.
    """
    metric = tf.keras.metrics.Mean(name=name)
    return metric, metric(value)


def uses_keras_history(tensors: Any) -> bool:
    """Whether a tensor is computed from the output of a layer.

    Args:
      tensors: The tensors.

    Returns:
      Whether one is.
    """
    seen: set[int] = set()
    left = [each for each in tf.nest.flatten(tensors) if tf.is_tensor(each)]
    while left:
        tensor = left.pop()
        if id(tensor) in seen or getattr(tensor, "is_eager", False):
            continue
        seen.add(id(tensor))
        if layer_nodes.is_keras_tensor(tensor):
            return True
        left.extend(tensor.op.inputs)
    return False


# -------------------------------------------------------------------------------------------------- tf_utils


class ListWrapper:
    """A list that counts as one leaf of a structure.

    Args:
      list_to_wrap: The list.
    """

    def __init__(self, list_to_wrap: list[Any]):
        self._list = list_to_wrap

    def as_list(self) -> list[Any]:
        """The list."""
        return self._list


def map_structure_with_atomic(is_atomic_fn: Any, map_fn: Any, nested: Any) -> Any:
    """The structure with what a function makes of its leaves.

    Args:
      is_atomic_fn: Whether a part is a leaf.
      map_fn: The function of a leaf.
      nested: The structure.

    Returns:
      The structure.

    Raises:
      ValueError: If a part is neither a leaf nor a structure.
    """
    if is_atomic_fn(nested):
        return map_fn(nested)
    if isinstance(nested, dict):
        return type(nested)(
            {key: map_structure_with_atomic(is_atomic_fn, map_fn, nested[key]) for key in nested}
        )
    if not isinstance(nested, (list, tuple)):
        raise ValueError(f"Received non-atomic and non-sequence element: {nested}")
    parts = [map_structure_with_atomic(is_atomic_fn, map_fn, part) for part in nested]
    return type(nested)(*parts) if hasattr(nested, "_fields") else type(nested)(parts)


def convert_inner_node_data(nested: Any, wrap: bool = False) -> Any:
    """A model's config with the lists that stand for tensors as ListWrappers, or back.

    Args:
      nested: The structure.
      wrap: Whether they become ListWrappers.

    Returns:
      The structure.
    """

    def is_node(part: Any) -> bool:
        return isinstance(part, list) and len(part) in (3, 4) and isinstance(part[0], str)

    def converted(part: Any) -> Any:
        if isinstance(part, ListWrapper):
            return part if wrap else part.as_list()
        return ListWrapper(part) if wrap and is_node(part) else part

    def is_leaf(part: Any) -> bool:
        return isinstance(part, ListWrapper) or is_node(part) or not tf.nest.is_nested(part)

    return map_structure_with_atomic(is_leaf, converted, nested)


def maybe_init_scope(layer: Any) -> contextlib.AbstractContextManager[Any]:
    """Makes a layer's variables outside of functions, where the layer works that way.

    Args:
      layer: The layer.

    Returns:
      The block.
    """
    return tf.init_scope()


# ----------------------------------------------------------------------------------------------- small ones


def class_and_config_for_serialized_keras_object(
    config: Any,
    module_objects: dict[str, Any] | None = None,
    custom_objects: dict[str, Any] | None = None,
    printable_module_name: str = "object",
) -> tuple[type, dict[str, Any]]:
    """The class and the arguments that a config describes.

    Args:
      config: The config.
      module_objects: Classes by name.
      custom_objects: The program's own classes by name.
      printable_module_name: What the objects are, in errors.

    Returns:
      The class and its config.

    Raises:
      ValueError: If it is no config, or of an unknown class.
    """
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    name = config["class_name"]
    for known in (custom_objects, get_custom_objects(), module_objects):
        if known and name in known:
            return known[name], config["config"]
    raise ValueError(f"Unknown {printable_module_name}: {name}")


def ask_to_proceed_with_overwrite(filepath: str) -> bool:
    """Asks a person whether a file may be overwritten.

    Args:
      filepath: The file.

    Returns:
      The answer.
    """
    answer = ""
    while answer not in ("y", "n"):
        answer = input(f"[WARNING] {filepath} already exists - overwrite? [y/n]").strip().lower()
    if answer == "y":
        print("[TIP] Next time specify overwrite=True!")
    return answer == "y"


def save_attributes_to_hdf5_group(group: Any, name: str, data: list[Any]) -> None:
    """Writes names as an attribute of a file's group.

    Args:
      group: The group.
      name: The attribute.
      data: The names.
    """
    hdf5._write_names(group, name, [each.decode() if isinstance(each, bytes) else each for each in data])


def load_attributes_from_hdf5_group(group: Any, name: str) -> list[str]:
    """Reads names from an attribute of a file's group.

    Args:
      group: The group.
      name: The attribute.

    Returns:
      The names.
    """
    return hdf5._read_names(group, name)
