"""What tests and libraries take from Keras's inner modules about layers: `base_layer_utils`, `tf_utils`,
`input_spec`, `recurrent` and `models`.
"""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.keras.engine.legacy import refuse_legacy_layers
from tideflow.keras.layers import recurrent
from tideflow.keras.models import copied
from tideflow.layers import keras_graph, keras_state, precision
from tideflow.layers.input_spec import check_inputs
from tideflow.layers.nodes import is_keras_tensor
from tideflow.layers.op_layers import wrap_operations

_standardize_args = recurrent.separated
_clone_layer = copied
assert_no_legacy_layers = refuse_legacy_layers
create_keras_history = wrap_operations
is_in_keras_graph = keras_graph.in_keras_graph
v2_dtype_behavior_enabled = precision.v2_dtypes


def enable_v2_dtype_behavior() -> None:
    """New layers have Keras's type, and cast floating-point inputs to it."""
    precision.set_v2_dtypes(True)


def disable_v2_dtype_behavior() -> None:
    """New layers take the type of their first inputs."""
    precision.set_v2_dtypes(False)


def have_all_keras_metadata(iterable_or_element: Any) -> bool:
    """Whether all tensors are outputs of layers that know their inputs.

    Args:
      iterable_or_element: A tensor, or a list of them.

    Returns:
      Whether they are.
    """
    given = iterable_or_element
    return all(is_keras_tensor(each) for each in (given if isinstance(given, (list, tuple)) else [given]))


def generate_placeholders_from_shape(shape: Any) -> tf.Tensor:
    """A placeholder of a shape, of Keras's type.

    Args:
      shape: The shape.

    Returns:
      The placeholder.
    """
    return tf.placeholder(tf.as_dtype(keras_state.floatx()), shape)


def is_in_tf_function() -> bool:
    """Whether a `tf.function` is being traced, and no model connected."""
    return tf.get_default_graph().building_function and not keras_graph.in_keras_graph()


def is_in_eager_or_tf_function() -> bool:
    """Whether operations run at once, or will in a `tf.function`."""
    return tf.executing_eagerly() or is_in_tf_function()


def is_subclassed(layer: Any) -> bool:
    """Whether a program wrote a layer or model, and not Keras.

    Args:
      layer: The layer.

    Returns:
      Whether it did.
    """
    return not type(layer).__module__.startswith("tideflow.")


def needs_keras_history(tensors: Any) -> bool:
    """Whether tensors of a graph are computed from Keras's, by operations and not by layers.

    Args:
      tensors: The tensors.

    Returns:
      Whether they are.
    """
    flat = [each for each in tf.nest.flatten(tensors) if isinstance(each, tf.Tensor)]
    of_graph = [each for each in flat if not each.is_eager]
    return bool(of_graph) and not have_all_keras_metadata(of_graph)


# ------------------------------------------------------------------------------------------------ tf_utils


def is_tensor_or_tensor_list(v: Any) -> bool:
    """Whether a value is a tensor, or a list that begins with one.

    Args:
      v: The value.

    Returns:
      Whether it is.
    """
    flat = tf.nest.flatten(v)
    return bool(flat) and isinstance(flat[0], (tf.Tensor, tf.SparseTensor, tf.RaggedTensor, tf.Variable))


def are_all_symbolic_tensors(tensors: Any) -> bool:
    """Whether all values stand for ones that a graph computes.

    Args:
      tensors: The values.

    Returns:
      Whether they do.
    """
    return all(keras_graph.is_symbolic(each) for each in tensors)


def is_tensor_or_variable(x: Any) -> bool:
    """Whether a value is a tensor or a variable.

    Args:
      x: The value.

    Returns:
      Whether it is.
    """
    return tf.is_tensor(x) or isinstance(x, tf.Variable)


# ---------------------------------------------------------------------------------------------- input_spec


def assert_input_compatibility(input_spec: Any, inputs: Any, layer_name: str) -> None:
    """Refuses inputs that a layer does not accept.

    Args:
      input_spec: The InputSpec of the layer, or a list of them; None for any.
      inputs: The tensors.
      layer_name: The name of the layer, for the error.

    Raises:
      ValueError: If one is not accepted.
    """
    check_inputs(input_spec, tf.nest.flatten(inputs), layer_name)


def to_tensor_shape(spec: Any) -> tf.TensorShape:
    """The shape that an InputSpec says, as far as it says one.

    Args:
      spec: The InputSpec.

    Returns:
      The shape.
    """
    if spec.ndim is None and spec.shape is None:
        return tf.TensorShape(None)
    if spec.shape is not None:
        return tf.TensorShape(spec.shape)
    return tf.TensorShape([spec.axes.get(axis, spec.axes.get(axis - spec.ndim)) for axis in range(spec.ndim)])


def to_tensor_spec(input_spec: Any, default_dtype: Any = None) -> Any:
    """TensorSpecs of InputSpecs.

    Args:
      input_spec: An InputSpec, or a list of them.
      default_dtype: The type where one says none.

    Returns:
      A TensorSpec, or a list of them.
    """
    if isinstance(input_spec, (list, tuple)):
        return type(input_spec)(to_tensor_spec(each, default_dtype) for each in input_spec)
    return tf.TensorSpec(to_tensor_shape(input_spec), input_spec.dtype or default_dtype or tf.float32)
