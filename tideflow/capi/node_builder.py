"""The NodeDef of an operation that a C program describes call by call.

What does not fit is told when the operation is finished.
"""

from __future__ import annotations

from typing import TypeAlias

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import type_name
from tideflow.graph.graph_def import attr_proto
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import Arg
from tideflow.graph.summaries import attr_summary, node_summary, op_summary

Output: TypeAlias = tuple[Operation, int]  # a TF_Output: an operation, and which of its outputs


class NodeBuilder:
    """Takes inputs and attributes in any order, as long as the inputs are in that of the op type."""

    def __init__(self, definition: Op, node: NodeDef) -> None:
        self.node = node
        self.taken: list[Tensor] = []
        self._definition = definition
        self._arguments = 0  # that have been given so far
        self._unknown_outputs: list[str] = []
        self._misfits: list[str] = []

    def input(self, output: Output) -> None:
        """Gives one tensor to the next argument."""
        tensor = self._tensor(output)
        arg = self._next_argument() if tensor is not None else None
        if tensor is None or arg is None:
            return
        if arg.is_list:
            self._misfits.append(f"Single tensor passed to '{arg.name}', expected list")
        else:
            self._take(arg, [tensor])

    def input_list(self, outputs: list[Output]) -> None:
        """Gives a list of tensors to the next argument."""
        found = [self._tensor(output) for output in outputs]
        tensors = [tensor for tensor in found if tensor is not None]
        arg = self._next_argument() if len(tensors) == len(outputs) else None
        if arg is None:
            return
        if not arg.is_list:
            self._misfits.append(f"List provided to input '{arg.name}' when single Tensor expected")
            return
        if arg.number_attr is not None:
            self._set(arg.number_attr, attr_proto(len(tensors), "int"))
        self._take(arg, tensors)

    def attr(self, key: str, data: bytes) -> None:
        """Sets an attribute."""
        self._set(key, AttrValue.FromString(data))

    def finish(self) -> None:
        """Raises InvalidArgumentError if something did not fit."""
        if self._unknown_outputs:
            raise errors.invalid_argument("\n".join(self._unknown_outputs))
        wanted = len(self._definition.inputs)
        if self._arguments < wanted:
            self._misfits.append(f"{self._arguments} inputs specified of {wanted} inputs in Op")
        if not self._misfits:
            return
        place = f"while building NodeDef '{self.node.name}' using {op_summary(self._definition)}"
        if len(self._misfits) == 1:
            raise errors.invalid_argument(f"{self._misfits[0]} {place}")
        raise errors.invalid_argument("\n".join([f"{len(self._misfits)} errors {place}:", *self._misfits]))

    def _tensor(self, output: Output) -> Tensor | None:
        op, index = output
        if 0 <= index < len(op.outputs):
            return op.outputs[index]
        self._unknown_outputs.append(
            f"Attempt to add output {index} of {op.name} not in range [0, {len(op.outputs)}) to node with "
            f"type {self._definition.name}. Node: {node_summary(op.name)}"
        )
        return None

    def _next_argument(self) -> Arg | None:
        args = self._definition.inputs
        if self._arguments == len(args):
            self._misfits.append(f"More Input() calls than the {len(args)} input_args")
            return None
        self._arguments += 1
        return args[self._arguments - 1]

    def _take(self, arg: Arg, tensors: list[Tensor]) -> None:
        """Adds the tensors of an argument, and sets the attribute that follows from their types."""
        self.taken += tensors
        self.node.input.extend(f"{tensor.op.name}:{tensor.value_index}" for tensor in tensors)
        types = [tensor.dtype.base_dtype for tensor in tensors]
        if arg.is_ref:
            self._misfits += [
                f"Input '{arg.name}' passed {type_name(tensor.dtype)} expected ref type"
                for tensor in tensors
                if not tensor.dtype._is_ref_dtype
            ]
        if arg.type_list_attr is not None:
            self._set(arg.type_list_attr, attr_proto(types, "list(type)"))
            return
        if arg.type_attr is not None and types:
            self._set(arg.type_attr, attr_proto(types[0], "type"))
        self._expect(arg, arg.dtype or types[0] if types else None, types)

    def _expect(self, arg: Arg, expected: DType | None, types: list[DType]) -> None:
        self._misfits += [
            f"Input '{arg.name}' passed {type_name(dtype)} expected {type_name(expected)}"
            for dtype in types
            if dtype is not expected
        ]

    def _set(self, key: str, value: AttrValue) -> None:
        known = self.node.attr
        if key not in known:
            known[key].CopyFrom(value)
        elif known[key] != value:
            self._misfits.append(
                f"Inconsistent values for attr '{key}' {attr_summary(known[key])} vs. {attr_summary(value)}"
            )
