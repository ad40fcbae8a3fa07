"""Operation and Tensor: the nodes of the graph and the values on its edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.errors import OperatorNotAllowedInGraphError
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.traceback import Frame, file_and_line, user_line

if TYPE_CHECKING:
    from tensorboard.compat.proto.node_def_pb2 import NodeDef
    from tensorboard.compat.proto.op_def_pb2 import OpDef

    from tideflow.graph.graph import Graph
    from tideflow.graph.op import Op


@export("Operation")
class Operation:
    """A node: an op type with its attributes, the tensors it takes and those it makes."""

    __slots__ = (
        "__weakref__",
        "_control_flow_context",
        "_device",
        "_frames",
        "_gradient_name",
        "_id",
        "_original_op",
        "attrs",
        "control_inputs",
        "definition",
        "graph",
        "inputs",
        "name",
        "outputs",
    )

    def __init__(
        self,
        graph: Graph,
        definition: Op,
        name: str,
        inputs: list[Tensor],
        attrs: dict[str, Any],
        output_types: Sequence[dtypes.DType],
        frames: tuple[Frame, ...],
    ):
        self.graph = graph
        self.definition = definition
        self.name = name
        self.inputs = tuple(inputs)
        self.attrs = attrs
        self.control_inputs: list[Operation] = []
        self._device = ""
        self._frames = frames
        self._id = -1
        self._original_op = None
        self._gradient_name = None
        self._control_flow_context = None
        self.outputs = [Tensor(self, i, dtype) for i, dtype in enumerate(output_types)]
        for tensor in inputs:
            tensor._consumers.append(self)

    # ------------------------------------------------------------------ what it is

    @property
    def type(self) -> str:
        return self.definition.name

    @property
    def device(self) -> str:
        """The device asked for, "" where nothing was asked."""
        return self._device

    @property
    def op_def(self) -> OpDef:
        """The OpDef message of this op type."""
        from tideflow.graph.graph_def import op_def_proto

        return op_def_proto(self.definition)

    @property
    def node_def(self) -> NodeDef:
        """The NodeDef message of this node."""
        from tideflow.graph.graph_def import node_def_proto

        return node_def_proto(self)

    @property
    def traceback(self) -> list[tuple[str, int, str, str | None]]:
        """The user's frames that made this op, outermost first."""
        import linecache

        found = [(*file_and_line(frame), frame[0].co_name) for frame in self._frames[::-1]]
        return [
            (file, line, name, linecache.getline(file, line).strip() or None) for file, line, name in found
        ]

    @property
    def traceback_with_start_lines(self) -> list[tuple[str, int, str, str | None, int]]:
        """`traceback`, with the line on which each function begins."""
        return [(*entry, frame[0].co_firstlineno) for entry, frame in zip(self.traceback, self._frames[::-1])]

    @property
    def user_line(self) -> str:
        """`file:line` of the program that made this op."""
        return user_line(self._frames)

    def get_attr(self, name: str) -> Any:
        """The value of an attribute, strings as bytes; ValueError where there is none."""
        if name not in self.attrs:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        value = self.attrs[name]
        return self.node_def.attr[name].tensor if isinstance(value, np.ndarray) else _public_attr(value)

    def values(self) -> tuple[Tensor, ...]:
        return tuple(self.outputs)

    def colocation_groups(self) -> list[bytes]:
        """The groups this op is colocated with; its own where none was asked for."""
        return [group.encode() for group in self.attrs.get("_class", [f"loc:@{self.name}"])]

    def run(self, feed_dict: dict | None = None, session: Any = None) -> None:
        """Runs this operation in `session` or the default session."""
        self.graph._session_for("run", "operation", session).run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)

    # ------------------------------------------------------------------ changes to a node, all counted by
    # the graph

    def _set_attr(self, name: str, value: Any) -> None:
        """Sets an attribute from its stored form or from an AttrValue message."""
        from tideflow.graph.graph_def import attr_from_proto

        self.attrs[name] = attr_from_proto(value) if hasattr(value, "WhichOneof") else value
        self.graph._mutated()

    def _set_device(self, device: Any) -> None:
        from tideflow.graph.device import canonical_name

        self._device = canonical_name(device)
        self.graph._mutated()

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: Sequence[Operation]) -> None:
        for op in ops:
            if not isinstance(op, Operation):
                raise TypeError(f"op must be an Operation: {op}")
            if op.graph is not self.graph:
                raise ValueError(f"{op} must be from the same graph as {self}.")
            if op not in self.control_inputs:
                self.control_inputs.append(op)
        self.graph._mutated()

    def _remove_all_control_inputs(self) -> None:
        self.control_inputs.clear()
        self.graph._mutated()

    def _update_input(self, index: int, tensor: Tensor) -> None:
        if tensor.graph is not self.graph:
            raise ValueError(f"{tensor} must be from the same graph as {self}.")
        inputs = list(self.inputs)
        inputs[index]._consumers.remove(self)
        inputs[index] = tensor
        tensor._consumers.append(self)
        self.inputs = tuple(inputs)
        self.graph._mutated()

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context


def ancestors(op: Operation) -> Iterator[Operation]:
    """The operation, and all that a step runs before it."""
    seen, stack = {op}, [op]
    yield op
    while stack:
        at = stack.pop()
        for source in (*(tensor.op for tensor in at.inputs), *at.control_inputs):
            if source not in seen:
                seen.add(source)
                stack.append(source)
                yield source


def _public_attr(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, list):
        return [_public_attr(item) for item in value]
    if isinstance(value, TensorShape):
        return value.as_proto()
    return value


class Reference:
    """A hashable stand-in for a tensor or a variable: equal when it stands for the same one."""

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    def deref(self) -> Any:
        """What it stands for."""
        return self._wrapped

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


@export("Tensor")
class Tensor:
    """A symbolic handle to one output of an operation. It has a dtype and a (partial) shape, and no value
    until run.
    """

    __slots__ = (
        "__dict__",  # programs hang things on tensors
        "__weakref__",
        "_consumers",
        "_shape",
        "dtype",
        "op",
        "value_index",
    )
    __array_priority__ = 100  # ndarray + Tensor is ours to answer

    OVERLOADABLE_OPERATORS: set[str] = set()

    def __init__(self, op: Operation, value_index: int, dtype: Any):
        self.op = op
        self.value_index = value_index
        self.dtype = dtypes.as_dtype(dtype)
        self._consumers: list[Operation] = []
        self._shape: TensorShape = TensorShape(None)

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def device(self) -> str:
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    def set_shape(self, shape: Any) -> None:
        """Adds what the program knows about the shape; ValueError where it contradicts what is known."""
        self._shape = self._shape.merge_with(as_shape(shape))

    def _shape_as_list(self) -> list[int | None] | None:
        return self._shape.as_list() if self._shape.ndims is not None else None

    def _rank(self) -> int | None:
        return self._shape.ndims

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input."""
        return list(dict.fromkeys(self._consumers))

    def eval(self, feed_dict: dict | None = None, session: Any = None) -> Any:
        """The value, from `session` or the default session."""
        return self.graph._session_for("eval", "tensor", session).run(self, feed_dict)

    def experimental_ref(self) -> Reference:
        """A key that stands for this tensor in dictionaries and sets."""
        return Reference(self)

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self._shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self._shape.ndims is None else f", shape={self._shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            "Using a `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not None:` instead of `if "
            "t:` to test if a tensor is defined, and use TensorFlow ops such as tf.cond to execute subgraphs "
            "conditioned on the value of a tensor."
        )

    __nonzero__ = __bool__

    def __iter__(self):
        raise OperatorNotAllowedInGraphError(
            "iterating over `tf.Tensor` is not allowed in Graph execution. Use tf.unstack for its parts "
            "along the first axis."
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` rather than "
            "`len(x)`."
        )

    def __array__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array.")

    @staticmethod
    def _override_operator(operator: str, function: Callable) -> None:
        """Gives tensors a Python operator; the vocabulary (ops/) calls this."""
        setattr(Tensor, operator, function)
        Tensor.OVERLOADABLE_OPERATORS.add(operator)
