"""What Keras keeps between calls: numbers for names, the learning phase, the layer calls under way, and its
defaults for types and image layouts.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tideflow.eager.context import eager_graph
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import (
    executing_eagerly,
    get_default_graph,
    graph_outside,
    init_scope,
    name_scope,
)
from tideflow.layers.keras_graph import forget_graph, get_graph, in_keras_graph
from tideflow.ops.arrays import constants

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _Defaults:
    floatx = "float32"
    epsilon = 1e-7
    image_data_format = "channels_last"


class _PerGraph:
    """What belongs to one graph."""

    def __init__(self) -> None:
        self.names: Counter[str] = Counter()  # how many objects took a name
        self.uids: Counter[str] = Counter()  # what `get_uid` counted
        self.phase: Any = None  # the learning phase, once somebody asked for it or set it
        self.phase_is_set = False


_graphs: weakref.WeakKeyDictionary[Graph, _PerGraph] = weakref.WeakKeyDictionary()


def of_graph(graph: Graph | None = None) -> _PerGraph:
    """Keras's notes about a graph; the default graph if None."""
    graph = graph or get_default_graph()
    kept: Any = graph.kept if graph.is_eager else _graphs  # type: ignore[attr-defined]
    return kept.setdefault("keras" if graph.is_eager else graph, _PerGraph())


def forget_graphs() -> None:
    """Drops all notes about graphs and eager mode, and the graph beside it."""
    _graphs.clear()
    eager_graph().kept.pop("keras", None)
    forget_graph()


# ------------------------------------------------------------------------------------------------ defaults


@export("keras.backend.floatx")
def floatx() -> str:
    """The default type of floats, as a name."""
    return _Defaults.floatx


@export("keras.backend.set_floatx")
def set_floatx(value: str) -> None:
    """Sets the default type of floats.

    Args:
      value: `"float16"`, `"float32"` or `"float64"`.

    Raises:
      ValueError: If it is another type.
    """
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"Unknown floatx type: {value}")
    _Defaults.floatx = str(value)


@export("keras.backend.epsilon")
def epsilon() -> float:
    """The small number that keeps logarithms and divisions finite."""
    return _Defaults.epsilon


@export("keras.backend.set_epsilon")
def set_epsilon(value: float) -> None:
    """Sets the small number that keeps logarithms and divisions finite.

    Args:
      value: The number.
    """
    _Defaults.epsilon = value


@export("keras.backend.image_data_format")
def image_data_format() -> str:
    """The default order of an image's axes: `"channels_last"` or `"channels_first"`."""
    return _Defaults.image_data_format


@export("keras.backend.set_image_data_format")
def set_image_data_format(data_format: str) -> None:
    """Sets the default order of an image's axes.

    Args:
      data_format: `"channels_last"` or `"channels_first"`.

    Raises:
      ValueError: If it is neither.
    """
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown data_format: {data_format}")
    _Defaults.image_data_format = str(data_format)


# --------------------------------------------------------------------------------------------------- names


def unique_object_name(base: str) -> str:
    """`base`, then `base_1`, `base_2` … counted per graph."""
    names = of_graph().names
    names[base] += 1
    return base if names[base] == 1 else f"{base}_{names[base] - 1}"


def reserve_object_name(name: str) -> None:
    """A name that a program chose counts as taken."""
    of_graph().names[name] += 0


@export("keras.backend.get_uid")
def get_uid(prefix: str = "") -> int:
    """Counts how often this graph was asked for a prefix.

    Args:
      prefix: The prefix.

    Returns:
      1 for the first call, 2 for the second.
    """
    uids = of_graph(get_graph()).uids
    uids[prefix] += 1
    return uids[prefix]


@export("keras.backend.reset_uids")
def reset_uids() -> None:
    """Starts the numbers in the names of layers again."""
    for notes in (*_graphs.values(), of_graph(eager_graph())):
        notes.names.clear()
        notes.uids.clear()


# ------------------------------------------------------------------------------------------ learning phase


@export("keras.backend.learning_phase")
def learning_phase() -> Any:
    """The learning phase: a bool tensor that is fed while a model is trained, or the number that was set.

    In eager mode it is 0 unless it was set.
    """
    graph: Any = get_default_graph()
    if graph.building_function and not in_keras_graph():
        while graph.building_function:  # a function has none of its own, unless one was set in it
            if of_graph(graph).phase_is_set:
                return of_graph(graph).phase
            graph = graph.outer
        with init_scope():
            return learning_phase()
    notes = of_graph()
    if executing_eagerly() and not notes.phase_is_set:
        return 0
    if notes.phase is None:
        with name_scope(None):
            notes.phase = constants.placeholder_with_default(False, shape=(), name="keras_learning_phase")
    return notes.phase


def learning_phase_is_set() -> bool:
    """Whether the program has set the learning phase to a number, for the whole of eager mode."""
    return graph_outside().is_eager and of_graph().phase_is_set


def is_phase(value: Any) -> bool:
    """Whether a training mode is the tensor of a learning phase: another call has another one."""
    return any(value is notes.phase for notes in _graphs.values()) if isinstance(value, Tensor) else False


@export("keras.backend.set_learning_phase")
def set_learning_phase(value: int) -> None:
    """Sets the learning phase.

    Args:
      value: 0 or False for inference, 1 or True for training.

    Raises:
      ValueError: If it is another value.
    """
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    for notes in (of_graph(), of_graph(get_graph())):  # in eager mode, two
        notes.phase, notes.phase_is_set = value, True


@export("keras.backend.learning_phase_scope")
@contextlib.contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """Sets the learning phase within a `with` block.

    Args:
      value: 0 or False for inference, 1 or True for training.

    Yields:
      None.

    Raises:
      ValueError: If it is another value.
    """
    before = [(notes, notes.phase, notes.phase_is_set) for notes in (of_graph(), of_graph(get_graph()))]
    set_learning_phase(value)
    try:
        yield
    finally:
        for notes, phase, phase_is_set in before:
            notes.phase, notes.phase_is_set = phase, phase_is_set


# -------------------------------------------------------------------------------------- calls under way


class _Calls(threading.local):
    """The calls of layers that this thread is in: the training mode and the inputs of each."""

    def __init__(self) -> None:
        self.under_way: list[tuple[TensorLike | None, Any]] = []


_calls = _Calls()


@contextlib.contextmanager
def inside_call(training: Any, inputs: Any) -> Iterator[None]:
    """Layers that are called inside take this training mode, unless they are given another."""
    _calls.under_way.append((training, inputs))
    try:
        yield
    finally:
        _calls.under_way.pop()


def training_of_outer_call() -> Any:
    """The training mode of the call around this one; None where there is none."""
    return _calls.under_way[-1][0] if _calls.under_way else None


def inputs_of_call() -> Any:
    """The inputs of the innermost call; None where there is none."""
    return _calls.under_way[-1][1] if _calls.under_way else None


def in_call() -> bool:
    """Whether a layer's `call` is under way."""
    return bool(_calls.under_way)


def as_training(value: Any) -> Any:
    """A training mode as layers pass it on: a bool, or a bool tensor."""
    return value if isinstance(value, Tensor) and value.dtype == dtypes.bool else bool(value)
