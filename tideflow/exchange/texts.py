"""Strings that a model takes in and gives out. Other systems compute with numbers: a string travels as its
number in a list of all strings that the graph knows, or as the number whose digits it is. ONNX makes numbers
of text where the file begins, and text of numbers where it ends.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

import tideflow as tf
from tideflow.exchange.models import Frozen
from tideflow.exchange.tables import LOOKUPS, redirect, with_default
from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.tensor_proto import make_tensor_proto
from tideflow.ops.arrays.constants import placeholder

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
_MEASURES = ("Rank", "Shape", "Size")  # op types that look at shapes alone
_COMPARISONS = ("Equal", "NotEqual")
_DIGITS, _PARSED = "AsString", "StringToNumber"
_PLAIN_DIGITS = {"precision": -1, "scientific": False, "shortest": False, "width": -1, "fill": ""}


_CLASSICAL = "ai.onnx.ml"  # the domain of LabelEncoder
UNKNOWN = 0  # the number of all strings that the graph does not know


@dataclass
class Texts:
    """The strings of a model as numbers.

    Attributes:
      words: The numbers of all strings that are there.
      inputs: By input that is a string, the inputs that take its place, each with the type of the number that
        it is read as; None for the number of a word.
      outputs: By output that is a string, whether it is the digits of its number instead.
    """

    words: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, dict[str, DType | None]] = field(default_factory=dict)
    outputs: dict[str, bool] = field(default_factory=dict)

    def number(self, text: Any) -> int:
        """That of a string, which is known from now on.

        Raises:
          UnicodeDecodeError: If the string is not UTF-8: ONNX has text, not bytes.
        """
        word = text.decode() if isinstance(text, bytes) else str(text)
        return self.words.setdefault(word, UNKNOWN + 1 + len(self.words))


class _NoNumbers(Exception):
    """A string that is no number of this kind."""


def as_numbers(model: Frozen) -> tuple[Frozen, Texts]:
    """The model with numbers in the place of the strings among its inputs and outputs. Strings that cannot be
    numbers stay as they are, and whoever exports the model refuses them.
    """
    texts = Texts()
    if any(_is_text(tensor) for tensor in model.inputs.values()):
        model = _Reader(_copied(model), texts).read()
    outputs = dict(model.outputs)
    for name, tensor in model.outputs.items():
        if not _is_text(tensor):
            continue
        try:
            digits, made = _Encoder(texts).encode(tensor)
        except _NoNumbers:
            continue
        outputs[name], texts.outputs[name] = made, digits
    return dataclasses.replace(model, outputs=outputs), texts


def _is_text(tensor: Tensor) -> bool:
    return tensor.dtype.base_dtype == dtypes.string


def _copied(model: Frozen) -> Frozen:
    """The same in a graph of its own, which may be changed."""
    (graph,) = {tensor.graph for tensor in model.outputs.values()}
    with Graph().as_default() as made:
        import_graph_def(graph.as_graph_def(), name="")
    inputs, outputs = (
        {name: made.get_tensor_by_name(tensor.name) for name, tensor in tensors.items()}
        for tensors in (model.inputs, model.outputs)
    )
    return dataclasses.replace(model, inputs=inputs, outputs=outputs)


class _Reader:
    """Puts numbers in the place of what a model computes of the strings that it takes: what tables have for
    them, whether they are equal to others, what their digits say.
    """

    def __init__(self, model: Frozen, texts: Texts):
        self._model, self._texts = model, texts
        self._names = {tensor: name for name, tensor in model.inputs.items() if _is_text(tensor)}
        self._made: dict[str, Tensor] = {}  # further inputs
        texts.inputs.update({name: {} for name in self._names.values()})

    def read(self) -> Frozen:
        """The model that takes numbers."""
        replaced: dict[Tensor, Tensor] = {}
        for op in next(iter(self._model.outputs.values())).graph.get_operations():
            if any(map(_is_text, op.inputs)) and not any(map(_is_text, op.outputs)):
                with contextlib.suppress(_NoNumbers), op.graph.as_default():
                    found = self._replaced(op)
                    if found is not None:
                        replaced[op.outputs[0]] = found
        redirect(replaced)
        inputs = {name: tensor for name, tensor in self._model.inputs.items() if tensor not in self._names}
        outputs = {name: replaced.get(tensor, tensor) for name, tensor in self._model.outputs.items()}
        return dataclasses.replace(self._model, inputs={**inputs, **self._made}, outputs=outputs)

    def _replaced(self, op: Operation) -> Tensor | None:
        """What stands for the output of an operation that takes strings; None where nothing does."""
        if op.type in LOOKUPS and op.name in self._model.tables:
            return self._looked_up(op)
        if op.type in _COMPARISONS:
            return self._compared(op)
        if op.type == _PARSED:
            return self._encoder(op.get_attr("out_type")).encode(op.inputs[0])[1]
        if op.type in _MEASURES:
            return self._measured(op)
        return None

    def _encoder(self, dtype: DType | None = None) -> _Encoder:
        def input_of(tensor: Tensor) -> Tensor | None:
            return self._input(tensor, dtype) if tensor in self._names else None

        return _Encoder(self._texts, dtype, input_of)

    def _input(self, tensor: Tensor, dtype: DType | None) -> Tensor:
        """The input that takes the place of a string, as the number of a word or as one of this type."""
        name = self._names[tensor]
        new = f"{name}_{'word' if dtype is None else dtype.name}"
        if new not in self._made:
            self._texts.inputs[name][new] = dtype
            self._made[new] = placeholder(dtype or dtypes.int64, tensor.shape)
        return self._made[new]

    def _looked_up(self, op: Operation) -> Tensor:
        _, keys, default = op.inputs
        items = self._model.tables[op.name]
        rows = {}
        for row, key in enumerate(items.keys.tolist()):
            with contextlib.suppress(UnicodeDecodeError):  # such a key is never found: no text is equal to it
                rows[self._texts.number(key)] = row
        _, numbers = self._encoder().encode(keys)
        missing = len(items.keys)
        by_number = np.array([rows.get(number, missing) for number in range(len(self._texts.words) + 1)])
        # Words that become known later are none of this table's keys.
        known = tf.where(numbers < len(by_number), numbers, tf.fill(tf.shape(numbers), np.int64(UNKNOWN)))
        return tf.gather(with_default(items.values, default), tf.gather(tf.constant(by_number), known))

    def _compared(self, op: Operation) -> Tensor:
        encoders = [self._encoder(), self._encoder()]
        (_, a), (_, b) = [encoder.encode(given) for encoder, given in zip(encoders, op.inputs)]
        if all(encoder.takes_inputs for encoder in encoders):
            raise _NoNumbers  # two strings that are not known may differ
        return tf.equal(a, b) if op.type == _COMPARISONS[0] else tf.not_equal(a, b)

    def _measured(self, op: Operation) -> Tensor:
        _, numbers = self._encoder().encode(op.inputs[0])
        measure = {"Rank": tf.rank, "Shape": tf.shape, "Size": tf.size}[op.type]
        return tf.cast(measure(numbers), op.outputs[0].dtype)


class _Encoder:
    """Copies the operations that make one string, with numbers instead: those of words, or what the strings
    say in digits (`dtype`). `input_of` gives the input that takes the place of one, if any does.
    """

    def __init__(
        self,
        texts: Texts,
        dtype: DType | None = None,
        input_of: Callable[[Tensor], Tensor | None] = lambda tensor: None,
    ):
        self._texts, self._input_of = texts, input_of
        self._is_parsed, self._dtype = dtype is not None, dtype or dtypes.int64
        self.takes_inputs = False
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
        taken = self._input_of(tensor)
        if known is not None:
            self._nodes[name] = self._constant(name, np.asarray(known, object))
            kinds.add(False)
        elif taken is not None:
            self._nodes[name] = self._same(name, taken)
            self.takes_inputs = True
            kinds.add(False)
        elif op.type == _DIGITS and op.inputs[0].dtype.is_integer and not self._is_parsed:
            self._nodes[name] = self._cast(name, op)
            kinds.add(True)
        elif op.type in _MOVERS:
            self._nodes[name] = self._moved(name, op, kinds)
        else:
            raise _NoNumbers
        return name

    def _constant(self, name: str, values: np.ndarray) -> NodeDef:
        try:
            read = float if self._is_parsed else self._texts.number
            numbers = [read(value) for value in values.ravel()]
        except ValueError:
            raise _NoNumbers from None
        node = NodeDef(name=name, op="Const")
        node.attr["dtype"].type = self._dtype.as_datatype_enum
        array = np.array(numbers, self._dtype.as_numpy_dtype).reshape(values.shape)
        node.attr["value"].tensor.CopyFrom(make_tensor_proto(array))
        return node

    def _same(self, name: str, tensor: Tensor) -> NodeDef:
        node = NodeDef(name=name, op="Identity", input=[self._outer(tensor)])
        node.attr["T"].type = tensor.dtype.as_datatype_enum
        return node

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
                node.attr[key].CopyFrom(AttrValue(type=self._dtype.as_datatype_enum))
        return node

    def _outer(self, tensor: Tensor) -> str:
        """A name for a number that is computed as before."""
        name = f"outer/{tensor.op.name}_{tensor.value_index}"
        self._taken[f"{name}:0"] = tensor
        return f"{name}:0"


def write_words(path: Path, texts: Texts) -> None:
    """Adds to an ONNX file what makes numbers of the strings among its inputs, and strings of the numbers
    among its outputs.

    Args:
      path: The file.
      texts: What the numbers stand for.
    """
    if not texts.outputs and not texts.inputs:
        return
    import onnx  # loaded when asked for

    model = onnx.load(path, load_external_data=False)
    _write_inputs(onnx, model, texts)
    _write_outputs(onnx, model.graph, texts)
    onnx.save(model, path)


def _write_inputs(onnx: Any, model: Any, texts: Texts) -> None:
    helper, graph = onnx.helper, model.graph
    declared = {each.name: each for each in graph.input}
    nodes, inputs = [], {}
    for name, instead in texts.inputs.items():
        for number, dtype in instead.items():
            sizes = declared.pop(number).type.tensor_type.shape
            inputs[name] = helper.make_tensor_value_info(name, onnx.TensorProto.STRING, None)
            inputs[name].type.tensor_type.shape.CopyFrom(sizes)
            nodes.append(_reading(onnx, name, number, dtype, texts.words))
    if any(node.domain for node in nodes):
        model.opset_import.append(helper.make_opsetid(_CLASSICAL, 3))
    del graph.input[:]
    graph.input.extend([*declared.values(), *inputs.values()])
    for node in reversed(nodes):
        graph.node.insert(0, node)


def _reading(onnx: Any, name: str, number: str, dtype: DType | None, words: Mapping[str, int]) -> Any:
    """What makes an input of numbers of one of strings."""
    helper = onnx.helper
    if dtype is not None:
        return helper.make_node(
            "Cast", [name], [number], to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype.as_numpy_dtype))
        )
    return helper.make_node(
        "LabelEncoder",
        [name],
        [number],
        domain=_CLASSICAL,
        keys_strings=list(words) or [""],
        values_int64s=list(words.values()) or [UNKNOWN],
        default_int64=UNKNOWN,
    )


def _write_outputs(onnx: Any, graph: Any, texts: Texts) -> None:
    helper, string = onnx.helper, onnx.TensorProto.STRING
    words = "tideflow_words"
    if not all(texts.outputs.values()):
        known = [b"", *(word.encode() for word in texts.words)]
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
