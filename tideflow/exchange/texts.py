"""Strings that a model gives out. Other systems compute with numbers: a string travels as its place in a list
of all strings that the graph has, or as the integer whose digits it is; at the end ONNX makes text of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.exchange.models import Frozen
from tideflow.graph import dtypes
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.tensor_proto import make_tensor_proto

# Op types that move elements and look at none, with the number of inputs before those that they move.
_MOVERS = {
    "BroadcastTo": 0,
    "ConcatV2": 0,
    "ExpandDims": 0,
    "Fill": 1,
    "Gather": 0,
    "GatherNd": 0,
    "GatherV2": 0,
    "Identity": 0,
    "Pack": 0,
    "Reshape": 0,
    "Select": 1,
    "SelectV2": 1,
    "Slice": 0,
    "Squeeze": 0,
    "StridedSlice": 0,
    "Tile": 0,
    "Transpose": 0,
}
_DIGITS = "AsString"
_PLAIN_DIGITS = {"precision": -1, "scientific": False, "shortest": False, "width": -1, "fill": ""}


@dataclass
class Texts:
    """The strings of a model as numbers.

    Attributes:
      words: All strings that are there, in the order of their numbers.
      outputs: By output that is a string, whether it is the digits of its number instead.
    """

    words: list[str] = field(default_factory=list)
    outputs: dict[str, bool] = field(default_factory=dict)


class _NoNumbers(Exception):
    """A string that is no number of this kind."""


def as_numbers(model: Frozen) -> tuple[Frozen, Texts]:
    """The model with numbers in the place of the strings among its outputs. Strings that cannot be numbers
    stay as they are, and whoever exports the model refuses them.
    """
    texts = Texts()
    outputs = dict(model.outputs)
    for name, tensor in model.outputs.items():
        if tensor.dtype.base_dtype != dtypes.string:
            continue
        try:
            digits, made = _Encoder(texts.words).encode(tensor)
        except _NoNumbers:
            continue
        outputs[name], texts.outputs[name] = made, digits
    return dataclasses.replace(model, outputs=outputs), texts


class _Encoder:
    """Copies the operations that make one string, with numbers instead."""

    def __init__(self, words: list[str]):
        self._words = words
        self._nodes: dict[str, NodeDef] = {}
        self._taken: dict[str, Tensor] = {}

    def encode(self, tensor: Tensor) -> tuple[bool, Tensor]:
        """Whether the numbers are printed by their digits, and the numbers."""
        kinds: set[bool] = set()
        name = self._follow(tensor, kinds)
        if len(kinds) != 1:
            raise _NoNumbers
        message = GraphDef(node=list(self._nodes.values()))
        inputs: Mapping[str, Any] = self._taken
        with tensor.graph.as_default():
            (made,) = import_graph_def(message, inputs, [f"{name}:0"], name="numbers")
        return kinds.pop(), made

    def _follow(self, tensor: Tensor, kinds: set[bool]) -> str:
        """The name of the node that makes a string's numbers."""
        op = tensor.op
        name = f"{op.name}_{tensor.value_index}"
        if name in self._nodes:
            return name
        known = constant_value(tensor)
        if known is not None:
            self._nodes[name] = self._constant(name, np.asarray(known, object))
            kinds.add(False)
        elif op.type == _DIGITS and op.inputs[0].dtype.is_integer:
            self._nodes[name] = self._cast(name, op)
            kinds.add(True)
        elif op.type in _MOVERS:
            self._nodes[name] = self._moved(name, op, kinds)
        else:
            raise _NoNumbers
        return name

    def _constant(self, name: str, values: np.ndarray) -> NodeDef:
        codes = np.array([self._code(value) for value in values.ravel()], np.int64).reshape(values.shape)
        node = NodeDef(name=name, op="Const")
        node.attr["dtype"].type = dtypes.int64.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(make_tensor_proto(codes))
        return node

    def _code(self, value: Any) -> int:
        try:
            word = value.decode() if isinstance(value, bytes) else str(value)
        except UnicodeDecodeError:
            raise _NoNumbers from None  # ONNX has text, not bytes
        if word not in self._words:
            self._words.append(word)
        return self._words.index(word)

    def _cast(self, name: str, op: Operation) -> NodeDef:
        if any(op.get_attr(key) not in (value, str(value).encode()) for key, value in _PLAIN_DIGITS.items()):
            raise _NoNumbers
        node = NodeDef(name=name, op="Cast", input=[self._outer(op.inputs[0])])
        node.attr["SrcT"].type = op.inputs[0].dtype.as_datatype_enum
        node.attr["DstT"].type = dtypes.int64.as_datatype_enum
        return node

    def _moved(self, name: str, op: Operation, kinds: set[bool]) -> NodeDef:
        node = NodeDef()
        node.CopyFrom(op.node_def)
        node.name = name
        is_text = [each.dtype.base_dtype == dtypes.string for each in op.inputs]
        if any(is_text[: _MOVERS[op.type]]):
            raise _NoNumbers
        inputs = [
            self._follow(each, kinds) if text else self._outer(each) for each, text in zip(op.inputs, is_text)
        ]
        node.input[:] = inputs
        for key, value in node.attr.items():
            if key.startswith("_"):
                continue
            if value.type == dtypes.string.as_datatype_enum:
                node.attr[key].CopyFrom(AttrValue(type=dtypes.int64.as_datatype_enum))
        return node

    def _outer(self, tensor: Tensor) -> str:
        """A name for a number that is computed as before."""
        name = f"outer/{tensor.op.name}_{tensor.value_index}"
        self._taken[f"{name}:0"] = tensor
        return f"{name}:0"


def write_words(path: Path, texts: Texts) -> None:
    """Adds to an ONNX file what makes strings of the numbers among its outputs.

    Args:
      path: The file.
      texts: What the numbers stand for.
    """
    if not texts.outputs:
        return
    import onnx  # loaded when asked for

    helper, string = onnx.helper, onnx.TensorProto.STRING
    model = onnx.load(path, load_external_data=False)
    graph = model.graph
    words = "tideflow_words"
    if not all(texts.outputs.values()):
        known = [word.encode() for word in texts.words]
        graph.initializer.append(helper.make_tensor(words, string, [len(known)], known))
    for output in graph.output:
        if output.name not in texts.outputs:
            continue
        numbers = f"{output.name}_numbers"
        for node in graph.node:
            node.output[:] = [numbers if each == output.name else each for each in node.output]
            node.input[:] = [numbers if each == output.name else each for each in node.input]
        if texts.outputs[output.name]:
            graph.node.append(helper.make_node("Cast", [numbers], [output.name], to=string))
        else:
            graph.node.append(helper.make_node("Gather", [words, numbers], [output.name]))
        output.type.tensor_type.elem_type = string
    onnx.save(model, path)
