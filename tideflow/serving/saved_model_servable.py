"""A SavedModel as a `Model`: its signatures, and a session that computes them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np
from google.protobuf.message import Message

from tideflow.graph import errors
from tideflow.graph.dismantle import dismantle_graph
from tideflow.graph.errors import OpError
from tideflow.graph.graph import Graph
from tideflow.graph.op import definitions
from tideflow.graph.operation import Tensor
from tideflow.saved_model.constants import INIT_OP_SIGNATURE_KEY, SERVING, TRAIN_OP_SIGNATURE_KEY
from tideflow.saved_model.loader import SavedModelLoader
from tideflow.serving.calls import Arrays, Signature
from tideflow.serving.inference import NO_SIGNATURE
from tideflow.serving.metadata import signature_of
from tideflow.serving.models import Model
from tideflow.session.session import Session

_log = logging.getLogger("tideflow.serving")


class SavedModel:
    """A graph of a SavedModel in a session of its own.

    Args:
      path: The directory of the version.
      tags: The tags of the graph.
      trusted: Whether its operations may reach files and Python functions of the process.
    """

    def __init__(self, path: str, tags: Iterable[str] = (SERVING,), trusted: bool = False):
        graph = Graph()
        self._session = Session(graph=graph)
        try:
            message = SavedModelLoader(path).load(self._session, tags, trusted=trusted)
            self.signatures = _signatures(message)
        except OpError:
            self._session.close()
            raise
        except (RuntimeError, ValueError, TypeError, KeyError, OSError) as error:
            self._session.close()
            raise errors.failed_precondition(f"{path} cannot be loaded: {error}") from None
        self._graph = graph
        self._steps: dict[tuple[str, tuple[str, ...]], tuple[list[tuple[str, Tensor]], list[Tensor]]] = {}

    def run(self, signature: str, inputs: Arrays, outputs: tuple[str, ...]) -> Arrays:
        """One run of the session; its errors are those of `tf.errors`."""
        step = self._steps.get((signature, outputs))
        if step is None:
            step = self._step(signature, outputs)
        feeds, fetches = step
        try:
            values = self._session.run(fetches, {tensor: inputs[name] for name, tensor in feeds})
        except (ValueError, TypeError) as error:  # a fed shape that contradicts the placeholder's
            raise errors.invalid_argument(str(error)) from None
        return dict(zip(outputs, values))

    def _step(self, key: str, outputs: tuple[str, ...]) -> tuple[list[tuple[str, Tensor]], list[Tensor]]:
        """What a signature feeds, and the tensors of these outputs."""
        signature, tensor = self.signatures[key], self._graph.get_tensor_by_name
        feeds = [(name, tensor(spec.tensor_name)) for name, spec in signature.inputs.items()]
        fetches = [tensor(signature.outputs[name].tensor_name) for name in outputs]
        step = self._steps[key, outputs] = feeds, fetches
        return step

    def run_tensors(self, feeds: Arrays, fetches: list[str]) -> list[Any]:
        """A run by the names of tensors, as `SessionService` has it."""
        try:
            return self._session.run(fetches, feeds)
        except (ValueError, TypeError, KeyError) as error:
            raise errors.invalid_argument(str(error)) from None

    def is_steady(self) -> bool:
        """Whether a run takes about as long for any values: nothing waits, loops, or calls Python."""
        for op in self._graph.get_operations():
            found = definitions().get(op.type)
            if (
                found is None
                or found.blocking
                or found.touches == "python"
                or "frame_name" in op.node_def.attr
            ):
                return False
        return True

    def close(self) -> None:
        """Closes the session, and gives back all memory of the model at once.

        A graph is full of references in circles. What it holds would stay until the next full collection,
        and for ever if the collector was told to leave it alone (`gc.freeze`).
        """
        self._session.close()
        self._steps.clear()
        dismantle_graph(self._graph)


def compute(model: Model, signature: str, inputs: Arrays, outputs: tuple[str, ...]) -> Arrays:
    """The outputs of a call: by a signature, or of tensors of the graph by their names (`NO_SIGNATURE`)."""
    if signature != NO_SIGNATURE:
        return model.run(signature, inputs, outputs)
    if not isinstance(model, SavedModel):
        raise errors.failed_precondition("Only a SavedModel has tensors that can be run by name.")
    found = zip(outputs, model.run_tensors(inputs, list(outputs)))
    return {name: np.asarray(value) for name, value in found if value is not None}  # None: of an operation


def _signatures(message: Message) -> dict[str, Signature]:
    """The signatures that can be served: those whose inputs and outputs are plain tensors."""
    found = {}
    for key, signature in message.signature_def.items():
        infos = [*signature.inputs.values(), *signature.outputs.values()]
        if key in (INIT_OP_SIGNATURE_KEY, TRAIN_OP_SIGNATURE_KEY):
            continue
        if not signature.outputs or any(info.WhichOneof("encoding") != "name" for info in infos):
            _log.warning("signature %r is not served: it has sparse or composite tensors, or no output", key)
            continue
        found[key] = signature_of(signature)
    return found
