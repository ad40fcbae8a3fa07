"""What programs call to shape the graph being built: the default graph, scopes, devices, collections,
seeds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from tideflow.export import export, expose
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.stacks import default_graphs, default_sessions


class _Global:
    graph: Graph | None = None


@export("get_default_graph")
def get_default_graph() -> Graph:
    """The graph that new operations go into."""
    items = default_graphs.items
    if items:
        return items[-1]
    if _Global.graph is None:
        _Global.graph = Graph()
    return _Global.graph


@export("reset_default_graph")
def reset_default_graph() -> None:
    """Starts over with an empty global default graph."""
    if default_graphs.items:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, "
            "exit the nesting and create a new graph."
        )
    _Global.graph = None


@export("get_default_session")
def get_default_session() -> Any:
    """The innermost default session of this thread, or None."""
    return default_sessions.top()


@export("name_scope", "keras.backend.name_scope")
class name_scope:
    """`with tf.name_scope(name, default_name, values) as scope:` names made inside begin with `scope`."""

    def __init__(
        self, name: str | None, default_name: str | None = None, values: Sequence[Any] | None = None
    ):
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass "
                "this into the `values` kwarg."
            )
        self._name = default_name if name is None else name
        self._default_name = default_name
        self._values = values
        self._entered: list[tuple[Any, str, Graph | None]] = []

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> str:
        if self._name is None and self._values is not None:
            raise ValueError(
                f"At least one of name ({self._name}) and default_name ({self._default_name}) must be "
                "provided."
            )
        default = get_default_graph()
        graph = graph_of(self._values) if self._values else default
        local = graph._local
        scope = graph._scope_for(self._name) if self._name else ""
        self._entered.append((local, local.name_stack, None if graph is default else graph))
        local.name_stack = scope
        if graph is not default:
            default_graphs.items.append(graph)
        return f"{scope}/" if scope else ""

    def __exit__(self, *exc: Any) -> None:
        local, local.name_stack, pushed = self._entered.pop()
        if pushed is not None:
            default_graphs.items.remove(pushed)


def graph_of(values: Sequence[Any]) -> Graph:
    """The graph that the values live in; the default graph where none of them is in one."""
    default = get_default_graph()
    if default.building_function:
        return default  # what is outside is captured
    for value in values:
        if isinstance(value, Tensor):
            return value.op.graph
        if isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, Tensor):
                    return item.op.graph
    return default


@export("op_scope")
def op_scope(values: Sequence[Any], name: str | None, default_name: str | None = None) -> name_scope:
    """The older spelling of `name_scope`."""
    return name_scope(name, default_name, values)


@export("control_dependencies")
def control_dependencies(control_inputs: Sequence[Any] | None) -> contextlib.AbstractContextManager[None]:
    """Operations made inside run after all of `control_inputs`."""
    return get_default_graph().control_dependencies(control_inputs)


@export("device")
def device(device_name_or_function: Any) -> contextlib.AbstractContextManager[None]:
    """Operations made inside are placed on this device."""
    return get_default_graph().device(device_name_or_function)


@export("colocate_with")
def colocate_with(op: Any, ignore_existing: bool = False) -> contextlib.AbstractContextManager[None]:
    """Operations made inside are placed beside `op`."""
    return get_default_graph().colocate_with(op, ignore_existing)


@export("container")
def container(container_name: str) -> contextlib.AbstractContextManager[None]:
    """State made inside is kept in this resource container."""
    return get_default_graph().container(container_name)


@export("init_scope")
@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Lifts what is made inside out of control-flow constructs and control dependencies."""
    graph = get_default_graph()
    scope = graph.get_name_scope()
    with graph.control_dependencies(None), graph.name_scope(f"{scope}/" if scope else None):
        yield


@export("add_to_collection")
def add_to_collection(name: Any, value: Any) -> None:
    get_default_graph().add_to_collection(name, value)


@export("add_to_collections")
def add_to_collections(names: Any, value: Any) -> None:
    get_default_graph().add_to_collections(names, value)


@export("get_collection")
def get_collection(key: Any, scope: str | None = None) -> list:
    return get_default_graph().get_collection(key, scope)


@export("get_collection_ref")
def get_collection_ref(key: Any) -> list:
    return get_default_graph().get_collection_ref(key)


@export("GraphKeys")
class GraphKeys:
    """The standard names of collections."""

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
    """Sets the graph-level seed, from which operations without a seed of their own derive theirs."""
    get_default_graph().seed = seed


@export("get_seed", "random.get_seed")
def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The pair of seeds for an operation: from the graph's seed and the op's, as TensorFlow derives it."""
    graph = get_default_graph()
    if graph.seed is not None:
        if op_seed is None:
            op_seed = len(graph._ops)
        seeds = graph.seed % _MAX_INT32, op_seed % _MAX_INT32
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed % _MAX_INT32
    else:
        return None, None
    return (0, _MAX_INT32) if seeds == (0, 0) else seeds


expose(134, "GRAPH_DEF_VERSION", "version.GRAPH_DEF_VERSION")
expose(0, "GRAPH_DEF_VERSION_MIN_CONSUMER", "version.GRAPH_DEF_VERSION_MIN_CONSUMER")
expose(0, "GRAPH_DEF_VERSION_MIN_PRODUCER", "version.GRAPH_DEF_VERSION_MIN_PRODUCER")
