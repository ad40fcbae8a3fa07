"""`tf.GradientTape`: records what runs, and computes gradients by the op types' own gradient functions.

In eager mode the tape keeps a record of each operation that uses something watched; going back over the
records calls gradient functions, whose operations run, and are recorded by other tapes, like any
(`backward.py`), or runs a plan, if the same was recorded before (`gradient_plans.py`). In graph mode the
graph itself is the record: the tape knows which of its operations were made while it recorded.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.autodiff.custom import variable_of
from tideflow.autodiff.gradients import UnconnectedGradients, gradients
from tideflow.eager.backward import backward
from tideflow.eager.recording import Entry, Record, begin, end, recording
from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.composite import IndexedSlices, SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import not_differentiable
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.platform import logging

if TYPE_CHECKING:
    from types import TracebackType

    from tideflow.eager.execute import BoundKernel
    from tideflow.graph.typing import Structure, TensorLike


_UNREACHABLE = 3  # references to a tape that only `recording` and the loop over it have


@export("GradientTape", "contrib.eager.GradientTape")
class GradientTape:
    """Records the operations of a `with` block, to compute gradients of their results afterwards.

        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        slopes = tape.gradient(loss, variables)

    Trainable variables that the block reads are watched; tensors are watched when the block says so. Tapes
    can be nested: an outer one records what an inner one's `gradient` runs, which gives higher derivatives.

    Args:
      persistent: Whether several gradients may be computed. Otherwise what was recorded is given up with the
        first.
      watch_accessed_variables: Whether trainable variables are watched as they are read.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._recording = False
        self._used = False
        self._was_entered = False
        self._records: list[Entry] = []
        self._tracked: dict[int, Any] = {}  # what is watched and what follows from it, by id
        self._variables: dict[int, Any] = {}
        self._made: list[tuple[Any, int, int | None]] = []  # graph, first and last operation made meanwhile

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise ValueError("Tape is already recording.")
        try:
            self._push()
            return self
        except BaseException:  # an interrupt: the block does not begin
            self.__exit__(None, None, None)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._recording:
            self._pop()

    def _push(self) -> None:
        if self._recording:
            raise ValueError("Tape is already recording.")
        self._recording = self._was_entered = True
        # A tape whose block an interrupt kept from ending is held by nothing else any more.
        alive = [tape for tape in recording.tapes if sys.getrefcount(tape) > _UNREACHABLE]
        begin(self, alive)
        graph = get_default_graph()
        if not graph.is_eager:
            self._made.append((graph, len(graph._ops), None))

    def _pop(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._recording = False
        end(self)
        if self._made and self._made[-1][2] is None:
            graph, first, _ = self._made.pop()
            self._made.append((graph, first, len(graph._ops)))

    # ---------------------------------------------------------------------------------- recording

    def add(
        self, bound: BoundKernel, inputs: Sequence[Any], outputs: Sequence[Any], gradient_name: str | None
    ) -> None:
        """Keeps an operation, if an input of it is watched or follows from what is."""
        op = bound.node.definition
        if self._uses(inputs) and op.gradient_function is not not_differentiable:
            plain = gradient_name is None
            self._records.append(
                (bound, inputs, outputs) if plain else Record(op, bound.attrs, inputs, outputs, gradient_name)
            )
            tracked = self._tracked
            for output in outputs:
                tracked[id(output)] = output

    def add_record(self, record: Record) -> None:
        """The same for an operation with a gradient function of its own."""
        if self._uses(record.inputs):
            self._records.append(record)
            self._tracked.update({id(output): output for output in record.outputs})

    def _uses(self, tensors: Sequence[Any]) -> bool:
        """Whether one of these inputs of an operation is watched, or follows from what is. Trainable
        variables among them are, from now on.
        """
        is_used, tracked = False, self._tracked
        for tensor in tensors:
            if id(tensor) in tracked:
                is_used = True
            elif tensor.dtype is dtypes.resource and self._watch_accessed_variables:
                variable = tensor._variable and tensor._variable()
                if variable is not None and variable.trainable:
                    self._watch_variable(variable)
                    is_used = True
        return is_used

    def _watch_variable(self, variable: Any) -> None:
        handle = _here(variable.handle)
        self._tracked[id(handle)] = handle
        self._variables[id(variable.handle)] = variable

    def watch(self, tensor: Structure[TensorLike]) -> None:
        """Has the tape record what is computed from a tensor.

        Args:
          tensor: A tensor or a variable, or a structure of them.

        Raises:
          ValueError: If it is none of those.
        """
        for item in nest.flatten(tensor):
            if hasattr(item, "handle"):
                self._watch_variable(item)
                continue
            if not isinstance(item, Tensor):
                raise ValueError(f"Passed in object of type {type(item)}, not tf.Tensor")
            if not item.dtype.is_floating and not item.dtype.is_complex:
                logging.log_first_n(
                    logging.WARN,
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    5,
                    item.dtype.base_dtype,
                )
            item = _here(item)
            self._tracked[id(item)] = item

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Pauses the tape in a `with` block.

        Yields:
          None.

        Raises:
          RuntimeError: If the tape does not record.
        """
        if not self._recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self) -> None:
        """Forgets all that was recorded and watched, as if the block had just begun.

        Raises:
          ValueError: If the tape is not recording.
        """
        self._pop()
        self._records, self._tracked, self._variables, self._made = [], {}, {}, []
        self._push()

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that were watched, in the order in which they were first used.

        Returns:
          A tuple of variables.
        """
        found = dict(self._variables)
        if self._watch_accessed_variables and self._made:
            handles = {id(tensor): tensor for op in self._graph_operations() for tensor in op.inputs}
            for tensor in handles.values():
                variable = variable_of(tensor)
                if variable is not None and variable.trainable:
                    found.setdefault(id(variable.handle), variable)
            for graph in {graph: None for graph, _, _ in self._made}:
                inputs = graph.captured if graph.building_function else {}
                for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES):
                    handle = getattr(variable, "handle", None)
                    if id(handle) in handles or id(inputs.get(handle, handle)) in handles:
                        found.setdefault(id(handle), variable)
        return tuple(found.values())

    # ---------------------------------------------------------------------------------- gradients

    def gradient(
        self,
        target: Structure[TensorLike],
        sources: Structure[TensorLike],
        output_gradients: Structure[TensorLike] | None = None,
        unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
    ) -> Any:
        """Computes gradients of what the block computed.

        Args:
          target: A tensor, or a structure of tensors, whose sum is differentiated.
          sources: Watched tensors or variables, or a structure of them.
          output_gradients: The weight of each element of each target; ones where it is None.
          unconnected_gradients: What to return for a source on which no target depends.

        Returns:
          A gradient for each source, in the same structure: a tensor, IndexedSlices for a variable of which
          some rows were used, or None.

        Raises:
          RuntimeError: If a tape that is not persistent was used before.
          ValueError: If `unconnected_gradients` is none of the choices.
          LookupError: If an operation between the two has no gradient function.
        """
        if self._used or not self._was_entered:
            raise RuntimeError("GradientTape.gradient can only be called once on non-persistent tapes.")
        if self._recording:
            self._end_or_warn()
        try:
            unconnected = UnconnectedGradients(unconnected_gradients)
        except ValueError:
            raise ValueError(f"Unknown value for unconnected_gradients: '{unconnected_gradients}'") from None
        targets = [self._target(item) for item in nest.flatten(target)]
        flat = nest.flatten(sources)
        wanted = [_source(source) for source in flat]
        seeds = [None] * len(targets)
        if output_gradients is not None:
            seeds = [None if g is None else convert_to_tensor(g) for g in nest.flatten(output_gradients)]
        graph: Any = get_default_graph()
        if graph.is_eager:
            found = self._eager_gradients(graph, targets, wanted, seeds)
        else:
            found = self._graph_gradients(targets, wanted, seeds)
        if not self._persistent:
            self._used = True
            self._records, self._tracked = [], {}
        if unconnected is UnconnectedGradients.ZERO:
            found = [_zeros(s) if g is None else g for s, g in zip(flat, found, strict=True)]
        return nest.pack_sequence_as(sources, found) if nest.is_nested(sources) else found[0]

    def _end_or_warn(self) -> None:
        """Ends the block of a tape that is used in it; a persistent one goes on recording, with a warning."""
        if not self._persistent:
            self._pop()
            return
        logging.log_first_n(
            logging.WARN,
            "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
            "efficient than calling it outside the context (it causes the gradient ops to be recorded on the "
            "tape, leading to increased CPU and memory usage). Only call GradientTape.gradient inside the "
            "context if you actually want to trace the gradient in order to compute higher order "
            "derivatives.",
            1,
        )

    def _target(self, item: Any) -> Any:
        """A target as a tensor, with a warning if it has no gradient."""
        if hasattr(item, "handle"):
            item = self._read(item)
        elif not isinstance(item, (Tensor, IndexedSlices, SparseTensor)):
            item = convert_to_tensor(item)
        if item.dtype is not dtypes.resource and not (item.dtype.is_floating or item.dtype.is_complex):
            logging.log_first_n(
                logging.WARN,
                "The dtype of the target tensor must be floating (e.g. tf.float32) when calling "
                "GradientTape.gradient, got %r",
                5,
                item.dtype.base_dtype,
            )
        return item

    def _eager_gradients(
        self, graph: Any, targets: list[Any], sources: list[Any], seeds: list[Any]
    ) -> list[Any]:
        """The gradients over what was recorded, by a plan or record by record."""
        pairs = [pair for pair in zip(targets, seeds, strict=True) if pair[0].dtype is not dtypes.string]
        targets, seeds = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        known = [source if id(source) in self._tracked else None for source in sources]
        # What is computed from whole numbers is not recorded; they are targets themselves at most.
        known = [
            source if source is None or _is_differentiable(source) or _is_among(source, targets) else None
            for source in known
        ]
        found = None
        if not recording.tapes:  # otherwise those record what computes the gradients
            found = graph.gradient_plans.computed(self._records, targets, known, seeds)
        return backward(self._records, targets, known, seeds) if found is None else found

    def _read(self, variable: Any) -> Tensor:
        """The value of a variable that is a target; the tape knows where it comes from."""
        if self._recording:
            return convert_to_tensor(variable)
        with self:
            return convert_to_tensor(variable)

    def jacobian(
        self,
        target: TensorLike,
        sources: Structure[TensorLike],
        unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Computes the derivatives of each element of a target.

        Args:
          target: A tensor.
          sources: Watched tensors or variables, or a structure of them.
          unconnected_gradients: What to return for a source on which the target does not depend.
          parallel_iterations: Accepted for TensorFlow's sake.
          experimental_use_pfor: Accepted for TensorFlow's sake.

        Returns:
          For each source, a tensor of shape `target.shape + source.shape`, or None.

        Raises:
          RuntimeError: In eager mode, if the tape is not persistent and `experimental_use_pfor` is not set.
        """
        self._check_loops("jacobian", experimental_use_pfor)
        target = convert_to_tensor(target)
        flat = [convert_to_tensor(source) for source in nest.flatten(sources)]
        size = target.shape.num_elements()
        if size is None:
            raise ValueError(f"jacobian needs the static shape of the target, which is {target.shape}")
        rows = self._rows(target, sources, creation.eye(size, dtype=target.dtype), unconnected_gradients)
        stacked = [_stacked([row[i] for row in rows]) for i in range(len(flat))]
        joined = [
            None if each is None else _with_sizes_of(each, (target, 0), (source, 0))
            for each, source in zip(stacked, flat, strict=True)
        ]
        return nest.pack_sequence_as(sources, joined) if nest.is_nested(sources) else joined[0]

    def batch_jacobian(
        self,
        target: TensorLike,
        source: TensorLike,
        unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Computes the Jacobian of each example of a batch, of which each depends on its own source alone.

        Args:
          target: A tensor of shape `[batch, ...]`.
          source: A watched tensor of shape `[batch, ...]`.
          unconnected_gradients: What to return where the target does not depend on the source.
          parallel_iterations: Accepted for TensorFlow's sake.
          experimental_use_pfor: Accepted for TensorFlow's sake.

        Returns:
          A tensor of shape `[batch, ...of the target, ...of the source]`.

        Raises:
          RuntimeError: In eager mode, if the tape is not persistent and `experimental_use_pfor` is not set.
          ValueError: If the first sizes differ, one of the tensors is a vector, or the size of an example of
            the target is unknown.
        """
        self._check_loops("batch_jacobian", experimental_use_pfor)
        target, given = convert_to_tensor(target), convert_to_tensor(source)
        outer, inner = target.shape.with_rank_at_least(2), given.shape.with_rank_at_least(2)
        if not outer[:1].is_compatible_with(inner[:1]):
            raise ValueError(
                f"Need first dimension of target shape ({outer}) and source shape ({inner}) to match."
            )
        width = outer[1:].num_elements()
        if width is None:
            raise ValueError(
                f"batch_jacobian needs the static sizes of the target's examples; its shape is {outer}."
            )
        eye = shapes.reshape(creation.eye(width, dtype=target.dtype), [width, 1, *outer[1:].as_list()])
        weights = eye * creation.ones_like(target)
        rows = self._rows(target, source, weights, unconnected_gradients)
        stacked = _stacked([row[0] for row in rows], axis=1)
        if stacked is None:
            return creation.zeros(_sizes_of((target, 0), (given, 1)), target.dtype)
        return _with_sizes_of(stacked, (target, 0), (given, 1))

    def _check_loops(self, what: str, at_once: bool) -> None:
        """Refuses in eager mode a loop over a target's elements with a tape that is not persistent."""
        if not at_once and not self._persistent and get_default_graph().is_eager:
            raise RuntimeError(
                f"GradientTape must be created with persistent=True to compute the {what} with eager "
                "execution enabled and with  experimental_use_pfor set to False."
            )

    def _rows(self, target: Any, sources: Any, weights: Any, unconnected: Any) -> list[list[Any]]:
        """The gradients of the sources for each of several weights of the target."""
        persistent = self._persistent
        try:
            self._persistent = True
            if self._recording and not persistent:
                self._pop()
            count = weights.shape.as_list()[0]
            weighted = [shapes.reshape(weights[i], shapes.shape(target)) for i in range(count)]
            return [nest.flatten(self.gradient(target, sources, w, unconnected)) for w in weighted]
        finally:
            self._persistent = persistent
            if not persistent:
                self._used = True
                self._records, self._tracked = [], {}

    # ---------------------------------------------------------------------------------- in graph mode

    def _graph_operations(self) -> list[Operation]:
        return [op for graph, first, last in self._made for op in graph._ops[first:last]]

    def _graph_gradients(self, targets: list[Any], sources: list[Tensor], seeds: list[Any]) -> list[Any]:
        """`tf.gradients` of what was recorded: what came in from outside of it counts as constant."""
        recorded = set(self._graph_operations())
        watched = {id(_here(variable.handle)) for variable in self.watched_variables()}
        entering = {
            tensor: None
            for op in recorded
            for tensor in op.inputs
            if tensor.op not in recorded and id(tensor) not in self._tracked and id(tensor) not in watched
        }
        known = [
            source
            for source in sources
            if id(source) in self._tracked or id(source) in watched or source.op in recorded
        ]
        if not known:
            return [None] * len(sources)
        found = gradients(targets, known, seeds, stop_gradients=[*entering] or None)
        by_source = dict(zip(map(id, known), found, strict=True))
        return [by_source.get(id(source)) for source in sources]


def _source(source: Any) -> Any:
    """The tensor that receives the gradient of a source: the source itself, or the handle of a variable."""
    if hasattr(source, "handle"):
        return _here(source.handle)
    if not isinstance(source, Tensor):
        raise ValueError(f"Passed in object of type {type(source)}, not tf.Tensor")
    return _here(source)


def _here(tensor: Any) -> Any:
    """The tensor itself, or the input that stands for it in the function that is being traced."""
    graph: Any = get_default_graph()
    return graph.capture(tensor) if graph.building_function else tensor


def _is_differentiable(source: Any) -> bool:
    dtype = source.dtype
    return dtype.is_floating or dtype.is_complex or dtype in (dtypes.resource, dtypes.variant)


def _is_among(source: Any, targets: list[Any]) -> bool:
    return any(source is target for target in targets)


def _zeros(source: Any) -> Any:
    return creation.zeros_like(source)


def _stacked(parts: list[Any], axis: int = 0) -> Tensor | None:
    """Gradients along a new axis; None where there are none."""
    if not parts or any(part is None for part in parts):
        return None
    return joining.stack([convert_to_tensor(part) for part in parts], axis=axis)


def _sizes_of(*ends: tuple[Tensor, int]) -> Any:
    """The sizes of tensors, each from an axis on, one after the other: numbers, if the graph tells all."""
    static = [size for tensor, first in ends for size in tensor.shape.as_list()[first:]]
    if None not in static:
        return static
    return joining.concat([shapes.shape(tensor)[first:] for tensor, first in ends], axis=0)


def _with_sizes_of(value: Tensor, *ends: tuple[Tensor, int]) -> Tensor:
    """The value in the shape that is made of these sizes."""
    result = shapes.reshape(value, _sizes_of(*ends))
    result.set_shape([size for tensor, first in ends for size in tensor.shape.as_list()[first:]])
    return result
