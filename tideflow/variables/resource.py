"""ResourceVariable: a variable behind a handle, each read of which is an operation."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tideflow.graph.functions import FunctionGraph
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    colocate_with,
    control_dependencies,
    device,
    executing_eagerly,
    get_default_graph,
    init_scope,
    name_scope,
)
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants, slicing
from tideflow.ops.state import resource_variables, variable_rows
from tideflow.variables import base, initial
from tideflow.variables.base import Variable, VariableAggregation, VariableSynchronization

if TYPE_CHECKING:
    from tideflow.graph.typing import DeviceLike, DTypeLike, ShapeLike, TensorLike


_HERE = nullcontext()  # for variables of eager mode, which any graph can capture


class BaseResourceVariable(Variable):
    """A handle, and what may be done with the variable behind it."""

    _is_resource_variable = True
    _handle: Tensor
    _dtype: dtypes.DType
    _cached_value: Tensor | None = None
    _eager_name: str | None = None  # the name of a variable of eager mode

    # --------------------------------------------------------------------------------------------- what it is

    @property
    def handle(self) -> Tensor:
        """The tensor that operations on the variable take."""
        return self._handle

    @property
    def op(self) -> Operation:
        return self._handle.op

    @property
    def name(self) -> str:
        return self._handle.name if self._eager_name is None else f"{self._eager_name}:0"

    @property
    def _shared_name(self) -> str:
        return super()._shared_name if self._eager_name is None else self._eager_name

    @property
    def device(self) -> str:
        return self._handle.device

    @property
    def graph(self) -> Graph:
        return self._handle.graph

    def __copy__(self) -> ResourceVariable:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        if self._eager_name is None:
            raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")
        copied = memo[id(self)] = ResourceVariable(self.read_value(), **self._settings())
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        """How an eager variable is pickled: with its value."""
        if self._eager_name is None:
            raise NotImplementedError("a variable of a graph has its value in a session: save it from there")
        return functools.partial(ResourceVariable, self.numpy(), **self._settings()), ()

    def _settings(self) -> dict[str, Any]:
        return {
            "trainable": self.trainable,
            "constraint": self._constraint,
            "dtype": self._dtype,
            "name": self._eager_name,
            "synchronization": self._synchronization,
            "aggregation": self._aggregation,
        }

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return resource_variables.variable_shape_of(self._handle.shape)

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.shape.ndims is None else self.shape.as_list()

    def _shape_tuple(self) -> tuple | None:
        return self.shape.tuple

    @property
    def create(self) -> Operation:
        """The operation that initializes the variable."""
        return self._initializer_op

    def set_shape(self, shape: ShapeLike) -> None:
        """A handle's variable keeps the shape it was made with."""
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether the variable has a value yet, as a boolean tensor."""
        return resource_variables.var_is_initialized_op(self._handle, name=name)

    def numpy(self) -> Any:
        """The value of a variable of eager mode. In a graph, values exist only in a session's steps."""
        if self._eager_name is None or not executing_eagerly():
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return self.read_value().numpy()  # type: ignore[attr-defined]

    def __bool__(self) -> bool:
        return bool(self.read_value())

    __nonzero__ = __bool__

    def __int__(self) -> int:
        return int(self.numpy())

    # ------------------------------------------------------------------------------------------------ reading

    def _read_variable_op(self) -> Tensor:
        return resource_variables.read_variable_op(self._handle, dtype=self._dtype)

    def __repr__(self) -> str:
        if self._eager_name is None or not executing_eagerly():
            return super().__repr__()
        text = repr(self.numpy()) if self.shape.ndims else str(self.numpy())
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, numpy={text}>"

    def _usable(self) -> AbstractContextManager:
        """A graph in which the variable can be used: its own, or a function's inside it, which then uses the
        variable whenever it is called.
        """
        if self._eager_name is not None:
            return _HERE
        current = graph = get_default_graph()
        while isinstance(graph, FunctionGraph):
            graph = graph.outer
            if graph is self.graph:
                return current.as_default()
        return self.graph.as_default()

    def value(self) -> Tensor:
        """A read of the variable, or its cached value where it has a caching device."""
        if self._cached_value is not None:
            return self._cached_value
        if self._eager_name is not None:
            return self._read_variable_op()
        with self._usable(), colocate_with(None, ignore_existing=True), device(self._handle.device):
            return self._read_variable_op()

    def read_value(self) -> Tensor:
        """A read at the place in the program where this is called, control dependencies included."""
        if self._eager_name is not None and executing_eagerly():
            return constants.identity(self._read_variable_op())
        with self._usable():
            with name_scope("Read"), device(self._handle.device):
                value = self._read_variable_op()
            return constants.identity(value)

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Rows of the variable, without reading the whole of it."""
        with name_scope("Gather" if name is None else name) as scope:
            value = variable_rows.resource_gather_op(self._handle, indices, dtype=self._dtype, name=scope)
        return constants.identity(value)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Slices of the variable at index vectors, without reading the whole of it."""
        with name_scope("GatherNd" if name is None else name) as scope:
            value = variable_rows.resource_gather_nd_op(self._handle, indices, dtype=self._dtype, name=scope)
        return constants.identity(value)

    def _as_graph_element(self) -> Tensor:
        return self._graph_element if self._eager_name is None else self.value()

    @property
    def initial_value(self) -> Tensor:
        if self._eager_name is not None:
            raise RuntimeError("initial_value not supported in EAGER mode.")
        return super().initial_value

    def initialized_value(self) -> Tensor:
        return super().initialized_value() if self._eager_name is None else self.read_value()

    def eval(self, session: Any = None) -> Any:
        if self._eager_name is not None:
            raise RuntimeError("Trying to eval in EAGER mode")
        return super().eval(session)

    def load(self, value: TensorLike, session: Any = None) -> None:
        if self._eager_name is None:
            super().load(value, session)
        else:
            self.assign(value)

    # ------------------------------------------------------------------------------------------------ writing

    def _lazy_read(self, op: Operation | None) -> _UnreadVariable:
        """The variable as it is after `op`."""
        return _UnreadVariable(self, op)

    def _after(self, op: Operation, read_value: bool) -> Any:
        return self._lazy_read(op) if read_value else op

    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """A new value. Returns the variable after that, or with `read_value=False` the operation."""
        with self._usable():
            tensor = convert_to_tensor(value, dtype=self._dtype)
            self.shape.assert_is_compatible_with(tensor.shape)
            return self._after(
                resource_variables.assign_variable_op(self._handle, tensor, name=name), read_value
            )

    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds `delta`."""
        with self._usable():
            delta = convert_to_tensor(delta, dtype=self._dtype)
            return self._after(
                resource_variables.assign_add_variable_op(self._handle, delta, name=name), read_value
            )

    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts `delta`."""
        with self._usable():
            delta = convert_to_tensor(delta, dtype=self._dtype)
            return self._after(
                resource_variables.assign_sub_variable_op(self._handle, delta, name=name), read_value
            )

    def _strided_slice_assign(
        self, begin: Any, end: Any, strides: Any, value: Any, name: str | None, **masks: int
    ) -> Any:
        value = convert_to_tensor(value, dtype=self._dtype)
        op = slicing.resource_strided_slice_assign_op(
            self._handle, begin, end, strides, value, name=name, **masks
        )
        return self._lazy_read(op)

    def _refuse_in_place(self, other: Any) -> Any:
        raise RuntimeError(
            "Variable += value not supported. Use variable.assign_add(value) to modify the variable value "
            "and variable = variable + value to get a new Tensor object."
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = _refuse_in_place

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef message; None where the variable is not in the exported scope."""
        return self._variable_def(export_scope, self._graph_element.name, is_resource=True)


class _Creation:
    """What happens to each variable that has its value when it is made, while a block asks for it."""

    def __init__(self) -> None:
        self.when_made: Callable[[ResourceVariable], None] | None = None


creation = _Creation()


class ResourceVariable(BaseResourceVariable):
    """A variable of its own, with handle, initializer and initial value."""

    def __init__(
        self,
        initial_value: TensorLike | Callable[[], TensorLike] | None = None,
        trainable: bool | None = None,
        collections: Sequence[Any] | None = None,
        validate_shape: bool = True,
        caching_device: DeviceLike | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        variable_def: Any = None,
        import_scope: str | None = None,
        constraint: Callable | None = None,
        distribute_strategy: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: ShapeLike | None = None,
    ):
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._init_from_def(variable_def, import_scope)
            return
        base.check_arguments(name, initial_value, collections, constraint)
        if isinstance(initial_value, Tensor) and not initial_value.is_eager:
            _refuse_value_of_function(initial_value)
        self._synchronization = synchronization or VariableSynchronization.AUTO
        self._aggregation = aggregation or VariableAggregation.NONE
        self._trainable = base.is_trainable(trainable, synchronization)
        self._constraint = constraint
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        with init_scope():
            if executing_eagerly():
                self._set_up_eagerly(initial_value, name, dtype, shape)
                return
            self._build(initial_value, name, dtype, shape, caching_device)
            base.add_to_collections(self, collections, self._trainable)

    def _set_up_eagerly(self, initial_value: Any, name: str | None, dtype: Any, shape: Any) -> None:
        """Makes a variable that has its value now. It is in no graph, and lives as long as this object."""
        with name_scope(name, "Variable") as scope:
            self._eager_name = scope[:-1]
            value = convert_to_tensor(initial_value() if callable(initial_value) else initial_value, dtype)
            handle: Any = _make_handle(value, shape, scope, shared_name="")
        self._handle, self._dtype = handle, value.dtype.base_dtype
        self._initial_value, self._initializer_op = None, None  # type: ignore[assignment]
        handle._variable = weakref.ref(self)
        resource_variables.assign_variable_op(handle, value)
        if creation.when_made is not None:
            creation.when_made(self)

    def _build(
        self, initial_value: Any, name: str | None, dtype: Any, shape: Any, caching_device: Any
    ) -> None:
        values = [] if callable(initial_value) else [initial_value]
        with name_scope(name, "Variable", values) as scope:
            with initial.beside(scope[:-1]):
                with name_scope("Initializer"), device(None):
                    value = initial_value() if callable(initial_value) else initial_value
                    value = convert_to_tensor(value, name="initial_value", dtype=dtype)
                self._handle = _make_handle(value, shape, scope)
            self._dtype = value.dtype.base_dtype
            self._initial_value = value
            with name_scope("IsInitialized"):
                self._is_initialized_op = resource_variables.var_is_initialized_op(self._handle)
            place = self._handle.device
            safe = initial.guarded(value, scope)
            with name_scope("Assign") as inner, colocate_with(None, ignore_existing=True), device(place):
                self._initializer_op = resource_variables.assign_variable_op(self._handle, safe, name=inner)
            with name_scope("Read"):
                with device(place):
                    self._graph_element = self._read_variable_op()
                if caching_device is not None:
                    with colocate_with(None, ignore_existing=True), device(caching_device):
                        self._cached_value = constants.identity(self._graph_element)

    def _init_from_def(self, variable_def: Any, import_scope: str | None) -> None:
        if not variable_def.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        parts = self._restore_from_def(variable_def, import_scope)
        self._handle, self._graph_element = parts["variable"], parts["snapshot"]
        self._dtype = dtypes.as_dtype(self._handle.op.attrs["dtype"])
        if self._graph_element.op.definition.role != "read":
            self._cached_value = self._graph_element


def _refuse_value_of_function(value: Tensor) -> None:
    if value.graph.building_function:
        raise ValueError(
            "Tensor-typed variable initializers must either be wrapped in an init_scope or callable (e.g., "
            "`tf.Variable(lambda : tf.truncated_normal([10, 40]))`) when building functions. The function "
            f"that is traced has {value}, which is not there yet when the variable is made."
        )


def _make_handle(value: Tensor, shape: Any, scope: str, shared_name: str | None = None) -> Tensor:
    if shape is not None and not value.shape.is_compatible_with(as_shape(shape)):
        raise ValueError(
            f"The initial value's shape ({value.shape}) is not compatible with the explicitly supplied "
            f"`shape` argument ({shape})."
        )
    return resource_variables.var_handle_op(
        dtype=value.dtype.base_dtype,
        shape=value.shape if shape is None else as_shape(shape),
        shared_name=scope[:-1] if shared_name is None else shared_name,
        name=scope,
    )


def uncollected(
    initial_value: Any, trainable: bool | None = None, collections: Any = None, **arguments: Any
) -> ResourceVariable:
    """A variable of an object that a program holds: it is not among the graph's trainable variables."""
    variable = ResourceVariable(initial_value, trainable=False, **arguments)
    variable._trainable = base.is_trainable(trainable, variable.synchronization)
    return variable


class _UnreadVariable(BaseResourceVariable):
    """A variable as it is after an operation: every read of it waits for that operation."""

    def __init__(self, variable: BaseResourceVariable, parent: Operation | None):
        if parent is None:  # it has run already: eager mode
            vars(self).update(vars(variable))
            self._variable = variable  # tapes watch the handle through it
            return
        for name in (
            "_handle",
            "_dtype",
            "_initial_value",
            "_initializer_op",
            "_trainable",
            "_constraint",
            "_synchronization",
            "_aggregation",
        ):
            setattr(self, name, getattr(variable, name))
        if self._handle.is_eager:  # the function that is being traced has a handle in its place
            self._handle = parent.graph.capture(self._handle)
        self._save_slice_info = variable._save_slice_info
        self._parent = parent
        self._graph_element: Tensor | None = None
        if not parent.graph.building_function:  # a session may fetch it
            with parent.graph.as_default(), control_dependencies([parent]):
                self._graph_element = super()._read_variable_op()

    @property
    def name(self) -> str:
        return self._parent.name if self._eager_name is None else "UnreadVariable"

    @property
    def op(self) -> Operation:
        """The operation that was waited for."""
        return self._parent if self._eager_name is None else super().op

    def _read_variable_op(self) -> Tensor:
        if self._eager_name is not None:
            return super()._read_variable_op()
        with control_dependencies([self._parent]):
            return super()._read_variable_op()


def _to_tensor(
    variable: BaseResourceVariable, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    base.check_conversion(variable, dtype)
    return variable.value()


register_tensor_conversion_function(BaseResourceVariable, _to_tensor)
