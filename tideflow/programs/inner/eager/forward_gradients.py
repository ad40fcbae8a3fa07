"""`eager.forwardprop`: Jacobian-vector products, computed as the operations run.

An accumulator stands among the tapes of its thread. Of each operation that runs, the way back is linear in
the gradients of the results; its transpose takes tangents of the inputs to tangents of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.eager.backward import backward
from tideflow.eager.recording import Record, as_record, begin, end, recording
from tideflow.eager.tape import GradientTape
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import not_differentiable
from tideflow.ops.arrays import creation
from tideflow.platform import logging


class ForwardGradientAccumulator:
    """Computes, with each operation of a `with` block, the product of its Jacobian and given tangents.

    with ForwardGradientAccumulator() as accumulator:
        accumulator.watch(x, tangent)
        y = tf.sin(x)
    product = accumulator.jvp(y)
    """

    _persistent = True  # functions keep what gradients of all orders need

    def __init__(self) -> None:
        self._recording = self._was_entered = False
        self._tangents: dict[int, tuple[Any, Any]] = {}  # with the tensors, whose ids stay theirs

    def __enter__(self) -> ForwardGradientAccumulator:
        self._push_accumulator()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._recording:
            self._pop_accumulator()

    def _push_accumulator(self) -> None:
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        if self._was_entered:
            raise NotImplementedError("Accumulator reuse isn't implemented yet.")
        self._recording = self._was_entered = True
        begin(self, recording.tapes)

    def _pop_accumulator(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._recording = False
        end(self)

    def watch(self, tensor: Any, tangents: Any) -> None:
        """Gives a tensor a tangent; of several, the sum counts.

        Args:
          tensor: A tensor, or a structure of them.
          tangents: A tangent of the same shape for each.
        """
        nest.assert_same_structure(tensor, tangents)
        for item, tangent in zip(nest.flatten(tensor), nest.flatten(tangents), strict=True):
            if not item.dtype.is_floating:
                logging.log_first_n(
                    logging.WARN,
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    5,
                    item.dtype,
                )
            if hasattr(item, "handle"):
                raise NotImplementedError("Currently only Tensors may be watched.")
            given = convert_to_tensor(tangent, item.dtype)
            known = self._tangent(item)
            self._tangents[id(item)] = item, given if known is None else known + given

    def jvp(self, target: Any) -> Any:
        """The tangents of results.

        Args:
          target: A tensor, or a structure of them.

        Returns:
          A tensor for each, or None where it depends on nothing that is watched.
        """
        if not self._was_entered:
            raise ValueError("Called jvp() without first tracing anything.")
        return nest.map_structure(self._tangent, target)

    def _tangent(self, tensor: Any) -> Any:
        found = self._tangents.get(id(tensor))
        return None if found is None else found[1]

    # ----------------------------------------------------------------------------------- as one of the tapes

    def _uses(self, tensors: Sequence[Any]) -> bool:
        return any(id(tensor) in self._tangents for tensor in tensors)

    def add(self, bound: Any, inputs: Sequence[Any], outputs: Sequence[Any], gradient_name: Any) -> None:
        """Gives the results of an operation their tangents."""
        if bound.node.definition.gradient_function is not not_differentiable:
            self.add_record(Record(bound.node.definition, bound.attrs, inputs, outputs, gradient_name))

    def add_record(self, record: Record) -> None:
        """The same for an operation with a gradient function of its own."""
        if not self._uses(record.inputs):
            return
        before = recording.tapes
        recording.tapes = before[: before.index(self)]  # type: ignore[arg-type]
        try:
            self._push_forward(as_record(record))
        finally:
            recording.tapes = before

    def _push_forward(self, record: Record) -> None:
        sources = [x for x in {id(x): x for x in record.inputs}.values() if id(x) in self._tangents]
        outputs = [y for y in record.outputs if y.dtype.is_floating]
        aids = [creation.ones_like(y) for y in outputs]
        with GradientTape() as transpose:
            transpose.watch(aids)
            found = backward([record], outputs, sources, aids)
        reached = [(dx, self._tangent(x)) for dx, x in zip(found, sources, strict=True) if dx is not None]
        if not reached:
            return
        products = transpose.gradient([dx for dx, _ in reached], aids, [tangent for _, tangent in reached])
        for output, product in zip(outputs, products, strict=True):
            if product is not None:
                self._tangents[id(output)] = output, product
