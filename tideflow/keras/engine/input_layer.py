"""Where the data of a model enters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.distribute.context import get_strategy
from tideflow.export import export
from tideflow.keras.backend.arrays import placeholder
from tideflow.layers import keras_state
from tideflow.layers.base import Layer
from tideflow.layers.nodes import static_shape

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


@export("keras.layers.InputLayer")
class InputLayer(Layer):
    """The layer of a model's input.

    Args:
      input_shape: The shape without the batch.
      batch_size: The size of the batch; open if None.
      dtype: The type of the elements.
      input_tensor: A tensor that is the input; a new placeholder if None.
      sparse: Whether the input is sparse.
      name: The name of the layer.
      ragged: Whether the input is ragged.
      **kwargs: `batch_input_shape`, the shape with the batch.
    """

    def __init__(
        self,
        input_shape: ShapeLike | None = None,
        batch_size: int | None = None,
        dtype: DTypeLike | None = None,
        input_tensor: TensorLike | None = None,
        sparse: bool = False,
        name: str | None = None,
        ragged: bool = False,
        **kwargs: Any,
    ):
        batch_size = _of_replica(batch_size)
        if "batch_input_shape" in kwargs:
            whole = kwargs.pop("batch_input_shape")
            if input_shape is not None and whole is not None:
                raise ValueError(
                    "Only provide the input_shape OR batch_input_shape argument to InputLayer, not both at "
                    "the same time."
                )
            batch_size, input_shape = whole[0], tuple(whole[1:])
        if kwargs:
            raise ValueError("Unrecognized keyword arguments:", kwargs.keys())
        if ragged and sparse:
            raise ValueError("Cannot set both sparse and ragged to True in a Keras input.")
        if getattr(input_tensor, "is_eager", False):
            raise ValueError(
                "You should not pass an EagerTensor to `Input`. For example, instead of creating an "
                "InputLayer, you should instantiate your model and directly call it on your input."
            )
        if not name:
            name = f"input_{keras_state.get_uid('input')}"
        if dtype is None:
            dtype = keras_state.floatx() if input_tensor is None else input_tensor.dtype
        super().__init__(dtype=dtype, name=name)
        self.built = True
        self.sparse = sparse
        self.ragged = ragged
        self.batch_size = batch_size
        self.supports_masking = True
        if isinstance(input_shape, int):
            input_shape = (input_shape,)
        self.is_placeholder = input_tensor is None
        if input_tensor is None:
            whole = (
                None if input_shape is None else (batch_size, *tuple(tf.TensorShape(input_shape).as_list()))
            )
            self._batch_input_shape = whole
            input_tensor = placeholder(whole, dtype=dtype, sparse=sparse, ragged=ragged, name=name)
        else:
            self._batch_input_shape = static_shape(input_tensor)
        input_tensor._keras_mask = None
        self._add_node(None, [input_tensor])

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {
            "batch_input_shape": self._batch_input_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
        }


def _of_replica(batch_size: int | None) -> int | None:
    """The size of a replica's part of a batch, in the scope of a strategy."""
    strategy = get_strategy()
    replicas = strategy.num_replicas_in_sync
    if batch_size is None or replicas == 1 or not strategy.extended._global_batch_size:
        return batch_size
    if batch_size % replicas:
        raise ValueError(
            f"The `batch_size` argument value {batch_size} cannot be divisible by number of replicas "
            f"{replicas}"
        )
    return batch_size // replicas


@export("keras.Input", "keras.layers.Input")
def Input(
    shape: ShapeLike | None = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    tensor: TensorLike | None = None,
    ragged: bool = False,
    **kwargs: Any,
) -> Any:
    """Makes an input of a functional model.

    Args:
      shape: The shape without the batch.
      batch_size: The size of the batch; open if None.
      name: The name of the input.
      dtype: The type of the elements; the default of Keras if None.
      sparse: Whether the input is sparse.
      tensor: A tensor that is the input; a new placeholder if None.
      ragged: Whether the input is ragged.
      **kwargs: `batch_shape`, the shape with the batch.

    Returns:
      The input, which layers are called with.

    Raises:
      ValueError: If there is neither a shape nor a tensor.
    """
    whole = kwargs.pop("batch_shape", None)
    if shape is not None and whole is not None:
        raise ValueError(
            "Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the same time."
        )
    if kwargs:
        raise ValueError("Unrecognized keyword arguments:", kwargs.keys())
    if whole is not None:
        batch_size, shape = whole[0], tuple(whole[1:])
    if shape is None and tensor is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` does not "
            "include the batch dimension."
        )
    layer = InputLayer(
        shape,
        batch_size=batch_size,
        name=name,
        dtype=dtype,
        sparse=sparse,
        ragged=ragged,
        input_tensor=tensor,
    )
    return layer._inbound_nodes[0].outputs[0]


@export("keras.utils.get_source_inputs")
def get_source_inputs(
    tensor: TensorLike, layer: Layer | None = None, node_index: int | None = None
) -> list[Any]:
    """Gets the inputs of which a tensor is computed.

    Args:
      tensor: The tensor.
      layer: The layer that made it; as the tensor says if None.
      node_index: The number of the layer's call.

    Returns:
      A list of inputs.
    """
    if not hasattr(tensor, "_keras_history"):
        return tensor
    if layer is None or node_index:
        layer, node_index, _ = tensor._keras_history
    if not layer._inbound_nodes:
        return [tensor]
    node = layer._inbound_nodes[node_index]
    if not node.inputs:
        return node.outputs
    found: list[Any] = []
    for source in node.inputs:
        for each in get_source_inputs(source):
            if all(each is not known for known in found):
                found.append(each)
    return found
