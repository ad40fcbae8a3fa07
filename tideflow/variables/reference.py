"""RefVariable: a variable that a tensor of a reference type stands for. TensorFlow 1's default."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import colocate_with, device, init_scope, name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants, indexing, slicing
from tideflow.ops.state import reference_variables
from tideflow.variables import base, initial
from tideflow.variables.base import Variable, VariableAggregation, VariableSynchronization

if TYPE_CHECKING:
    from tideflow.graph.typing import DeviceLike, DTypeLike, ShapeLike, TensorLike


class RefVariable(Variable):
    """A variable whose operations take a reference to it; its node `read` gives the value."""

    def __init__(
        self,
        initial_value: TensorLike | Callable[[], TensorLike] | None = None,
        trainable: bool | None = None,
        collections: Sequence[Any] | None = None,
        validate_shape: bool = True,
        caching_device: DeviceLike | None = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: DTypeLike | None = None,
        expected_shape: ShapeLike | None = None,
        import_scope: str | None = None,
        constraint: Callable | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: ShapeLike | None = None,
    ):
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            parts = self._restore_from_def(variable_def, import_scope)
            self._variable, self._snapshot = parts["variable"], parts["snapshot"]
            self._caching_device = None
            return
        base.check_arguments(name, initial_value, collections, constraint)
        self._synchronization = synchronization or VariableSynchronization.AUTO
        self._aggregation = aggregation or VariableAggregation.NONE
        self._trainable = base.is_trainable(trainable, synchronization)
        self._constraint = constraint
        self._caching_device = caching_device
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        with init_scope():
            self._build(
                initial_value, name, dtype, None if shape is None else as_shape(shape), validate_shape
            )
            base.add_to_collections(self, collections, self._trainable)

    def _build(
        self,
        initial_value: Any,
        name: str | None,
        dtype: Any,
        shape: TensorShape | None,
        validate_shape: bool,
    ) -> None:
        values = [] if callable(initial_value) else [initial_value]
        with name_scope(name, "Variable", values) as scope:
            if callable(initial_value):
                with initial.beside(scope[:-1]):
                    with name_scope("Initializer"), device(None):
                        value = convert_to_tensor(initial_value(), name="initial_value", dtype=dtype)
                    self._variable = _make(value, shape, validate_shape, scope)
            else:
                value = convert_to_tensor(initial_value, name="initial_value", dtype=dtype)
                self._variable = _make(value, shape, validate_shape, scope)
            if validate_shape and not value.shape.is_fully_defined():
                raise ValueError(f"initial_value must have a shape specified: {value}")
            self._initial_value = value
            safe = initial.guarded(value, scope)
            self._initializer_op = reference_variables.assign(
                self._variable, safe, validate_shape=validate_shape
            ).op
            with device(self._caching_device) if self._caching_device else colocate_with(self._variable.op):
                self._snapshot = constants.identity(self._variable, name="read")

    # --------------------------------------------------------------------------------------------- what it is

    @property
    def op(self) -> Operation:
        return self._variable.op

    @property
    def name(self) -> str:
        return self._variable.name

    @property
    def device(self) -> str:
        return self._variable.device

    @property
    def graph(self) -> Graph:
        return self._variable.graph

    @property
    def dtype(self) -> dtypes.DType:
        return self._variable.dtype

    @property
    def shape(self) -> TensorShape:
        return self._variable.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Adds what the program knows about the shape."""
        self._ref().set_shape(shape)
        self.value().set_shape(shape)

    # ------------------------------------------------------------------------------------------------ reading

    def _ref(self) -> Tensor:
        return self._variable

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def value(self) -> Tensor:
        """The value, as the variable's own `read` node gives it."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """The value at the place in the program where this is called, control dependencies included."""
        return constants.identity(self._variable, name="read")

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Rows of the value."""
        return indexing.gather(self.value(), indices, name=name)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Slices of the value at index vectors."""
        return indexing.gather_nd(self.value(), indices, name=name)

    # ------------------------------------------------------------------------------------------------ writing

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """A new value. Returns the variable after that, or with `read_value=False` the operation."""
        result = reference_variables.assign(self._variable, value, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_add(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds `delta`."""
        result = reference_variables.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_sub(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts `delta`."""
        result = reference_variables.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def _strided_slice_assign(
        self, begin: Any, end: Any, strides: Any, value: Any, name: str | None, **masks: int
    ) -> Tensor:
        return slicing.strided_slice_assign_op(self._ref(), begin, end, strides, value, name=name, **masks)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef message; None where the variable is not in the exported scope."""
        return self._variable_def(export_scope, self._snapshot.name, is_resource=False)


def _make(value: Tensor, shape: TensorShape | None, validate_shape: bool, scope: str) -> Tensor:
    """The variable's node: of the given shape, the initial value's, or any where that is not validated."""
    if shape is None:
        shape = value.shape if validate_shape else TensorShape(None)
    return reference_variables.variable_v2_op(shape=shape, dtype=value.dtype.base_dtype, name=scope)


def _to_tensor(
    variable: RefVariable, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    base.check_conversion(variable, dtype)
    return variable._ref() if as_ref else variable.value()


register_tensor_conversion_function(RefVariable, _to_tensor)
