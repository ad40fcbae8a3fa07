"""How datasets came about: the operation, its attributes and its inputs. From that a dataset that a step has
made is written as a graph again, and told apart from others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.function_pb2 import FunctionDef
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.types_pb2 import DT_VARIANT

from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.functions import outermost
from tideflow.graph.graph_def import attr_proto, newer_attributes
from tideflow.graph.op import definitions
from tideflow.graph.tensor_proto import tensor_proto
from tideflow.runtime.datasets import Dataset
from tideflow.runtime.values import to_numpy

_READERS = frozenset(
    ("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "TextLineDataset", "TFRecordDataset")
)
_CALLING = frozenset(("FlatMapDataset", "InterleaveDataset", "ParallelInterleaveDatasetV2"))
_MAY_BE_STATEFUL = frozenset(("Assert", "_Retval"))  # stateful, and yet the same in every pass


class Origin(NamedTuple):
    """The node that made a dataset, and what it was given."""

    node: Any
    inputs: Sequence[Any]

    def given(self) -> Iterator[tuple[Any, Any]]:
        """The type and the value of each input."""
        of_arguments = zip(self.node.definition.inputs, self.inputs, self.node.grouped_inputs, strict=True)
        for argument, value, planned in of_arguments:
            values, symbols = (value, planned) if argument.is_list else ([value], [planned])
            yield from zip([each.dtype.base_dtype for each in symbols], values, strict=True)


def graph_of(dataset: Dataset) -> GraphDef:
    """The graph that makes a dataset. Its last node, a `_Retval`, takes the dataset.

    Raises:
      FailedPreconditionError: If the dataset keeps a state that a graph does not describe.
    """
    writer = _Writer()
    last = writer.add(dataset)
    retval = writer.message.node.add(name="dataset", op="_Retval", input=[last])
    retval.attr["T"].type = DT_VARIANT
    retval.attr["index"].i = 0
    return writer.message


def fingerprint(dataset: Dataset) -> str:
    """A number, in hexadecimal digits, that datasets have in common which are made in the same way."""
    return hashlib.blake2b(graph_of(dataset).SerializeToString(deterministic=True), digest_size=8).hexdigest()


def reads_files(dataset: Dataset) -> bool:
    """Whether the function of a dataset makes datasets of files' contents."""
    if dataset.origin is None:
        return False
    node = dataset.origin.node
    return _calls_reader(node.attrs["f"].name, outermost(node.source.graph)._functions)


def _calls_reader(name: str, library: Mapping[str, FunctionDef]) -> bool:
    nodes = library[name].node_def if name in library else ()
    return any(
        node.op in _READERS or node.op in _CALLING and _calls_reader(node.attr["f"].func.name, library)
        for node in nodes
    )


class _Writer:
    """Adds what datasets are made of to a graph, each dataset behind its inputs."""

    def __init__(self) -> None:
        self.message = GraphDef()
        self._names: dict[int, str] = {}  # of datasets that stand in the graph
        self._functions: dict[str, str] = {}  # the names that functions have in the graph

    def add(self, dataset: Dataset) -> str:
        """The name of the node that makes the dataset."""
        if id(dataset) in self._names:
            return self._names[id(dataset)]
        origin: Origin | None = getattr(dataset, "origin", None)
        if origin is None:
            raise errors.failed_precondition(f"{type(dataset).__name__} does not support serialization.")
        if origin.node.type.endswith("NonSerializableDataset"):
            raise errors.failed_precondition(f"{origin.node.type} does not support serialization.")
        inputs = [self._input(dtype, value) for dtype, value in origin.given()]
        node = self._node(origin.node.type, inputs)
        newer = newer_attributes().get(origin.node.type, ())
        for key, spec in origin.node.definition.attrs.items():
            value = origin.node.attrs[key]
            if key not in newer or value != spec.default:
                node.attr[key].CopyFrom(self._attribute(origin, attr_proto(value, spec.kind)))
        self._names[id(dataset)] = node.name
        return str(node.name)

    def _node(self, op_type: str, inputs: Sequence[str]) -> NodeDef:
        return self.message.node.add(name=f"{op_type}/_{len(self.message.node)}", op=op_type, input=inputs)

    def _input(self, dtype: DType, value: Any) -> str:
        if dtype is dtypes.resource:
            raise errors.failed_precondition("A dataset that takes a resource cannot be serialized.")
        if dtype is dtypes.variant:
            inner = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
            return self.add(inner)
        array = to_numpy(value) if hasattr(value, "shape") else np.array(value, dtype.as_numpy_dtype)
        node = self._node("Const", [])
        node.attr["dtype"].type = dtype.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tensor_proto(array, dtype))
        return str(node.name)

    def _attribute(self, origin: Origin, message: AttrValue) -> AttrValue:
        """An attribute whose functions, if it has any, stand in the library."""
        called = [message.func] if message.HasField("func") else list(message.list.func)
        library = outermost(origin.node.source.graph)._functions if called else {}
        for function in called:
            function.name = self._function(function.name, library)
        return message

    def _function(self, name: str, library: dict[str, FunctionDef]) -> str:
        """The name in this graph of a function, which says what is in it and not when it was made."""
        if name not in self._functions:
            message = FunctionDef()
            message.CopyFrom(library[name])
            for node in message.node_def:
                self._check_stateless(node.op)
                for value in node.attr.values():
                    for called in [value.func] if value.HasField("func") else value.list.func:
                        called.name = self._function(called.name, library)
            message.signature.name = ""
            digits = hashlib.blake2b(message.SerializeToString(deterministic=True), digest_size=8).hexdigest()
            message.signature.name = self._functions[name] = f"function_{digits}"
            if all(message.signature.name != each.signature.name for each in self.message.library.function):
                self.message.library.function.append(message)
        return self._functions[name]

    def _check_stateless(self, op_type: str) -> None:
        op = definitions().get(op_type)
        makes_dataset = op is not None and op_type.endswith(("Dataset", "DatasetV2"))
        if op is not None and op.stateful and not makes_dataset and op_type not in _MAY_BE_STATEFUL:
            raise errors.failed_precondition(f"{op_type} is stateful.")
