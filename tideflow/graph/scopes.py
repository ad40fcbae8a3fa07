"""Functions that act on the default graph: scopes, devices, collections, seeds."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export, expose
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.stacks import default_graphs, default_sessions, graph_blocks

if TYPE_CHECKING:
    from tideflow.graph.typing import DeviceLike, GraphElementLike


class Global:
    """The default graph of threads that are in no `with graph.as_default():` block; None until asked for."""

    graph: Graph | None = None
    eager: Any = None  # the same, where operations run at once
    stand_in: Any = None  # what runs operations at once, here or in a block; None until asked for


@export("get_default_graph")
def get_default_graph() -> Graph:
    """Gets the graph that new operations go into.

    Returns:
      The graph of the innermost `with graph.as_default():` block of this thread, or the global default graph.
    """
    items = default_graphs.items
    if items:
        return items[-1]
    if Global.graph is None:
        Global.graph = Graph()
    return Global.graph


def get_eager_graph() -> Any:
    """The default graph, where operations run at once: then it is the one that runs them. None otherwise."""
    if not graph_blocks:
        return Global.eager
    items = default_graphs.items
    if not items:
        return Global.eager
    return items[-1] if items[-1].is_eager else None


@export("executing_eagerly")
def executing_eagerly() -> bool:
    """Whether operations run at once, instead of being added to a graph.

    Returns:
      True after `tf.enable_eager_execution`, but for blocks of `with graph.as_default():` and functions that
      are being traced.
    """
    return get_eager_graph() is not None


def refuse_eagerly(message: str, error: type[Exception] = RuntimeError) -> None:
    """Raises an error where operations run at once: of a function that only makes operations of a graph."""
    if get_eager_graph() is not None:
        raise error(message)


def set_global_graph(graph: Graph | None) -> None:
    """Makes a graph the default one of all threads that are in no `with graph.as_default():` block."""
    Global.graph = graph
    Global.eager = graph if graph is not None and graph.is_eager else None


@export("reset_default_graph")
def reset_default_graph() -> None:
    """Replaces the global default graph by a new, empty graph.

    Raises:
      AssertionError: Inside a `with graph.as_default():` block.
    """
    if default_graphs.items:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, "
            "exit the nesting and create a new graph."
        )
    if Global.eager is None:
        Global.graph = None
    if Global.stand_in is not None:
        Global.stand_in.forget()


@export("get_default_session")
def get_default_session() -> Any:
    """Gets the session that `Tensor.eval` and `Operation.run` use if they are given none.

    Returns:
      The session of the innermost `with session:` block of this thread, or None.
    """
    return default_sessions.top()


@export("name_scope", "keras.backend.name_scope")
class name_scope:
    """Gives the operations made in a `with` block names that begin with a scope.

    A function that builds a part of a graph opens a scope around it:

        def scaled(x, factor, name=None):
            with tf.name_scope(name, "scaled", [x, factor]) as scope:
                return tf.multiply(x, factor, name=scope)

    The block's value is the full name of the scope with a slash at its end. Given as a `name`, it is used as
    it is, while other names are made unique.

    Args:
      name: The name of the scope; None for `default_name`.
      default_name: The name of the scope where `name` is None.
      values: Tensors that the block uses. Operations of the block go into their graph.

    Raises:
      TypeError: If `default_name` is not a string.
      ValueError: If `values` are given but no name, or if the name is not valid.
    """

    _entered: Any = ()  # of an object whose making an interrupt has ended

    def __init__(
        self, name: str | None, default_name: str | None = None, values: Sequence[Any] | None = None
    ) -> None:
        self._entered = []
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass "
                "this into the `values` kwarg."
            )
        self._name = default_name if name is None else name
        self._default_name = default_name
        self._values = values

    @property
    def name(self) -> str | None:
        """The name of the scope as it was given."""
        return self._name

    def __enter__(self) -> str:
        if self._name is None and self._values is not None:
            raise ValueError(
                f"At least one of name ({self._name}) and default_name ({self._default_name}) must be "
                "provided."
            )
        default = get_default_graph()
        graph = graph_of(self._values) if self._values else default
        if graph is not default:
            block = _block_of(graph, self._name)
            scope = next(block)
            self._entered.append(block)
            return scope
        name = graph._scope_for(self._name) if self._name else ""
        scopes = graph._local
        outer = scopes.__dict__.copy()
        self._entered.append((scopes, outer))
        scopes.__dict__.update(name_stack=name, depth=outer["depth"] + 1)
        return f"{name}/" if name else ""

    def __exit__(self, *exc: Any) -> None:
        entered: Any = self._entered[-1]
        is_here = type(entered) is tuple
        del self._entered[-1]  # no call between this and the change: an interrupt comes after calls
        if not is_here:
            next(entered, None)
        elif entered[0].depth > entered[1]["depth"]:
            entered[0].__dict__.update(entered[1])

    def __del__(self) -> None:
        """Ends the blocks that an interrupt kept from ending."""
        while self._entered:
            self.__exit__()


def _block_of(graph: Graph, name: str | None) -> Iterator[str]:
    """A name scope of a graph that is not the default one, and becomes it. The `name_scope` has the only
    reference to this generator: where an interrupt comes before its `__exit__`, the block is closed with it.
    """
    scope = graph._scope_for(name) if name else ""
    with default_graphs.pushed(graph), graph._local.block(name_stack=scope):
        yield f"{scope}/" if scope else ""


def graph_of(values: Sequence[Any]) -> Graph:
    """The graph of the first tensor among the values; the default graph where there is none."""
    default = get_default_graph()
    if default.building_function:
        return default  # the function captures tensors of other graphs
    first: Any = None
    for value in values:
        if isinstance(value, Tensor):
            if value.is_eager or first is value:
                continue
            if first is None:
                first = value
            elif value.op.graph is not first.graph:
                raise ValueError(f"{value} must be from the same graph as {first}.")
        elif first is None and isinstance(value, (list, tuple)):
            first = next((item for item in value if isinstance(item, Tensor) and not item.is_eager), None)
        elif first is None and _is_in_a_graph(value):
            first = value
    return default if first is None else first.graph


def _is_in_a_graph(value: Any) -> bool:
    """Whether a value is an operation, a variable or a composite tensor of a graph."""
    graph = getattr(value, "graph", None)
    return isinstance(graph, Graph) and not graph.is_eager


@export("op_scope")
def op_scope(values: Sequence[Any], name: str | None, default_name: str | None = None) -> name_scope:
    """Opens a name scope; an older order of the arguments of `tf.name_scope`.

    Args:
      values: Tensors that the block uses.
      name: The name of the scope; None for `default_name`.
      default_name: The name of the scope where `name` is None.

    Returns:
      The `tf.name_scope`, a context manager.
    """
    return name_scope(name, default_name, values)


@export("control_dependencies")
def control_dependencies(
    control_inputs: Iterable[GraphElementLike] | None,
) -> contextlib.AbstractContextManager[None]:
    """Makes the operations of a `with` block run after the given ones, in the default graph.

    Args:
      control_inputs: Operations or tensors. None cancels the control dependencies of the blocks outside.

    Returns:
      A context manager.
    """
    return get_default_graph().control_dependencies(control_inputs)


@export("device")
def device(device_name_or_function: DeviceLike | None) -> contextlib.AbstractContextManager[None]:
    """Requests a device for the operations made in a `with` block, in the default graph.

    Args:
      device_name_or_function: A device name such as `"/job:ps/task:1"` or `"/gpu:0"`, or a `tf.DeviceSpec`;
        an inner block takes precedence over an outer one, part by part. A function is called with each new
        operation and returns its device. None cancels the devices of the blocks outside.

    Returns:
      A context manager.

    Raises:
      ValueError: If the name is not a device name.
    """
    return get_default_graph().device(device_name_or_function)


@export("colocate_with")
def colocate_with(
    op: GraphElementLike | None, ignore_existing: bool = False
) -> contextlib.AbstractContextManager[None]:
    """Places the operations made in a `with` block on the device of another operation.

    Args:
      op: An operation, or a tensor or variable for its operation. None joins no group.
      ignore_existing: Whether the colocations of the blocks outside are cancelled.

    Returns:
      A context manager.

    Raises:
      ValueError: If `op` is None and `ignore_existing` is not set.
    """
    return get_default_graph().colocate_with(op, ignore_existing)


@export("container")
def container(container_name: str) -> contextlib.AbstractContextManager[str]:
    """Keeps the state of operations made in a `with` block in a named resource container.

    Args:
      container_name: The container, which `Session.reset` can clear.

    Returns:
      A context manager whose value is the container's name.
    """
    return get_default_graph().container(container_name)


def graph_outside(graph: Graph | None = None) -> Graph:
    """The graph around all functions in which a graph is, the default graph if None; it has the variables."""
    found: Any = get_default_graph() if graph is None else graph
    while found.building_function:
        found = found.outer
    outermost: Graph = found
    return outermost


@export("init_scope")
@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Makes the operations of a `with` block outside of functions, branches, loops and control dependencies.

    Operations that initialize state use it, so that they can run before the construct around them does. The
    name scope remains.

    Yields:
      None.
    """
    scope = get_default_graph().get_name_scope()
    graph = graph_outside()
    scoped = graph.name_scope(f"{scope}/" if scope else None)
    with graph.as_default(), graph.control_dependencies(None), scoped:
        yield


@export("add_to_collection")
def add_to_collection(name: Hashable, value: Any) -> None:
    """Appends a value to a collection of the default graph.

    Args:
      name: The collection's key; `tf.GraphKeys` has the standard names.
      value: The value.

    Raises:
      RuntimeError: If the graph is finalized.
    """
    get_default_graph().add_to_collection(name, value)


@export("add_to_collections")
def add_to_collections(names: Iterable[Hashable], value: Any) -> None:
    """Appends a value to several collections of the default graph.

    Args:
      names: The collections' keys, or one name. A key that occurs twice counts once.
      value: The value.

    Raises:
      RuntimeError: If the graph is finalized.
    """
    get_default_graph().add_to_collections(names, value)


@export("get_collection")
def get_collection(key: Hashable, scope: str | None = None) -> list[Any]:
    """Gets the values of a collection of the default graph.

    Args:
      key: The collection's key; `tf.GraphKeys` has the standard names.
      scope: A regular expression. If given, only values whose `name` matches it at its start are returned.

    Returns:
      A new list of the values in the order in which they were added; empty where there is no collection.
    """
    return get_default_graph().get_collection(key, scope)


@export("get_collection_ref")
def get_collection_ref(key: Hashable) -> list[Any]:
    """Gets a collection of the default graph itself: changes of the list change the collection.

    Args:
      key: The collection's key. A collection that does not exist is made, and is empty.

    Returns:
      The collection.
    """
    return get_default_graph().get_collection_ref(key)


@export("GraphKeys")
class GraphKeys:
    """The standard names of collections.

    Library functions add to these collections: `tf.Variable` adds each variable to `GLOBAL_VARIABLES` and, if
    it is trainable, to `TRAINABLE_VARIABLES`; losses are in `LOSSES`, the updates of batch normalization in
    `UPDATE_OPS`, summaries in `SUMMARIES`.
    """

    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    _SUMMARY_COLLECTION = "_SUMMARY_V2"


# ------------------------------------------------------------------------------------------------ seeds

DEFAULT_GRAPH_SEED = 87654321
_MAX_INT32 = 2**31 - 1


@export("set_random_seed", "random.set_random_seed")
def set_random_seed(seed: int) -> None:
    """Sets the graph-level seed of the default graph.

    With a graph-level seed, each random operation made afterwards gives the same sequence in every session;
    an operation without a seed of its own derives one from the graph's and its position in the graph.

    Args:
      seed: The seed; None makes the sequences differ from session to session.
    """
    get_default_graph().seed = seed


@export("get_seed", "random.get_seed")
def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """Derives the two seeds of a random operation, as TensorFlow does.

    Args:
      op_seed: The seed given to the operation, or None.

    Returns:
      The graph's seed and the operation's seed. Both are None where neither the graph nor the operation has
      one.
    """
    graph = get_default_graph()
    if graph.seed is not None:
        if op_seed is None:
            op_seed = graph._next_op_seed() if graph.is_eager else len(graph._ops)  # type: ignore[attr-defined]
        seeds = graph.seed % _MAX_INT32, op_seed % _MAX_INT32
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed % _MAX_INT32
    else:
        return None, None
    return (0, _MAX_INT32) if seeds == (0, 0) else seeds


expose(134, "GRAPH_DEF_VERSION", "version.GRAPH_DEF_VERSION")
expose(0, "GRAPH_DEF_VERSION_MIN_CONSUMER", "version.GRAPH_DEF_VERSION_MIN_CONSUMER")
expose(0, "GRAPH_DEF_VERSION_MIN_PRODUCER", "version.GRAPH_DEF_VERSION_MIN_PRODUCER")
