"""Variable scopes: names, defaults and sharing for the variables of `get_variable`."""

from __future__ import annotations

import contextlib
import enum
import functools
import re
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.scopes import GraphKeys, executing_eagerly, get_default_graph, graph_of, name_scope
from tideflow.graph.stacks import replaced
from tideflow.variables import base
from tideflow.variables.base import VariableAggregation, VariableSynchronization
from tideflow.variables.store import VariableStore, store_of_default_graph

if TYPE_CHECKING:
    from tideflow.graph.typing import (
        DeviceLike,
        DTypeLike,
        InitializerLike,
        RegularizerLike,
        ShapeLike,
        TensorLike,
    )

SCOPES = ("__varscope",)


class _ReuseMode(enum.Enum):
    """The third way beside sharing and making: share what is there, make what is not."""

    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE
expose(AUTO_REUSE, "AUTO_REUSE")

# -------------------------------------------------------------------------------------------------- the scope


@export("VariableScope")
class VariableScope:
    """A prefix for the names of variables, and defaults for `tf.get_variable`.

    `tf.variable_scope` makes and enters one; `tf.get_variable_scope` returns the current one.

    Args:
      reuse: Whether `get_variable` shares existing variables (True), makes new ones (False or None), or makes
        those that do not exist (`tf.AUTO_REUSE`).
      name: The prefix, without a slash at its end.
      initializer: The default initializer.
      regularizer: The default regularizer.
      caching_device: The default caching device.
      partitioner: The default partitioner.
      custom_getter: A function around `get_variable`; see `tf.get_variable`.
      name_scope: The name scope of the variable scope, with a slash at its end.
      dtype: The default type of the elements.
      use_resource: Whether variables are resource variables by default.
      constraint: The default constraint.
    """

    def __init__(
        self,
        reuse: bool | _ReuseMode | None,
        name: str = "",
        initializer: InitializerLike | None = None,
        regularizer: RegularizerLike | None = None,
        caching_device: DeviceLike | None = None,
        partitioner: Callable | None = None,
        custom_getter: Callable | None = None,
        name_scope: str = "",
        dtype: DTypeLike = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Callable | None = None,
    ):
        eager = executing_eagerly()
        self._name = name
        self._reuse = AUTO_REUSE if eager else reuse  # a name alone shares nothing there
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = True if eager else use_resource
        self._constraint = constraint

    @property
    def name(self) -> str:
        """The prefix, without a slash at its end."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope that was opened with this variable scope, with a slash at its end."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """Whether `get_variable` shares existing variables."""
        return self._reuse

    @property
    def initializer(self) -> Any:
        """The default initializer."""
        return self._initializer

    @property
    def dtype(self) -> Any:
        """The default type of the elements."""
        return self._dtype

    @property
    def use_resource(self) -> bool | None:
        """Whether variables are resource variables by default."""
        return self._use_resource

    @property
    def regularizer(self) -> Callable | None:
        """The default regularizer."""
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        """The default caching device."""
        return self._caching_device

    @property
    def partitioner(self) -> Callable | None:
        """The default partitioner."""
        return self._partitioner

    @property
    def custom_getter(self) -> Callable | None:
        """The function around `get_variable`."""
        return self._custom_getter

    @property
    def constraint(self) -> Callable | None:
        """The default constraint."""
        return self._constraint

    def reuse_variables(self) -> None:
        """Makes `get_variable` share existing variables from now on."""
        self._reuse = True

    def set_initializer(self, initializer: InitializerLike | None) -> None:
        """Sets the default initializer.

        Args:
          initializer: The initializer.
        """
        self._initializer = initializer

    def set_dtype(self, dtype: DTypeLike) -> None:
        """Sets the default type of the elements.

        Args:
          dtype: The type.
        """
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        """Sets whether variables are resource variables by default.

        Args:
          use_resource: True for resource variables, False for reference variables, None for the global
            default.
        """
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: RegularizerLike | None) -> None:
        """Sets the default regularizer.

        Args:
          regularizer: The regularizer.
        """
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: DeviceLike) -> None:
        """Sets the default caching device.

        Args:
          caching_device: The device.
        """
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Callable | None) -> None:
        """Sets the default partitioner.

        Args:
          partitioner: The partitioner.
        """
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Callable | None) -> None:
        """Sets the function around `get_variable`.

        Args:
          custom_getter: The function.
        """
        self._custom_getter = custom_getter

    def get_collection(self, name: Hashable) -> list:
        """Gets the values of a collection whose names are in this scope.

        Args:
          name: The collection's key.

        Returns:
          A list of the values.
        """
        prefix = re.escape(f"{self._name}/") if self._name else ""
        return get_default_graph().get_collection(name, prefix)

    def trainable_variables(self) -> list:
        """The trainable variables in this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list:
        """The global variables in this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list:
        """The local variables in this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike | TensorLike | None = None,
        regularizer: RegularizerLike | None = None,
        reuse: bool | _ReuseMode | None = None,
        trainable: bool | None = None,
        collections: Sequence[Any] | None = None,
        caching_device: DeviceLike | None = None,
        partitioner: Callable | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable | None = None,
        constraint: Callable | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        """Gets a variable of this scope, or makes it.

        Args:
          var_store: The store of the graph's variables.
          name: The name of the variable within the scope.
          shape: As in `tf.get_variable`, like all that follow; the scope's default is used if an argument is
            None.
          dtype: The type of the elements.
          initializer: The initializer, or the initial value.
          regularizer: The regularizer.
          reuse: Whether an existing variable is shared; as the scope says if None.
          trainable: Whether optimizers change the variable by default.
          collections: The collections to add the variable to.
          caching_device: The caching device.
          partitioner: The partitioner.
          validate_shape: Whether the shape of the initial value must be fully known.
          use_resource: Whether it is a resource variable.
          custom_getter: A function around this one.
          constraint: The constraint.
          synchronization: When copies on several devices are synchronized.
          aggregation: How the writes of several devices are combined.

        Returns:
          The variable, or a PartitionedVariable if there is a partitioner.
        """

        def chosen(given: Any, default: Any) -> Any:
            return default if given is None else given

        full_name = f"{self._name}/{name}" if self._name else name
        with name_scope(None):  # a variable's name follows from the variable scope alone
            if dtype is not None and initializer is not None and not callable(initializer):
                found = convert_to_tensor(initializer).dtype.base_dtype
                if found is not dtypes.as_dtype(dtype):
                    raise ValueError(f"Initializer type '{found}' and explicit dtype '{dtype}' don't match.")
            return var_store.get_variable(
                full_name,
                shape=shape,
                dtype=chosen(dtype, self._dtype),
                initializer=chosen(initializer, self._initializer),
                regularizer=chosen(regularizer, self._regularizer),
                reuse=chosen(reuse, self._reuse),
                trainable=trainable,
                collections=collections,
                caching_device=chosen(caching_device, self._caching_device),
                partitioner=chosen(partitioner, self._partitioner),
                validate_shape=validate_shape,
                use_resource=chosen(use_resource, self._use_resource),
                custom_getter=chosen(custom_getter, self._custom_getter),
                constraint=chosen(constraint, self._constraint),
                synchronization=synchronization,
                aggregation=aggregation,
            )


# ------------------------------------------------------------------------------------------ the current scope


class _ScopeState(threading.local):
    """A thread's current scope in a graph, and how often each scope name was opened."""

    def __init__(self):
        self.current = VariableScope(False)
        self.counts: dict[str, int] = {}

    def open(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def close_below(self, name: str | None) -> None:
        for key in self.counts:
            if name is None or key.startswith(f"{name}/"):
                self.counts[key] = 0

    def unique(self, prefix: str) -> str:
        """The prefix, numbered where a scope of that name was opened here before."""
        outer = f"{self.current.name}/" if self.current.name else ""
        name, count = prefix, 0
        while self.counts.get(outer + name, 0):
            count += 1
            name = f"{prefix}_{count}"
        return name


def scope_state() -> _ScopeState:
    """The default graph's scopes, as this thread has them."""
    found = get_default_graph().get_collection_ref(SCOPES)
    if not found:
        found.append(_ScopeState())
    return found[0]


def opened_in(outer: str) -> set[str]:
    """The names of the variable scopes that were opened in one, as they are called there."""
    prefix = f"{outer}/" if outer else ""
    return {name.removeprefix(prefix) for name in scope_state().counts if name.startswith(prefix)}


@export("get_variable_scope")
def get_variable_scope() -> VariableScope:
    """Gets the current variable scope.

    Returns:
      The VariableScope of the innermost `with tf.variable_scope` block, or the graph's outermost scope.
    """
    return scope_state().current


_INHERITED = (
    "initializer",
    "regularizer",
    "caching_device",
    "partitioner",
    "dtype",
    "use_resource",
    "constraint",
)


def _derived(
    old: VariableScope, name: str, reuse: Any, name_scope: str, options: dict[str, Any]
) -> VariableScope:
    """A scope with the old one's defaults where `options` gives no others."""
    given = {key: getattr(old, key) if options.get(key) is None else options[key] for key in _INHERITED}
    getter = options.get("custom_getter")
    if getter is not None and not callable(getter):
        raise ValueError(f"custom_getter must be callable: {getter}")
    if getter is None or old.custom_getter is None:
        getter = getter or old.custom_getter
    else:
        getter = _nested_getter(getter, old.custom_getter)
    return VariableScope(reuse, name=name, name_scope=name_scope, custom_getter=getter, **given)


def _nested_getter(inner: Callable, outer: Callable) -> Callable:
    """The inner scope's getter first; what it calls as `getter` is the outer scope's."""

    def custom_getter(getter: Callable, *args: Any, **kwargs: Any) -> Any:
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return custom_getter


@contextlib.contextmanager
def pure_variable_scope(
    name_or_scope: str | VariableScope, reuse: Any = None, old_name_scope: str | None = None, **options: Any
) -> Iterator[VariableScope]:
    """A variable scope without a name scope of its own."""
    state = scope_state()
    old = state.current
    jumps = isinstance(name_or_scope, VariableScope)
    if jumps:
        scope = name_or_scope
        entered = _derived(scope, scope.name, reuse or scope.reuse, scope.original_name_scope, options)
    else:
        name = f"{old.name}/{name_or_scope}" if old.name else name_or_scope
        where = name_or_scope if old_name_scope is None else old_name_scope
        entered = _derived(old, name, reuse or old.reuse, where, options)
    state.open(entered.name)
    counts = dict(state.counts) if jumps else {}
    with replaced(state, "current", entered):
        try:
            yield entered
        finally:
            if state.current is entered:  # not where an interrupt kept the block from ending, until later
                state.close_below(entered.name)
                if jumps:
                    state.counts = counts


@export("variable_scope")
class variable_scope:
    """Opens a variable scope: names in the block begin with it, and it has defaults for `get_variable`.

        with tf.variable_scope("layer1"):
            w = tf.get_variable("w", [3])  # "layer1/w"
        with tf.variable_scope("layer1", reuse=True):
            same = tf.get_variable("w", [3])  # the same variable

    The block's value is the VariableScope. Operations made in the block are in a name scope of the same name.

    Args:
      name_or_scope: The name of the scope, or a VariableScope to enter again; None for `default_name`.
      default_name: The name, made unique, if `name_or_scope` is None.
      values: Tensors that the block uses. Operations of the block go into their graph.
      initializer: The default initializer of the block.
      regularizer: The default regularizer of the block.
      caching_device: The default caching device of the block.
      partitioner: The default partitioner of the block.
      custom_getter: A function around `get_variable` in the block; see `tf.get_variable`.
      reuse: True to share existing variables, `tf.AUTO_REUSE` to make those that do not exist, None to
        inherit the setting of the scope outside.
      dtype: The default type of the elements in the block.
      use_resource: Whether variables of the block are resource variables by default.
      constraint: The default constraint of the block.
      auxiliary_name_scope: Whether the block opens a name scope too.

    Raises:
      ValueError: If the name is missing or not valid, or `reuse` is True and `name_or_scope` is None.
      TypeError: If an argument has the wrong type.
    """

    def __init__(
        self,
        name_or_scope: str | VariableScope | None,
        default_name: str | None = None,
        values: Sequence[Any] | None = None,
        initializer: InitializerLike | None = None,
        regularizer: RegularizerLike | None = None,
        caching_device: DeviceLike | None = None,
        partitioner: Callable | None = None,
        custom_getter: Callable | None = None,
        reuse: bool | _ReuseMode | None = None,
        dtype: DTypeLike | None = None,
        use_resource: bool | None = None,
        constraint: Callable | None = None,
        auxiliary_name_scope: bool = True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse not in (None, True, False, AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}"
            )
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = [value for value in values or () if value is not None]
        self._reuse = None if reuse is False else reuse  # sharing is inherited: False means "as outside"
        self._auxiliary = auxiliary_name_scope
        self._options = dict(
            initializer=initializer,
            regularizer=regularizer,
            caching_device=caching_device,
            partitioner=partitioner,
            custom_getter=custom_getter,
            dtype=dtype,
            use_resource=use_resource,
            constraint=constraint,
        )
        self._entered: list[Iterator[VariableScope]] = []

    def __enter__(self) -> VariableScope:
        if self._name_or_scope is None and self._reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        options = self._reuse, self._auxiliary, self._options
        block = _scope_block(self._name_or_scope, self._default_name, self._values, *options)
        scope = next(block)
        self._entered.append(block)
        return scope

    def __exit__(self, *exc: Any) -> None:
        next(self._entered.pop(), None)


def _scope_block(
    scope: str | VariableScope | None,
    default_name: str | None,
    values: Sequence[Any],
    reuse: Any,
    auxiliary: bool,
    options: dict[str, Any],
) -> Iterator[VariableScope]:
    """The block of a `variable_scope`, which has the only reference to this generator: where an interrupt
    comes before its `__exit__`, the block is closed when the object goes.
    """
    graph = graph_of(values)
    with graph.as_default() if graph is not get_default_graph() else contextlib.nullcontext():
        with _name_block(scope, default_name, auxiliary) as opened:
            if scope is None:
                scope = scope_state().unique(default_name)
            with pure_variable_scope(scope, reuse, opened, **options) as entered:
                yield entered


def _name_block(
    scope: str | VariableScope | None, default_name: str | None, auxiliary: bool
) -> contextlib.AbstractContextManager[str | None]:
    """A name scope like the variable scope's name; its value is what names begin with inside."""
    if isinstance(scope, VariableScope):
        name = scope.name.rpartition("/")[2]
    else:
        name = default_name if scope is None else scope
    if not name:
        return contextlib.nullcontext()
    if auxiliary:
        return get_default_graph().name_scope(name)
    outer = get_default_graph().get_name_scope()
    return contextlib.nullcontext(f"{outer}/" if outer else "")


@export("variable_op_scope")
@contextlib.contextmanager
def variable_op_scope(
    values: Sequence[Any],
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    initializer: InitializerLike | None = None,
    regularizer: RegularizerLike | None = None,
    caching_device: DeviceLike | None = None,
    partitioner: Callable | None = None,
    custom_getter: Callable | None = None,
    reuse: bool | _ReuseMode | None = None,
    dtype: DTypeLike | None = None,
    use_resource: bool | None = None,
    constraint: Callable | None = None,
) -> Iterator[VariableScope]:
    """Opens a variable scope; an older order of the arguments of `tf.variable_scope`.

    Args:
      values: Tensors that the block uses.
      name_or_scope: As in `tf.variable_scope`, like all that follow.
      default_name: The name if `name_or_scope` is None.
      initializer: The default initializer.
      regularizer: The default regularizer.
      caching_device: The default caching device.
      partitioner: The default partitioner.
      custom_getter: A function around `get_variable`.
      reuse: Whether existing variables are shared.
      dtype: The default type of the elements.
      use_resource: Whether variables are resource variables.
      constraint: The default constraint.

    Returns:
      A context manager whose value is the VariableScope.
    """
    with variable_scope(
        name_or_scope,
        default_name=default_name,
        values=values,
        initializer=initializer,
        regularizer=regularizer,
        caching_device=caching_device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        reuse=reuse,
        dtype=dtype,
        use_resource=use_resource,
        constraint=constraint,
    ) as scope:
        yield scope


@export("variable_creator_scope")
@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable) -> Iterator[None]:
    """Sets a function that makes the variables of a `with` block.

    Args:
      variable_creator: Called as `variable_creator(next_creator, **arguments)` for each new variable. It
        returns a variable, usually the result of `next_creator(**arguments)` with changed arguments.

    Returns:
      A context manager.
    """
    creators = base.creators_in_force()
    try:
        creators.append(variable_creator)
        yield
    finally:
        creators.remove(variable_creator)


@export("no_regularizer")
def no_regularizer(_: TensorLike) -> None:
    """Returns None: a regularizer argument that overrides the default of the variable scope.

    Args:
      _: The value of the variable, which is ignored.
    """
    return


# ------------------------------------------------------------------------------------------ getting variables


@export("get_variable")
def get_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike | TensorLike | None = None,
    regularizer: RegularizerLike | None = None,
    trainable: bool | None = None,
    collections: Sequence[Any] | None = None,
    caching_device: DeviceLike | None = None,
    partitioner: Callable | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable | None = None,
    constraint: Callable | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Gets a variable by its name in the current variable scope, or makes it.

    Whether an existing variable is shared depends on the scope: see `reuse` in `tf.variable_scope`.

    Args:
      name: The name of the variable within the scope.
      shape: The shape. It is needed to make a variable, unless `initializer` is a value.
      dtype: The type of the elements; the scope's default, usually float32, if None.
      initializer: An initializer, or the initial value. If None, the scope's default; without that,
        `glorot_uniform` for floats and zeros for integers and bools.
      regularizer: A function of the variable; its result is added to the collection REGULARIZATION_LOSSES.
      trainable: Whether optimizers change the variable by default. None means True, unless `synchronization`
        is ON_READ.
      collections: The keys of the graph collections to add the variable to; GLOBAL_VARIABLES if None.
      caching_device: A device on which each read of the variable is cached.
      partitioner: A function of shape and dtype that returns the number of parts along each axis.
      validate_shape: Whether the shape of the initial value must be fully known.
      use_resource: Whether it is a resource variable; the scope's default if None.
      custom_getter: A function `custom_getter(getter, name, *args, **kwargs)` that is called instead, and
        that calls `getter` to get or make variables.
      constraint: A function that optimizers apply to the value after each update.
      synchronization: When copies on several devices are synchronized.
      aggregation: How the writes of several devices are combined.

    Returns:
      The variable, or a PartitionedVariable if there is a partitioner.

    Raises:
      ValueError: If the variable exists and is not shared, or does not exist and must be shared; if the shape
        is missing, or differs from that of the existing variable.
    """
    return get_variable_scope().get_variable(
        store_of_default_graph(),
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


@export("get_local_variable")
def get_local_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike | TensorLike | None = None,
    regularizer: RegularizerLike | None = None,
    trainable: bool = False,
    collections: Sequence[Any] | None = None,
    caching_device: DeviceLike | None = None,
    partitioner: Callable | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable | None = None,
    constraint: Callable | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Gets a local variable by its name in the current variable scope, or makes it.

    Local variables belong to one process: tasks do not share them, and savers do not save them.

    Args:
      name: The name of the variable within the scope.
      shape: As in `tf.get_variable`, like all that follow.
      dtype: The type of the elements.
      initializer: The initializer, or the initial value.
      regularizer: The regularizer.
      trainable: Has no effect: a local variable is not trained.
      collections: The collections to add the variable to; LOCAL_VARIABLES is added.
      caching_device: The caching device.
      partitioner: The partitioner.
      validate_shape: Whether the shape of the initial value must be fully known.
      use_resource: Whether it is a resource variable.
      custom_getter: A function around `get_variable`.
      constraint: The constraint.
      synchronization: When copies on several devices are synchronized.
      aggregation: How the writes of several devices are combined.

    Returns:
      The variable.
    """
    local = [GraphKeys.LOCAL_VARIABLES]
    return get_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=False,
        collections=[*collections, *local] if collections else local,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )
