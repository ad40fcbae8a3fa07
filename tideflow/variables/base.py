"""tf.Variable: what both kinds of variables share, and how `tf.Variable(...)` chooses the kind."""

from __future__ import annotations

import abc
import enum
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.variable_pb2 import SaveSliceInfoDef, VariableDef

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Reference, Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph, get_default_session, init_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import slicing
from tideflow.ops.control_flow import conditionals
from tideflow.ops.state import reference_variables, variable_rows
from tideflow.variables.trackable import VARIABLE_VALUE, Trackable


@export("VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """When copies of a variable on several devices are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@export("VariableAggregation")
class VariableAggregation(enum.Enum):
    """How writes from several devices become one."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3

    def __hash__(self) -> int:
        return hash(self.value)


# ---------------------------------------------------------------------------------- resource variables or not


class _Default:
    use_resource = False


@export("enable_resource_variables")
def enable_resource_variables() -> None:
    """Variables are resource variables from here on, unless asked otherwise."""
    _Default.use_resource = True


@export("disable_resource_variables")
def disable_resource_variables() -> None:
    """Variables are reference variables from here on, unless asked otherwise."""
    _Default.use_resource = False


@export("resource_variables_enabled")
def resource_variables_enabled() -> bool:
    """Whether variables are resource variables where nothing else is asked."""
    return _Default.use_resource


# --------------------------------------------------------------------------------------- who makes a variable

_CREATORS = ("__variable_creators",)


def creators_of(graph: Graph) -> list[Callable]:
    """The creators that `variable_creator_scope` put in force, outermost first."""
    return graph.get_collection_ref(_CREATORS)


def is_trainable(trainable: bool | None, synchronization: Any) -> bool:
    """What `trainable=None` means: yes, unless copies of the variable are only joined when read."""
    return synchronization is not VariableSynchronization.ON_READ if trainable is None else trainable


def _default_creator(**arguments: Any) -> Variable:
    """A reference or a resource variable, as the argument, the scope or the program's default says."""
    from tideflow.variables import (  # their classes are made of this module's
        reference,
        resource,
        variable_scope,
    )

    use_resource = arguments.pop("use_resource")
    variable_def = arguments["variable_def"]
    if variable_def is not None:
        use_resource = variable_def.is_resource
    if use_resource is None:
        use_resource = variable_scope.get_variable_scope().use_resource
    if use_resource is None:
        use_resource = resource_variables_enabled()
    if not use_resource:
        return reference.RefVariable(**arguments)
    del arguments["validate_shape"], arguments["expected_shape"]
    return resource.ResourceVariable(**arguments)


class VariableMetaclass(abc.ABCMeta):
    """`tf.Variable(...)` asks the creators in force for a variable; a subclass is made directly."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        bound = _SIGNATURE.bind(None, *args, **kwargs)
        bound.apply_defaults()
        arguments = {key: value for key, value in bound.arguments.items() if key != "self"}
        create: Callable = _default_creator
        for creator in creators_of(get_default_graph()):
            create = _chained(creator, create)
        return create(**arguments)

    @property
    def __signature__(cls) -> inspect.Signature:
        """What a class of variables takes is what its constructor says, whoever makes the variable."""
        own = inspect.signature(cls.__init__)
        return own.replace(parameters=list(own.parameters.values())[1:])


def _chained(creator: Callable, inner: Callable) -> Callable:
    return lambda **arguments: creator(inner, **arguments)


# ---------------------------------------------------------------------------------------- the variable itself


@export("Variable")
class Variable(Trackable, metaclass=VariableMetaclass):
    """State that keeps its value between steps; where a tensor is wanted it stands for its current value."""

    __array_priority__ = 100  # ndarray + Variable is ours to answer

    _initial_value: Tensor | None
    _initializer_op: Operation
    _trainable: bool
    _constraint: Callable | None
    _synchronization: Any
    _aggregation: Any
    _save_slice_info: SaveSliceInfo | None = None

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Sequence[Any] | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: VariableDef | None = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable | None = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ):
        raise TypeError("tf.Variable is made by RefVariable or ResourceVariable")

    # ------------------------------------------------------------------------ what a kind of variable has

    @property
    @abc.abstractmethod
    def op(self) -> Operation:
        """The operation that holds the state."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the operation's output."""

    @property
    @abc.abstractmethod
    def device(self) -> str:
        """The device asked for, "" where nothing was asked."""

    @property
    @abc.abstractmethod
    def graph(self) -> Graph:
        """The graph it is in."""

    @property
    @abc.abstractmethod
    def dtype(self) -> dtypes.DType:
        """The type of its elements; of a reference variable, a reference to it."""

    @property
    @abc.abstractmethod
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""

    @abc.abstractmethod
    def set_shape(self, shape: Any) -> None:
        """Adds what the program knows about the shape."""

    @abc.abstractmethod
    def _as_graph_element(self) -> Tensor:
        """The tensor that fetching or feeding the variable means."""

    @abc.abstractmethod
    def value(self) -> Tensor:
        """The value where the variable is used as a tensor."""

    @abc.abstractmethod
    def read_value(self) -> Tensor:
        """The value at the place in the program where this is called, control dependencies included."""

    @abc.abstractmethod
    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Rows of the value."""

    @abc.abstractmethod
    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Slices of the value at index vectors."""

    @abc.abstractmethod
    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """A new value. Returns the variable after that, or with `read_value=False` the operation."""

    @abc.abstractmethod
    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds `delta`. Returns as `assign` does."""

    @abc.abstractmethod
    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts `delta`. Returns as `assign` does."""

    @abc.abstractmethod
    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """The VariableDef message; None where the variable is not in the exported scope."""

    # --------------------------------------------------------------------------------------------- what it is

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def synchronization(self) -> Any:
        return self._synchronization

    @property
    def aggregation(self) -> Any:
        return self._aggregation

    @property
    def constraint(self) -> Callable | None:
        """The projection that optimizers apply after an update, if any."""
        return self._constraint

    @property
    def initializer(self) -> Operation:
        """The operation that gives the variable its initial value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Tensor | None:
        """The tensor that the initializer assigns."""
        return self._initial_value

    @property
    def _shared_name(self) -> str:
        return self.name.partition(":")[0]

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE: self}

    def get_shape(self) -> TensorShape:
        return self.shape

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __iter__(self):
        """A variable is not a sequence: looping over one would never end."""
        raise TypeError("'Variable' object is not iterable.")

    def experimental_ref(self) -> Reference:
        """A hashable reference to this object."""
        return Reference(self)

    # ---------------------------------------------------------------------------------------------- its value

    def initialized_value(self) -> Tensor:
        """The value, or while there is none the initial value: safe in other variables' initial values."""
        with init_scope():
            return conditionals.cond(
                reference_variables.is_variable_initialized(self), self.read_value, lambda: self.initial_value
            )

    def eval(self, session: Any = None) -> Any:
        """The current value, from `session` or the default session."""
        return self._as_graph_element().eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Gives the variable this value at once, in `session` or the default session."""
        session = session or get_default_session()
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def count_up_to(self, limit: int) -> Tensor:
        """Increments and returns what it was; OutOfRangeError once `limit` is reached."""
        return reference_variables.count_up_to(self, limit=limit)

    # ----------------------------------------------------------------------------------------- sparse changes

    def _scatter(self, function: str, delta: Any, use_locking: bool, name: str | None) -> Any:
        if not isinstance(delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {delta}")
        return getattr(variable_rows, function)(self, delta.indices, delta.values, use_locking, name)

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds the slices."""
        return self._scatter("scatter_add", sparse_delta, use_locking, name)

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Subtracts the slices."""
        return self._scatter("scatter_sub", sparse_delta, use_locking, name)

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Multiplies by the slices."""
        return self._scatter("scatter_mul", sparse_delta, use_locking, name)

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Divides by the slices."""
        return self._scatter("scatter_div", sparse_delta, use_locking, name)

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Keeps the least of each element and its slice's."""
        return self._scatter("scatter_min", sparse_delta, use_locking, name)

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Keeps the greatest of each element and its slice's."""
        return self._scatter("scatter_max", sparse_delta, use_locking, name)

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces rows by the slices."""
        return self._scatter("scatter_update", sparse_delta, use_locking, name)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces rows along the last axis of the indices, batch by batch."""
        indices, values = sparse_delta.indices, sparse_delta.values
        return variable_rows.batch_scatter_update(self, indices, values, use_locking, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Adds `updates` to the slices at index vectors `indices`."""
        return variable_rows.scatter_nd_add(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtracts `updates` from the slices at index vectors `indices`."""
        return variable_rows.scatter_nd_sub(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replaces the slices at index vectors `indices`."""
        return variable_rows.scatter_nd_update(self, indices, updates, use_locking=True, name=name)

    # ------------------------------------------------------------------------------------------- as a message

    def _set_save_slice_info(self, save_slice_info: SaveSliceInfo) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> SaveSliceInfo | None:
        return self._save_slice_info

    def _variable_def(
        self, export_scope: str | None, snapshot_name: str, is_resource: bool
    ) -> VariableDef | None:
        """The message; None where the variable is not in the exported scope."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        message = VariableDef(
            variable_name=strip_name_scope(self.name, export_scope),
            initializer_name=strip_name_scope(self.initializer.name, export_scope),
            snapshot_name=strip_name_scope(snapshot_name, export_scope),
            trainable=self.trainable,
            is_resource=is_resource,
            synchronization=_number(self.synchronization),
            aggregation=_number(self.aggregation),
        )
        if self._initial_value is not None:
            message.initial_value_name = strip_name_scope(self._initial_value.name, export_scope)
        if self._save_slice_info is not None:
            message.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope))
        return message

    def _restore_from_def(self, variable_def: VariableDef, import_scope: str | None) -> dict[str, Any]:
        """Takes what the message says of any variable; returns the graph elements it names."""
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        variable = element(variable_def.variable_name)
        self._initializer_op = element(variable_def.initializer_name)
        named = variable_def.initial_value_name
        self._initial_value = element(named) if named else None
        self._trainable = getattr(variable_def, "trainable", True)
        self._synchronization = VariableSynchronization(variable_def.synchronization)
        self._aggregation = VariableAggregation(variable_def.aggregation)
        self._constraint = None
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(
                save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope
            )
        return {
            "variable": variable,
            "snapshot": element(variable_def.snapshot_name),
        }

    @staticmethod
    def from_proto(variable_def: VariableDef, import_scope: str | None = None) -> Variable:
        """The variable that a message describes, from nodes that are in the graph already."""
        return Variable(variable_def=variable_def, import_scope=import_scope)

    # ---------------------------------------------------------------------------------------------- operators

    @classmethod
    def _overload_operators(cls) -> None:
        """Gives variables the operators that tensors have, on the value."""
        for operator in Tensor.OVERLOADABLE_OPERATORS - {"__getitem__", "__eq__", "__ne__"}:
            setattr(cls, operator, _on_value(operator))

    def __getitem__(self, key: Any) -> Tensor:
        return slicing.slice_helper(self.value(), key, self)


def _on_value(operator: str) -> Callable:
    def run(self: Variable, *args: Any, **kwargs: Any) -> Any:
        return getattr(Tensor, operator)(self.value(), *args, **kwargs)

    run.__name__ = operator
    return run


_SIGNATURE = inspect.signature(Variable.__init__)


def _number(choice: Any) -> int:
    return choice.value if isinstance(choice, enum.Enum) else 0


# ---------------------------------------------------------------------------------- parts of larger variables


class SaveSliceInfo:
    """Which part of a larger variable this one is: checkpoints hold the whole under one name."""

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: SaveSliceInfoDef | None = None,
        import_scope: str | None = None,
    ):
        if save_slice_info_def is not None:
            self.full_name = prepend_name_scope(save_slice_info_def.full_name, import_scope)
            self.full_shape = list(save_slice_info_def.full_shape)
            self.var_offset = list(save_slice_info_def.var_offset)
            self.var_shape = list(save_slice_info_def.var_shape)
        else:
            self.full_name = full_name
            self.full_shape = full_shape
            self.var_offset = var_offset
            self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The part in checkpoint's notation: the full shape, then offset,size for each axis."""
        sizes = " ".join(str(size) for size in self.full_shape)
        parts = ":".join(f"{offset},{size}" for offset, size in zip(self.var_offset, self.var_shape))
        return f"{sizes} {parts}"

    def to_proto(self, export_scope: str | None = None) -> SaveSliceInfoDef | None:
        """The message; None where the variable is not in the exported scope."""
        if export_scope is not None and not self.full_name.startswith(export_scope):
            return None
        return SaveSliceInfoDef(
            full_name=strip_name_scope(self.full_name, export_scope),
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )


Variable.SaveSliceInfo = SaveSliceInfo


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """The name as seen from inside the exported scope."""
    if not export_scope:
        return name
    prefix = export_scope.removesuffix("/") + "/"
    return name.removeprefix(prefix)


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """The name as seen from outside the scope that a graph was imported into."""
    return f"{import_scope.removesuffix('/')}/{name}" if import_scope else name


# -------------------------------------------------------------------------------------------------- arguments


def check_arguments(name: str | None, initial_value: Any, collections: Any, constraint: Any) -> None:
    """Refuses what no variable can be made from."""
    if initial_value is None:
        raise ValueError("initial_value must be specified.")
    if collections is not None and not isinstance(collections, (list, tuple, set)):
        raise ValueError(
            "collections argument to Variable constructor must be a list, tuple, or set. Got "
            f"{collections} of type {type(collections)}"
        )
    if constraint is not None and not callable(constraint):
        raise ValueError("The `constraint` argument must be a callable.")
    if name == "":
        raise ValueError("'' is not a valid node name")


def add_to_collections(variable: Variable, collections: Sequence[Any] | None, trainable: bool) -> None:
    """Files a new variable: under the global variables by default, and under the trainable ones."""
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
        keys.append(GraphKeys.TRAINABLE_VARIABLES)
    get_default_graph().add_to_collections(keys, variable)


def check_conversion(variable: Variable, dtype: Any) -> None:
    """A variable converts to tensors of its own type only."""
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtypes.as_dtype(dtype).name}' for variable of "
            f"type '{variable.dtype.name}'"
        )
