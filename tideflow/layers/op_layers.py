"""Operations between layers as layers: `Dense(2)(x * 3.0)` is a part of the model that takes `x`."""

from __future__ import annotations

from typing import Any

from google.protobuf import json_format
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.graph import nest
from tideflow.graph.graph_def import attr_from_proto
from tideflow.graph.op import definition
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import executing_eagerly, get_default_graph
from tideflow.layers.base import Layer
from tideflow.layers.keras_session import get_session
from tideflow.layers.nodes import comes_from_keras, is_keras_tensor
from tideflow.ops.arrays import constants as constant_ops

_PREFIX = "tf_op_layer_"


class TensorFlowOpLayer(Layer):
    """A layer of one operation: each call makes another like it."""

    def __init__(
        self,
        node_def: Any,
        name: str,
        constants: dict[Any, Any] | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ):
        super().__init__(name=_PREFIX + name, trainable=trainable, dtype=dtype)
        if isinstance(node_def, dict):
            self.node_def = json_format.ParseDict(node_def, NodeDef())
        else:
            self.node_def = NodeDef.FromString(node_def)
        # JSON makes strings of the keys.
        self.constants = {int(index): value for index, value in (constants or {}).items()}
        self.built = True

    def call(self, inputs: Any) -> Any:
        tensors = list(nest.flatten(inputs))
        for index, value in sorted(self.constants.items()):
            tensors.insert(index, constant_ops.constant(value, name=self.node_def.input[index].split(":")[0]))
        attrs = {name: value for name, value in self.node_def.attr.items() if not name.startswith("_")}
        if executing_eagerly():
            op = definition(self.node_def.op)
            values = {name: attr_from_proto(value) for name, value in attrs.items()}
            return op(*op.group_inputs(tensors, values), **values)
        create = get_default_graph().create_op
        outputs = create(self.node_def.op, tensors, name=self.node_def.name, attrs=attrs).outputs
        return outputs[0] if len(outputs) == 1 else outputs

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {
            **super().get_config(),
            "name": self.name.removeprefix(_PREFIX),
            "node_def": json_format.MessageToDict(self.node_def),
            "constants": self.constants,
        }


def wrap_operations(tensors: Any) -> list[Layer]:
    """Makes layers of the operations between Keras's tensors and these, and returns the layers.

    What does not come from Keras's inputs is computed now, and is a constant of the model.
    """
    made: dict[Operation, Layer] = {}

    def wrap(tensor: Tensor) -> None:
        if is_keras_tensor(tensor) or tensor.op in made:
            return
        op, values, inputs = tensor.op, {}, []
        for index, source in enumerate(op.inputs):
            if comes_from_keras(source):
                wrap(source)
                inputs.append(source)
            else:
                values[index] = get_session([source]).run(source)
        layer = TensorFlowOpLayer(op.node_def.SerializeToString(), op.name, values)
        made[op] = layer
        layer._add_node(inputs[0] if len(inputs) == 1 else inputs, list(op.outputs))

    for tensor in nest.flatten(tensors):
        wrap(tensor)
    return list(made.values())
