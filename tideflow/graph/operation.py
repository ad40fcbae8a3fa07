"""Operation and Tensor: the nodes of the graph and the values on its edges."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.device import canonical_name
from tideflow.graph.errors import OperatorNotAllowedInGraphError
from tideflow.graph.graph_def import attr_from_proto, node_def_proto, op_def_proto
from tideflow.graph.shapes import TensorShape, as_shape, mismatch
from tideflow.graph.traceback import Frame, file_and_line, runs_converted, user_line

if TYPE_CHECKING:
    from tensorboard.compat.proto.node_def_pb2 import NodeDef
    from tensorboard.compat.proto.op_def_pb2 import OpDef

    from tideflow.graph.graph import Graph
    from tideflow.graph.op import Op
    from tideflow.graph.typing import (
        ControlFlowContext,
        DTypeLike,
        FeedDict,
        SessionLike,
        ShapeLike,
        TensorLike,
    )


@export("Operation")
class Operation:
    """A node of a graph: an op type with attribute values, its input tensors and its output tensors.

    Operations are made by functions such as `tf.matmul` or by `Graph.create_op`.

    Attributes:
      graph: The graph that contains the operation.
      definition: The `Op` that defines the op type.
      name: The operation's unique name in its graph.
      inputs: The input tensors.
      outputs: The output tensors.
      control_inputs: Operations that a step runs before this one.
      attrs: The values of the attributes, by name.

    Args:
      node_def: The NodeDef of an operation to add to a graph.
      g: The graph.
      inputs: The tensors that it takes.
      output_types: Ignored: the types of the outputs follow from the op type.
      control_inputs: Operations, or tensors of operations, that a step runs before it.
      input_types: Ignored: the types of the inputs follow from the op type.
      original_op: The operation for which it is made, as gradients are for one.
      op_def: Ignored: the op type must be registered.
    """

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

    graph: Graph
    definition: Op
    name: str
    inputs: tuple[Tensor, ...]
    outputs: list[Tensor]
    control_inputs: list[Operation]
    attrs: dict[str, Any]
    _control_flow_context: ControlFlowContext | None
    _device: str
    _frames: tuple[Frame, ...]
    _gradient_name: str | None
    _id: int
    _original_op: Operation | None

    def __new__(
        cls,
        node_def: NodeDef,
        g: Graph,
        inputs: Sequence[Tensor] | None = None,
        output_types: Any = None,
        control_inputs: Sequence[Operation | Tensor] | None = None,
        input_types: Any = None,
        original_op: Operation | None = None,
        op_def: Any = None,
    ) -> Operation:
        from tideflow.graph.graph_import import add_described_node  # loaded when asked for

        op = add_described_node(g, node_def, inputs or [], control_inputs or [])
        if original_op is not None:
            op._original_op = original_op
        return op

    @classmethod
    def _made(
        cls,
        graph: Graph,
        definition: Op,
        name: str,
        inputs: list[Tensor],
        attrs: dict[str, Any],
        output_types: Sequence[dtypes.DType],
        frames: tuple[Frame, ...],
    ) -> Operation:
        """An operation that no graph has yet."""
        made = object.__new__(cls)
        made.graph = graph
        made.definition = definition
        made.name = name
        made.inputs = tuple(inputs)
        made.attrs = attrs
        made.control_inputs = []
        made._device = ""
        made._frames = frames
        made._id = -1
        made._original_op = None
        made._gradient_name = None
        made._control_flow_context = None
        made.outputs = [Tensor(made, i, dtype) for i, dtype in enumerate(output_types)]
        for tensor in inputs:
            tensor._consumers.append(made)
        return made

    # ------------------------------------------------------------------ properties

    @property
    def type(self) -> str:
        """The name of the op type, such as `"MatMul"`."""
        return self.definition.name

    @property
    def device(self) -> str:
        """The device that the program requested, which may be partial; "" if it requested none."""
        return self._device

    @property
    def op_def(self) -> OpDef:
        """The OpDef message of this op type."""
        return op_def_proto(self.definition)

    @property
    def node_def(self) -> NodeDef:
        """The NodeDef message of this node."""
        return node_def_proto(self)

    @property
    def traceback(self) -> list[tuple[str, int, str, str | None]]:
        """The frames of the program that made this operation, outermost first.

        Each is a tuple of file, line number, function name and source line.
        """
        found = [(*file_and_line(frame), frame[0].co_name) for frame in self._frames[::-1]]
        return [
            (file, line, name, linecache.getline(file, line).strip() or None) for file, line, name in found
        ]

    @property
    def traceback_with_start_lines(self) -> list[tuple[str, int, str, str | None, int]]:
        """`traceback`, each entry followed by the line on which its function begins."""
        return [(*entry, frame[0].co_firstlineno) for entry, frame in zip(self.traceback, self._frames[::-1])]

    @property
    def user_line(self) -> str:
        """`file:line` of the program that made this op."""
        return user_line(self._frames)

    def wants_gradient(self, index: int) -> bool:
        """Whether the gradient of an input is used. In a graph, steps leave out what is not."""
        return True

    def get_attr(self, name: str) -> Any:
        """Gets the value of an attribute.

        Args:
          name: The attribute's name.

        Returns:
          The value: a number, a bool, bytes for a string, a DType, a TensorShapeProto, a TensorProto, or a
          list of one of those.

        Raises:
          ValueError: If the operation has no such attribute.
        """
        if name not in self.attrs:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        value = self.attrs[name]
        return self.node_def.attr[name].tensor if isinstance(value, np.ndarray) else _public_attr(value)

    def values(self) -> tuple[Tensor, ...]:
        """The output tensors as a tuple."""
        return tuple(self.outputs)

    def colocation_groups(self) -> list[bytes]:
        """The colocation groups of this operation, as `b"loc:@name"`; its own group if it joined none."""
        groups = [group for group in self.attrs.get("_class", ()) if group.startswith("loc:@")]
        return [group.encode() for group in groups or [f"loc:@{self.name}"]]

    def run(self, feed_dict: FeedDict | None = None, session: SessionLike | None = None) -> None:
        """Runs this operation and everything that it depends on.

        Args:
          feed_dict: Values to use in place of tensors, as in `Session.run`.
          session: The session to run in; the default session if None.

        Raises:
          ValueError: If there is no session, or it runs another graph.
        """
        self.graph._session_for("run", "operation", session).run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)

    # ------------------------------------------------------------------ changes
    # Each is reported to the graph, because plans that were compiled from the node are stale then.

    def _set_attr(self, name: str, value: Any) -> None:
        """Sets an attribute from its stored form or from an AttrValue message."""
        self.attrs[name] = attr_from_proto(value) if hasattr(value, "WhichOneof") else value
        self.graph._mutated()

    def _clear_attr(self, name: str) -> None:
        self.attrs.pop(name, None)
        self.graph._mutated()

    def _set_device(self, device: Any) -> None:
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
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor must be a Tensor: {tensor}")
        if tensor.graph is not self.graph:
            raise ValueError(f"{tensor} must be from the same graph as {self}.")
        inputs = list(self.inputs)
        if index >= len(inputs):
            raise errors.OutOfRangeError(
                None,
                None,
                f"Cannot update edge. Input index [{index}] is greater than the number of total inputs "
                f"[{len(inputs)}].",
            )
        old = inputs[index]
        if old.dtype.base_dtype is not tensor.dtype.base_dtype:
            raise errors.invalid_argument(
                f"Input {index} of node {self.name} was passed {tensor.dtype.base_dtype.name} from "
                f"{tensor.name} incompatible with expected {old.dtype.base_dtype.name}."
            )
        if not old.shape.is_compatible_with(tensor.shape):
            shown = [str(list(shape.as_list())).replace(" ", "") for shape in (tensor.shape, old.shape)]
            raise errors.invalid_argument(
                f"Cannot update edge, incompatible shapes: {shown[0]} and {shown[1]}."
            )
        old._consumers.remove(self)
        inputs[index] = tensor
        tensor._consumers.append(self)
        self.inputs = tuple(inputs)
        self.graph._mutated()

    # Programs that rewrite graphs read inputs and outputs by the names that they have inside TensorFlow.
    _inputs = property(lambda self: list(self.inputs))
    _outputs = property(lambda self: list(self.outputs))
    _control_inputs = property(lambda self: list(self.control_inputs))
    _graph = property(lambda self: self.graph)

    @property
    def _control_outputs(self) -> list[Operation]:
        return [op for op in self.graph.get_operations() if self in op.control_inputs]

    @property
    def _input_types(self) -> list[dtypes.DType]:
        """The types that the op type takes: references only where it wants to write."""
        grouped = self.definition.group_inputs(self.inputs, self.attrs)
        return [
            tensor.dtype if arg.is_ref else tensor.dtype.base_dtype
            for arg, value in zip(self.definition.inputs, grouped, strict=True)
            for tensor in (value if arg.is_list else [value])
        ]

    @property
    def _output_types(self) -> list[int]:
        return [tensor.dtype.as_datatype_enum for tensor in self.outputs]

    def _get_control_flow_context(self) -> ControlFlowContext | None:
        return self._control_flow_context

    def _set_control_flow_context(self, context: ControlFlowContext | None) -> None:
        self._control_flow_context = context


def ancestors(op: Operation) -> Iterator[Operation]:
    """The operation and all operations that it depends on."""
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
    """A hashable reference to a tensor or a variable. References to the same object are equal."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The tensor or the variable."""
        return self._wrapped

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


@export("Tensor")
class Tensor:
    """One output of an operation: a value that each step computes anew.

    A tensor has a dtype and a static shape, of which parts may be unknown. It has a value only during a step:
    `Session.run` returns it.

    Args:
      op: The operation that computes the tensor.
      value_index: The tensor's position among the outputs of `op`.
      dtype: The type of its elements.

    Attributes:
      op: The operation that computes the tensor.
      value_index: The tensor's position among the outputs of `op`.
      dtype: The type of its elements.
    """

    __slots__ = (
        "__dict__",  # programs set attributes of their own on tensors
        "__weakref__",
        "_consumers",
        "_shape",
        "dtype",
        "op",
        "value_index",
    )
    __array_priority__ = 100  # `ndarray + Tensor` calls Tensor.__radd__
    is_eager = False  # True of tensors that have a value (`eager/tensor.py`)

    OVERLOADABLE_OPERATORS: set[str] = set()

    def __init__(self, op: Operation, value_index: int, dtype: DTypeLike) -> None:
        self.op = op
        self.value_index = value_index
        self.dtype = dtypes.as_dtype(dtype)
        self._consumers: list[Operation] = []
        self._shape: TensorShape = TensorShape(None)

    @property
    def name(self) -> str:
        """The tensor's name: its operation's name and its output index, `"op:0"`."""
        return f"{self.op.name}:{self.value_index}"

    _op = property(lambda self: self.op)  # its name inside TensorFlow, which programs read

    @property
    def graph(self) -> Graph:
        """The graph that contains the tensor."""
        return self.op.graph

    @property
    def device(self) -> str:
        """The device that the program requested for the tensor's operation."""
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        """The static shape: what is known of the shape before a step runs. `tf.shape` gives all of it."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The static shape, as `shape` has it."""
        return self._shape

    def set_shape(self, shape: ShapeLike | None) -> None:
        """Adds to the static shape what the program knows about it.

        Args:
          shape: The shape. It is merged with what is known; a step does not check it.

        Raises:
          ValueError: If it contradicts what is known.
        """
        given = as_shape(shape)
        difference = mismatch(self._shape, given)
        if difference:
            raise ValueError(difference)
        self._shape = self._shape.merge_with(given)

    def _shape_as_list(self) -> list[int | None] | None:
        return self._shape.as_list() if self._shape.ndims is not None else None

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return None if (sizes := self._shape_as_list()) is None else tuple(sizes)

    def _rank(self) -> int | None:
        return self._shape.ndims

    def _as_node_def_input(self) -> str:
        return self.name if self.value_index else self.op.name

    def _as_tf_output(self) -> Tensor:
        """What libraries give to functions of TensorFlow's C interface in the place of the tensor."""
        return self

    def consumers(self) -> list[Operation]:
        """The operations that have this tensor as an input, once for each input."""
        return list(self._consumers)

    def eval(self, feed_dict: FeedDict | None = None, session: SessionLike | None = None) -> Any:
        """Computes the tensor's value.

        Args:
          feed_dict: Values to use in place of tensors, as in `Session.run`.
          session: The session to run in; the default session if None.

        Returns:
          The value as a NumPy array or scalar.

        Raises:
          ValueError: If there is no session, or it runs another graph.
        """
        return self.graph._session_for("eval", "tensor", session).run(self, feed_dict)

    def experimental_ref(self) -> Reference:
        """A hashable reference to this tensor, for use as a key in dictionaries and sets."""
        return Reference(self)

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self._shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self._shape.ndims is None else f", shape={self._shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __bool__(self) -> bool:
        raise _not_in_graph(
            "using a `tf.Tensor` as a Python `bool`",
            "tf.cond for what depends on the tensor's value; whether a tensor is defined is asked by "
            "`if t is not None:`.",
        )

    __nonzero__ = __bool__

    def __iter__(self) -> NoReturn:
        raise _not_in_graph("iterating over `tf.Tensor`", "tf.unstack for its parts along the first axis.")

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` rather than "
            "`len(x)` for shape information."
        )

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array.")

    @staticmethod
    def _override_operator(operator: str, function: Callable[..., Any]) -> None:
        """Sets a Python operator of tensors. The modules that define the ops call this."""
        setattr(Tensor, operator, function)
        Tensor.OVERLOADABLE_OPERATORS.add(operator)

    if TYPE_CHECKING:  # the operators that `ops/` sets

        def __add__(self, other: TensorLike) -> Tensor: ...
        def __radd__(self, other: TensorLike) -> Tensor: ...
        def __sub__(self, other: TensorLike) -> Tensor: ...
        def __rsub__(self, other: TensorLike) -> Tensor: ...
        def __mul__(self, other: TensorLike) -> Tensor: ...
        def __rmul__(self, other: TensorLike) -> Tensor: ...
        def __truediv__(self, other: TensorLike) -> Tensor: ...
        def __rtruediv__(self, other: TensorLike) -> Tensor: ...
        def __floordiv__(self, other: TensorLike) -> Tensor: ...
        def __rfloordiv__(self, other: TensorLike) -> Tensor: ...
        def __mod__(self, other: TensorLike) -> Tensor: ...
        def __rmod__(self, other: TensorLike) -> Tensor: ...
        def __pow__(self, other: TensorLike) -> Tensor: ...
        def __rpow__(self, other: TensorLike) -> Tensor: ...
        def __matmul__(self, other: TensorLike) -> Tensor: ...
        def __rmatmul__(self, other: TensorLike) -> Tensor: ...
        def __and__(self, other: TensorLike) -> Tensor: ...
        def __rand__(self, other: TensorLike) -> Tensor: ...
        def __or__(self, other: TensorLike) -> Tensor: ...
        def __ror__(self, other: TensorLike) -> Tensor: ...
        def __xor__(self, other: TensorLike) -> Tensor: ...
        def __rxor__(self, other: TensorLike) -> Tensor: ...
        def __lt__(self, other: TensorLike) -> Tensor: ...
        def __le__(self, other: TensorLike) -> Tensor: ...
        def __gt__(self, other: TensorLike) -> Tensor: ...
        def __ge__(self, other: TensorLike) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...


def _not_in_graph(what: str, instead: str) -> OperatorNotAllowedInGraphError:
    """The error for what Python cannot do with a tensor that has no value yet."""
    converted = runs_converted()
    if converted is None:
        return OperatorNotAllowedInGraphError(
            f"{what} is not allowed in Graph execution. Use Eager execution or decorate this function with "
            f"@tf.function, or {instead}"
        )
    why = "AutoGraph did not convert this function" if converted else "AutoGraph is disabled in this function"
    return OperatorNotAllowedInGraphError(
        f"{what} is not allowed: {why}. Try decorating it directly with @tf.function, or use {instead}"
    )
