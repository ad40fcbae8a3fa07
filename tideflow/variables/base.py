"""tf.Variable: what both kinds of variables share, and how `tf.Variable(...)` chooses the kind."""

from __future__ import annotations

import abc
import enum
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.variable_pb2 import VariableDef

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Reference, Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph, get_default_session, init_scope
from tideflow.graph.shapes import TensorShape
from tideflow.graph.stacks import default_graphs
from tideflow.ops.arrays import slicing
from tideflow.ops.control_flow import conditionals
from tideflow.ops.state import reference_variables, variable_rows
from tideflow.variables.exported_names import prepend_name_scope, strip_name_scope
from tideflow.variables.save_slices import SaveSliceInfo
from tideflow.variables.trackable import VARIABLE_VALUE, Trackable

if TYPE_CHECKING:
    from tideflow.graph.typing import DeviceLike, DTypeLike, SessionLike, ShapeLike, TensorLike


@export("VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """When the copies of a variable on several devices are synchronized.

    Attributes:
      AUTO: The distribution strategy decides.
      NONE: Never: there is one copy.
      ON_WRITE: Every write changes all copies.
      ON_READ: Each device writes its own copy; a read combines them.
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@export("VariableAggregation")
class VariableAggregation(enum.Enum):
    """How the writes of several devices to a variable are combined into one.

    Attributes:
      NONE: They are not combined; a write from several devices is an error.
      SUM: Their sum is written.
      MEAN: Their mean is written.
      ONLY_FIRST_REPLICA: The write of the first replica counts.
      ONLY_FIRST_TOWER: An older name of `ONLY_FIRST_REPLICA`.
    """

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
    creator: Callable[..., Variable]


@export("enable_resource_variables")
def enable_resource_variables() -> None:
    """Makes resource variables the default: `tf.Variable` and `tf.get_variable` then create them."""
    _Default.use_resource = True


@export("disable_resource_variables")
def disable_resource_variables() -> None:
    """Makes reference variables the default, as in TensorFlow 1."""
    _Default.use_resource = False


@export("resource_variables_enabled")
def resource_variables_enabled() -> bool:
    """Whether new variables are resource variables by default.

    Returns:
      True after `tf.enable_resource_variables`.
    """
    return _Default.use_resource


# -------------------------------------------------------------------------------------------------- creators

_CREATORS = ("__variable_creators",)


def creators_of(graph: Graph) -> list[Callable]:
    """The creators that `variable_creator_scope` put in force, outermost first."""
    return graph.get_collection_ref(_CREATORS)


def creators_in_force() -> list[Callable]:
    """The creators that make a variable here. An `init_scope` that leaves a traced function for eager mode
    does not leave the function's creators.
    """
    graphs = (graph for graph in reversed(default_graphs.items) if not graph.is_eager)
    return creators_of(next(graphs, None) or get_default_graph())


def is_trainable(trainable: bool | None, synchronization: Any) -> bool:
    """What `trainable=None` means: yes, unless copies of the variable are only joined when read."""
    return synchronization is not VariableSynchronization.ON_READ if trainable is None else trainable


def register_default_creator(creator: Callable[..., Variable]) -> None:
    """What makes a variable where no `variable_creator_scope` is in force."""
    _Default.creator = creator


class VariableMetaclass(abc.ABCMeta):
    """`tf.Variable(...)` asks the creators in force for a variable; a subclass is made directly."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        bound = _SIGNATURE.bind(None, *args, **kwargs)
        bound.apply_defaults()
        arguments = {key: value for key, value in bound.arguments.items() if key != "self"}
        create = _Default.creator
        for creator in creators_in_force():
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
    """State that keeps its value from one step of a session to the next.

    A variable can be used wherever a tensor can: it stands for its current value. It has a value only after
    its initializer has run in the session (`tf.global_variables_initializer`).

    Args:
      initial_value: The initial value: a tensor, an array, a number, nested lists, or a function without
        arguments that returns one of these.
      trainable: Whether the variable is added to the collection TRAINABLE_VARIABLES, which optimizers use.
        None means True, unless `synchronization` is ON_READ.
      collections: The keys of the graph collections to add the variable to; GLOBAL_VARIABLES if None.
      validate_shape: Whether the static shape of the initial value must be fully known. If not, the variable
        may have values of different shapes.
      caching_device: A device on which each read of the variable is cached.
      name: The name of the variable, which is made unique.
      variable_def: A VariableDef message. If given, the variable is made from nodes that exist in the graph.
      dtype: The type of the elements; that of the initial value if None.
      expected_shape: Ignored; it is accepted for old programs.
      import_scope: The name scope under which the nodes of `variable_def` were imported.
      constraint: A function that optimizers apply to the value after each update.
      use_resource: Whether this is a resource variable (True) or a reference variable (False); the default of
        the variable scope if None.
      synchronization: When copies on several devices are synchronized.
      aggregation: How the writes of several devices are combined.
      shape: The static shape; that of the initial value if None.

    Raises:
      ValueError: If there is no initial value, or `validate_shape` is set and its shape is not fully known.
    """

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
        initial_value: TensorLike | Callable[[], TensorLike] | None = None,
        trainable: bool | None = None,
        collections: Sequence[Any] | None = None,
        validate_shape: bool = True,
        caching_device: DeviceLike | None = None,
        name: str | None = None,
        variable_def: VariableDef | None = None,
        dtype: DTypeLike | None = None,
        expected_shape: ShapeLike | None = None,
        import_scope: str | None = None,
        constraint: Callable | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: ShapeLike | None = None,
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
        """The device that the program requested, "" if it requested none."""

    @property
    @abc.abstractmethod
    def graph(self) -> Graph:
        """The graph that contains the variable."""

    @property
    @abc.abstractmethod
    def dtype(self) -> dtypes.DType:
        """The type of the elements; for a reference variable, a reference to that type."""

    @property
    @abc.abstractmethod
    def shape(self) -> TensorShape:
        """The static shape."""

    @abc.abstractmethod
    def set_shape(self, shape: ShapeLike) -> None:
        """Adds to the static shape what the program knows about it.

        Args:
          shape: The shape.

        Raises:
          ValueError: If it contradicts what is known.
        """

    @abc.abstractmethod
    def _as_graph_element(self) -> Tensor:
        """The tensor that fetching or feeding the variable means."""

    @abc.abstractmethod
    def value(self) -> Tensor:
        """The tensor for the variable's value that is used where the variable is used as a tensor.

        Returns:
          The tensor. `read_value` reads the value at another point of the program.
        """

    @abc.abstractmethod
    def read_value(self) -> Tensor:
        """Adds an operation that reads the variable after the current control dependencies.

        Returns:
          The value as a tensor.
        """

    @abc.abstractmethod
    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Reads some rows of the variable.

        Args:
          indices: The indices of the rows along the first axis.
          name: The name of the operation.

        Returns:
          The rows as a tensor.
        """

    @abc.abstractmethod
    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Reads slices of the variable at index vectors.

        Args:
          indices: A tensor whose last axis has index vectors into the first axes of the variable.
          name: The name of the operation.

        Returns:
          The slices as a tensor.
        """

    @abc.abstractmethod
    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds an operation that assigns a new value.

        Args:
          value: The new value.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.
          read_value: Whether to return a value that is read after the assignment; if False, the operation is
            returned.

        Returns:
          The variable after the assignment, or the operation.
        """

    @abc.abstractmethod
    def assign_add(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds an operation that adds a value to the variable.

        Args:
          delta: The value to add.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.
          read_value: Whether to return a value that is read after the addition; if False, the operation is
            returned.

        Returns:
          The variable after the addition, or the operation.
        """

    @abc.abstractmethod
    def assign_sub(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds an operation that subtracts a value from the variable.

        Args:
          delta: The value to subtract.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.
          read_value: Whether to return a value that is read after the subtraction; if False, the operation is
            returned.

        Returns:
          The variable after the subtraction, or the operation.
        """

    @abc.abstractmethod
    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """Converts the variable to a VariableDef message.

        Args:
          export_scope: A name scope, which is removed from the names in the message.

        Returns:
          The message, or None if the variable is not in the scope.
        """

    # --------------------------------------------------------------------------------------------- what it is

    @property
    def trainable(self) -> bool:
        """Whether optimizers change the variable by default."""
        return self._trainable

    @property
    def synchronization(self) -> Any:
        """When copies of the variable on several devices are synchronized."""
        return self._synchronization

    @property
    def aggregation(self) -> Any:
        """How the writes of several devices are combined."""
        return self._aggregation

    @property
    def constraint(self) -> Callable | None:
        """The function that optimizers apply to the value after each update, or None."""
        return self._constraint

    @property
    def initializer(self) -> Operation:
        """The operation that assigns the initial value."""
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
        """The static shape, as `shape` has it."""
        return self.shape

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __iter__(self):
        """A variable is not a sequence: looping over one would never end."""
        raise TypeError("'Variable' object is not iterable.")

    def experimental_ref(self) -> Reference:
        """A hashable reference to this variable, for use as a key in dictionaries and sets."""
        return Reference(self)

    # ---------------------------------------------------------------------------------------------- its value

    def initialized_value(self) -> Tensor:
        """The variable's value or, before the variable is initialized, its initial value.

        Use it in the initial values of other variables, which may run before this one is initialized.

        Returns:
          The value as a tensor.
        """
        with init_scope():
            return conditionals.cond(
                reference_variables.is_variable_initialized(self), self.read_value, lambda: self.initial_value
            )

    def eval(self, session: SessionLike | None = None) -> Any:
        """Computes the variable's current value.

        Args:
          session: The session; the default session if None.

        Returns:
          The value as a NumPy array or scalar.

        Raises:
          ValueError: If there is no session.
          FailedPreconditionError: If the variable is not initialized.
        """
        return self._as_graph_element().eval(session=session)

    def load(self, value: TensorLike, session: SessionLike | None = None) -> None:
        """Assigns a value at once, in a session.

        Args:
          value: The new value.
          session: The session; the default session if None.

        Raises:
          ValueError: If there is no session.
        """
        session = session or get_default_session()
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def count_up_to(self, limit: int) -> Tensor:
        """Adds an operation that increments a scalar variable up to a limit.

        Args:
          limit: The limit. At the limit, the operation raises an OutOfRangeError instead.

        Returns:
          The value before the increment, as a tensor.
        """
        return reference_variables.count_up_to(self, limit=limit)

    # ----------------------------------------------------------------------------------------- sparse changes

    def _scatter(self, function: str, delta: Any, use_locking: bool, name: str | None) -> Any:
        if not isinstance(delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {delta}")
        return getattr(variable_rows, function)(self, delta.indices, delta.values, use_locking, name)

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds an operation that adds rows to the variable.

        Args:
          sparse_delta: The rows and their indices.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.

        Returns:
          The variable after the update.

        Raises:
          TypeError: If `sparse_delta` is not IndexedSlices.
        """
        return self._scatter("scatter_add", sparse_delta, use_locking, name)

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds an operation that subtracts rows from the variable.

        Args:
          sparse_delta: The rows and their indices.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.

        Returns:
          The variable after the update.

        Raises:
          TypeError: If `sparse_delta` is not IndexedSlices.
        """
        return self._scatter("scatter_sub", sparse_delta, use_locking, name)

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds an operation that multiplies rows of the variable.

        Args:
          sparse_delta: The factors and the indices of the rows.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.

        Returns:
          The variable after the update.

        Raises:
          TypeError: If `sparse_delta` is not IndexedSlices.
        """
        return self._scatter("scatter_mul", sparse_delta, use_locking, name)

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds an operation that divides rows of the variable.

        Args:
          sparse_delta: The divisors and the indices of the rows.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.

        Returns:
          The variable after the update.

        Raises:
          TypeError: If `sparse_delta` is not IndexedSlices.
        """
        return self._scatter("scatter_div", sparse_delta, use_locking, name)

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds an operation that replaces rows by the element-wise minimum of the rows and given values.

        Args:
          sparse_delta: The values and the indices of the rows.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.

        Returns:
          The variable after the update.

        Raises:
          TypeError: If `sparse_delta` is not IndexedSlices.
        """
        return self._scatter("scatter_min", sparse_delta, use_locking, name)

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds an operation that replaces rows by the element-wise maximum of the rows and given values.

        Args:
          sparse_delta: The values and the indices of the rows.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.

        Returns:
          The variable after the update.

        Raises:
          TypeError: If `sparse_delta` is not IndexedSlices.
        """
        return self._scatter("scatter_max", sparse_delta, use_locking, name)

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds an operation that assigns rows of the variable.

        Args:
          sparse_delta: The rows and their indices.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.

        Returns:
          The variable after the update.

        Raises:
          TypeError: If `sparse_delta` is not IndexedSlices.
        """
        return self._scatter("scatter_update", sparse_delta, use_locking, name)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds an operation that assigns rows in each batch of the variable.

        Args:
          sparse_delta: The rows, and indices whose leading axes are the batch axes of the variable.
          use_locking: Accepted for TensorFlow's sake: writes are always atomic.
          name: The name of the operation.

        Returns:
          The variable after the update.
        """
        indices, values = sparse_delta.indices, sparse_delta.values
        return variable_rows.batch_scatter_update(self, indices, values, use_locking, name)

    def scatter_nd_add(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        """Adds an operation that adds to slices of the variable at index vectors.

        Args:
          indices: A tensor whose last axis has index vectors into the first axes of the variable.
          updates: The values to add, one slice for each index vector.
          name: The name of the operation.

        Returns:
          The variable after the update.
        """
        return variable_rows.scatter_nd_add(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_sub(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        """Adds an operation that subtracts from slices of the variable at index vectors.

        Args:
          indices: A tensor whose last axis has index vectors into the first axes of the variable.
          updates: The values to subtract, one slice for each index vector.
          name: The name of the operation.

        Returns:
          The variable after the update.
        """
        return variable_rows.scatter_nd_sub(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_update(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        """Adds an operation that assigns slices of the variable at index vectors.

        Args:
          indices: A tensor whose last axis has index vectors into the first axes of the variable.
          updates: The new slices, one for each index vector.
          name: The name of the operation.

        Returns:
          The variable after the update.
        """
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
        """Makes a variable from a VariableDef message, of nodes that exist in the graph.

        Args:
          variable_def: The message.
          import_scope: The name scope under which the nodes were imported.

        Returns:
          The variable.
        """
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


Variable.SaveSliceInfo = SaveSliceInfo


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
    is_of_graph = isinstance(initial_value, Tensor) and not initial_value.is_eager
    if is_of_graph and initial_value.op._control_flow_context is not None:
        full_name = get_default_graph().unique_name(name or Variable.__name__, mark_as_used=False)
        raise ValueError(
            f"Initializer for variable {full_name}/ is from inside a control-flow construct, such as a loop "
            "or conditional. When creating a variable inside a loop or conditional, use a lambda as the "
            "initializer."
        )


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
