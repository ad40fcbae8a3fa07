"""The session of Keras: made when it is first needed, with the variables that Keras made initialized."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import is_tensor
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import (
    executing_eagerly,
    get_default_graph,
    get_default_session,
    init_scope,
    reset_default_graph,
)
from tideflow.layers import keras_state
from tideflow.layers.keras_graph import get_graph
from tideflow.ops.arrays import constants
from tideflow.ops.state import reference_variables
from tideflow.runtime.settings import settings
from tideflow.session.session import Session
from tideflow.variables.collections import variables_initializer


class _Current:
    session: Any = None
    initializes_by_hand = False


_variables: weakref.WeakKeyDictionary[Graph, list[Any]] = weakref.WeakKeyDictionary()


def track_variable(variable: Any) -> None:
    """Keras's session initializes this variable before its next step; eager ones have their value."""
    if variable.handle.is_eager if hasattr(variable, "handle") else executing_eagerly():
        return
    known = _variables.setdefault(get_default_graph(), [])
    if all(variable is not other for other in known):
        known.append(variable)


def any_initialized(variables: Sequence[Any]) -> bool:
    """Whether one of these variables of Keras has a value, and does not wait for the next step."""
    waiting = {id(variable) for known in _variables.values() for variable in known}
    return any(id(variable) not in waiting for variable in variables)


@export("keras.backend.get_session")
def get_session(op_input_list: Sequence[Any] = ()) -> Session:
    """The session that Keras runs steps in: the default session, or else one of its own.

    Variables that Keras made and that have no value yet are initialized.

    Args:
      op_input_list: Tensors whose graph the session should have; the default graph if there are none.

    Returns:
      The session.
    """
    session = _session(op_input_list[0].graph if len(op_input_list) else get_graph())
    if not _Current.initializes_by_hand:
        _initialize(session)
    return session


def _session(graph: Graph) -> Session:
    default = get_default_session()
    if default is not None:
        return default
    if _Current.session is None or _Current.session.graph is not graph:
        config = ConfigProto(allow_soft_placement=True)
        if settings.jit:
            config.graph_options.optimizer_options.global_jit_level = 1
        _Current.session = Session(graph=graph, config=config)
    return _Current.session


def _initialize(session: Session) -> None:
    """Initializes the variables that were made since the last look, and that nobody has given a value."""
    new = _variables.pop(session.graph, [])
    if not new:
        return
    with session.graph.as_default():
        has_value = session.run([reference_variables.is_variable_initialized(v) for v in new])
        missing = [variable for variable, there in zip(new, has_value, strict=True) if not there]
        if missing:
            session.run(variables_initializer(missing))


@export("keras.backend.set_session")
def set_session(session: Session) -> None:
    """Sets the session that Keras runs steps in where there is no default session.

    Args:
      session: The session.
    """
    _Current.session = session


@export("keras.backend.clear_session")
def clear_session() -> None:
    """Starts again: a new default graph, no session, names of layers from the beginning."""
    reset_default_graph()
    keras_state.forget_graphs()
    _Current.session = None
    _variables.clear()
    with get_graph().as_default():
        keras_state.learning_phase()  # the first node of the new graph


@export("keras.backend.manual_variable_initialization")
def manual_variable_initialization(value: bool) -> None:
    """Says who initializes the variables of layers.

    Args:
      value: True for the program, False for Keras, which does so before its first step.
    """
    _Current.initializes_by_hand = value


@export("keras.backend.get_value")
def get_value(x: Any) -> Any:
    """The value of a variable.

    Args:
      x: The variable, or another structure that has a value in the session.

    Returns:
      The value as an array; what is no tensor, as it is.
    """
    return batch_get_value([x])[0] if is_tensor(x) else x


@export("keras.backend.batch_get_value")
def batch_get_value(tensors: Sequence[Any]) -> list[Any]:
    """The values of several variables.

    Args:
      tensors: The variables.

    Returns:
      A list of arrays.
    """
    tensors = list(tensors)
    if _are_eager(tensors):
        with init_scope():
            return [x.numpy() for x in tensors]
    return get_session(tensors).run(tensors) if tensors else []


def _are_eager(tensors: list[Any]) -> bool:
    """Whether these are variables or tensors that have their values."""
    return bool(tensors) and getattr(getattr(tensors[0], "handle", tensors[0]), "is_eager", False)


@export("keras.backend.set_value")
def set_value(x: Any, value: Any) -> None:
    """Sets the value of a variable.

    Args:
      x: The variable.
      value: The value, as an array or as what NumPy makes one of.
    """
    batch_set_value([(x, value)])


@export("keras.backend.batch_set_value")
def batch_set_value(tuples: Sequence[tuple[Any, Any]]) -> None:
    """Sets the values of several variables, in one step.

    Args:
      tuples: Pairs of a variable and its new value.
    """
    if not tuples:
        return
    if _are_eager([variable for variable, _ in tuples]):
        with init_scope():
            for variable, value in tuples:
                variable.assign(np.asarray(value, dtype=variable.dtype.base_dtype.as_numpy_dtype))
        return
    feeds, assignments = {}, []
    with tuples[0][0].graph.as_default():
        for variable, value in tuples:
            dtype = dtypes.as_dtype(variable.dtype).base_dtype
            value = np.asarray(value, dtype=dtype.as_numpy_dtype)
            if not hasattr(variable, "_keras_assignment"):
                given = constants.placeholder(dtype, shape=[None] * value.ndim)
                variable._keras_assignment = given, variable.assign(given)
            given, assigned = variable._keras_assignment
            feeds[given] = value
            assignments.append(getattr(assigned, "op", assigned))
        get_session([tuples[0][0]]).run(assignments, feed_dict=feeds)
