"""Functions of arrays that run a part of the graph in Keras's session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.graph import nest
from tideflow.layers.keras_graph import get_graph
from tideflow.layers.keras_session import get_session


class GraphFunction:
    """Runs outputs and updates of a graph for values of its inputs."""

    def __init__(
        self,
        inputs: Sequence[Any],
        outputs: Any,
        updates: Sequence[Any] = (),
        name: str | None = None,
        fetches: Any = (),
        feed_dict: dict[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ):
        self.inputs = nest.flatten(inputs, expand_composites=True)
        self.name = name
        self.feed_dict = feed_dict  # what is fed beside the inputs; a program may change it between calls
        self.run_options, self.run_metadata = options, run_metadata
        self._structure = outputs
        self._is_flat = type(outputs) is list and not any(map(nest.is_nested, outputs))
        with get_graph().as_default():
            self._connect(outputs, updates)
            more = fetches if isinstance(fetches, (list, tuple)) else [fetches]
            self.fetches = [tf.identity(x) for x in more]  # what runs besides; callbacks add to it
        self.fetch_callbacks: dict[Any, Any] = {}
        self._callable: Any = None
        self._made_for: Any = None

    def _connect(self, outputs: Any, updates: Sequence[Any]) -> None:
        self.outputs = [_tensor_or_composite(x) for x in nest.flatten(outputs)]
        with tf.control_dependencies(nest.flatten(self.outputs[:1], expand_composites=True)[:1]):
            done = [
                tf.assign(update[0], update[1]) if isinstance(update, tuple) else update for update in updates
            ]
            self.updates_op = tf.group(*done)

    def __call__(self, inputs: Any) -> Any:
        """Runs one step.

        Args:
          inputs: The values of the inputs.

        Returns:
          The values of the outputs.
        """
        values = inputs if _is_list_of_arrays(inputs) else _flat(inputs)
        values = values[: len(self.inputs)]  # a learning phase that the function does not take may follow
        session = get_session(self.inputs)
        key = (session, tuple(self.fetches), tuple(value is None for value in values))
        if self._made_for != key:
            fed = [tensor for tensor, value in zip(self.inputs, values, strict=False) if value is not None]
            fetches = [*self.outputs, *self.fetches, self.updates_op]
            self._callable = self._made_callable(session, fetches, fed)
            self._made_for = key
        found = self._callable(*_computed([_fed(value) for value in values if value is not None], session))
        number = len(self.outputs)
        for fetch, value in zip(self.fetches, found[number:-1], strict=True):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        if self._is_flat:
            return found[:number]
        if not nest.is_nested(self._structure):
            return found[0]
        return nest.pack_sequence_as(self._structure, found[:number])

    def _made_callable(self, session: tf.Session, fetches: list[Any], fed: list[Any]) -> Any:
        if self.run_options is None and self.run_metadata is None and self.feed_dict is None:
            return session.make_callable(fetches, fed)
        more = self.feed_dict or {}
        run = session.make_callable(fetches, [*fed, *more], accept_options=True)
        said = {"options": self.run_options, "run_metadata": self.run_metadata}
        return lambda *values: run(*values, *map(_fed, more.values()), **said)


def _tensor_or_composite(value: Any) -> Any:
    """The value itself where it is a sparse or ragged tensor."""
    is_composite = isinstance(value, (tf.SparseTensor, tf.RaggedTensor, tf.IndexedSlices))
    return value if is_composite else tf.convert_to_tensor(value)


def _is_list_of_arrays(inputs: Any) -> bool:
    return type(inputs) is list and all(type(value) is np.ndarray or type(value) is bool for value in inputs)


def _flat(inputs: Any) -> list[Any]:
    """The values of dense placeholders: of sparse and ragged ones, those of their parts."""
    leaves = nest.flatten(inputs, expand_composites=True)
    return [part for leaf in leaves for part in getattr(leaf, "parts", [leaf])]


def _fed(value: Any) -> Any:
    return value if hasattr(value, "dtype") else np.asarray(value)


def _computed(values: list[Any], session: tf.Session) -> list[Any]:
    """The values to feed: of tensors of a graph, what they are in this step."""
    tensors = [value for value in values if _is_symbolic(value)]
    if not tensors:
        return values
    found = iter(session.run(tensors))
    return [next(found) if _is_symbolic(value) else value for value in values]


def _is_symbolic(value: Any) -> bool:
    return type(value) is tf.Tensor or isinstance(value, tf.Variable)


@export("keras.backend.function")
def function(
    inputs: Sequence[Any],
    outputs: Any,
    updates: Sequence[Any] | None = None,
    name: str | None = None,
    **kwargs: Any,
) -> GraphFunction:
    """Makes a function of arrays of a part of the graph.

    Args:
      inputs: The placeholders that the function takes values for.
      outputs: What it computes: a structure of nodes of the graph.
      updates: Operations that it runs besides.
      name: The name of the function.
      **kwargs: Arguments of `Session.run`.

    Returns:
      The function.

    Raises:
      ValueError: If an argument is not one of `Session.run`.
    """
    for key in kwargs:
        if key not in ("fetches", "feed_dict", "options", "run_metadata"):
            raise ValueError(f'Invalid argument "{key}" passed to K.function with TensorFlow backend')
    if updates is not None and not isinstance(updates, (list, tuple)):
        raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
    return GraphFunction(inputs, outputs, updates or (), name, **kwargs)
