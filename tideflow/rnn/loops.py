"""Cells run over sequences: unrolled in the graph (`static_rnn`), or by a loop in it (`dynamic_rnn`,
`raw_rnn`), in one direction or in both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import colocate_with, control_dependencies, executing_eagerly, name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.layers.scoped import Layer
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes, tiling
from tideflow.ops.control_flow import conditionals, debugging, while_loops
from tideflow.ops.control_flow.contexts import current_context
from tideflow.ops.control_flow.tensor_array import TensorArray
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.rnn.cells import RNNCell, assert_like_rnncell, joined_sizes, known_sizes
from tideflow.variables import variable_scope as scopes

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike
    from tideflow.variables.variable_scope import VariableScope

# -------------------------------------------------------------------------------------------------- common


@export("contrib.rnn.transpose_batch_time")
def transpose_batch_time(x: Tensor) -> Tensor:
    """Exchanges the first two axes of a tensor.

    Args:
      x: The tensor.

    Returns:
      The tensor with the axes exchanged; `x` itself if its rank is below 2.
    """
    static = x.shape
    if static.ndims is not None and static.ndims < 2:
        return x
    axes = joining.concat(([1, 0], creation.range(2, shapes.rank(x))), axis=0)
    result = shapes.transpose(x, axes)
    if static.ndims is None:
        raise TypeError(f"The rank of the inputs must be known, but is not: {x}")
    batch, time, *rest = static.as_list()
    result.set_shape([time, batch, *rest])
    return result


@export("contrib.rnn.best_effort_input_batch_size")
def best_effort_input_batch_size(flat_input: Sequence[Tensor]) -> Any:
    """Gets the batch size of time-major inputs.

    Args:
      flat_input: Tensors of shape [time, batch, ...].

    Returns:
      An int if the static shape of one has the size, else a scalar tensor.
    """
    for each in flat_input:
        if each.shape.ndims is None:
            continue
        if each.shape.ndims < 2:
            raise ValueError(f"Expected input tensor {each} to have rank at least 2")
        if each.shape.tuple[1] is not None:
            return each.shape.tuple[1]
    return shapes.shape(flat_input[0])[1]


@contextmanager
def _scope_of_weights(scope: Any) -> Iterator[scopes.VariableScope]:
    """The scope of a network. Its variables are read once a step, where they are used, not once a time."""
    with scopes.variable_scope(scope or "rnn") as opened:
        context = current_context()
        if (context is None or context.loop is None) and opened.caching_device is None:
            opened.set_caching_device(lambda op: op.device)
        yield opened


def _initial_state(cell: Any, batch_size: Any, dtype: Any) -> Any:
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def infer_state_dtype(dtype: Any, state: Any) -> Any:
    """The type of the outputs: as told, else the one that all of the state has."""
    if dtype is not None:
        return dtype
    if not nest.is_nested(state):
        return state.dtype
    found = [part.dtype for part in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(other != found[0] for other in found):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single representative dtype."
        )
    return found[0]


def _caller(cell: Any) -> Callable:
    """`cell(inputs, state)`; a Keras cell has its state in a list, though it be one tensor."""
    if not isinstance(cell, Layer) or isinstance(cell, RNNCell) or hasattr(cell, "zero_state"):
        return cell

    def call(inputs: Any, state: Any) -> tuple[Any, Any]:
        alone = not nest.is_nested(state)
        output, new_state = cell(inputs, [state] if alone else state)
        return output, new_state[0] if alone and nest.is_nested(new_state) else new_state

    return call


def _through(finished: Tensor, old: Any, new: Any) -> Any:
    """`new`, but `old` in the rows that are finished."""
    if isinstance(old, TensorArray) or old.shape.ndims == 0:
        return new
    with colocate_with(new):
        return indexing.where(finished, old, new)


class _Lengths:
    """Sequences of lengths that differ: past its end, an output is 0 and a state stays as it was."""

    def __init__(self, lengths: Tensor, zero_output: Any):
        self.lengths = lengths
        self.zero_output = zero_output
        self.shortest = reductions.reduce_min(lengths)
        self.longest = reductions.reduce_max(lengths)

    def step(self, time: Any, state: Any, call: Callable, skips: bool) -> tuple[Any, Any]:
        """One step of those sequences that last. With `skips`, nothing is computed when none does, and
        nothing chosen when all do.
        """
        before = nest.flatten(self.zero_output) + nest.flatten(state)
        finished = time >= self.lengths

        def called() -> list[Any]:
            output, new_state = call()
            nest.assert_same_structure(self.zero_output, output)
            nest.assert_same_structure(state, new_state)
            return nest.flatten(output) + nest.flatten(new_state)

        def chosen(after: list[Any]) -> list[Any]:
            return [_through(finished, old, new) for old, new in zip(before, after, strict=True)]

        def called_and_chosen() -> list[Any]:
            after = called()
            return conditionals.cond(time < self.shortest, lambda: after, lambda: chosen(after))

        if skips:
            result = conditionals.cond(time >= self.longest, lambda: before, called_and_chosen)
        else:
            result = chosen(called())
        for old, new in zip(before, result, strict=True):
            if not isinstance(new, TensorArray):
                new.set_shape(old.shape)
        outputs = len(nest.flatten(self.zero_output))
        return (
            nest.pack_sequence_as(self.zero_output, result[:outputs]),
            nest.pack_sequence_as(state, result[outputs:]),
        )


# -------------------------------------------------------------------------------------------------- dynamic


@export("nn.dynamic_rnn")
def dynamic_rnn(
    cell: RNNCell,
    inputs: TensorLike,
    sequence_length: TensorLike | None = None,
    initial_state: Any = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[Any, Any]:
    """Runs a recurrent cell along time, in a loop of the graph.

    Args:
      cell: The cell.
      inputs: A tensor of shape [batch, time, size], or a structure of such tensors.
      sequence_length: The length of each sequence, a vector. Past it, outputs are zero and states do not
        change. All time steps count if None.
      initial_state: The state at the start; zeros if None.
      dtype: The type of the initial state, needed if there is none.
      parallel_iterations: The number of iterations that may run at the same time.
      swap_memory: Whether forward values may be moved to host memory.
      time_major: Whether inputs and outputs have the shape [time, batch, size], which is faster.
      scope: The variable scope of the cell's variables; `"rnn"` if None.

    Returns:
      The outputs of all time steps, and the final state.

    Raises:
      TypeError: If `cell` is not a cell.
      ValueError: If the state and the type are missing, or shapes do not fit.
    """
    assert_like_rnncell("cell", cell)
    with _scope_of_weights(scope):
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [transpose_batch_time(each) for each in [convert_to_tensor(each) for each in flat]]
        if sequence_length is not None:
            sequence_length = _vector_of_lengths(sequence_length)
        batch_size = best_effort_input_batch_size(flat)
        if initial_state is None:
            if not dtype:
                raise ValueError("If there is no initial_state, you must give a dtype.")
            initial_state = _initial_state(cell, batch_size, dtype)
        if sequence_length is not None and not executing_eagerly():
            with control_dependencies([_assert_one_a_row(sequence_length, batch_size)]):
                sequence_length = constants.identity(sequence_length, name="CheckSeqLen")
        loop = _DynamicLoop(cell, nest.pack_sequence_as(inputs, flat), initial_state, sequence_length, dtype)
        outputs, state = loop.run(parallel_iterations or 32, swap_memory)
        return outputs if time_major else nest.map_structure(transpose_batch_time, outputs), state


def _vector_of_lengths(sequence_length: Any) -> Tensor:
    lengths = casting.cast(sequence_length, dtypes.int32)
    if lengths.shape.ndims not in (None, 1):
        raise ValueError(
            f"sequence_length must be a vector of length batch_size, but saw shape: {lengths.shape}"
        )
    return constants.identity(lengths, name="sequence_length")


def _assert_one_a_row(lengths: Tensor, batch_size: Any) -> Operation:
    found = shapes.shape(lengths)
    wanted = joining.stack([batch_size])
    message = [f"Expected shape for Tensor {lengths.name} is ", wanted, " but saw shape: ", found]
    return debugging.Assert(reductions.reduce_all(binary.equal(found, wanted)), message)


class _DynamicLoop:
    """A cell along the first axis of its inputs, which are read from TensorArrays, as outputs go to some."""

    def __init__(self, cell: Any, inputs: Any, state: Any, sequence_length: Any, dtype: Any):
        self.call = _caller(cell)
        self.inputs = inputs
        self.state = state
        self.output_size = cell.output_size
        flat = nest.flatten(inputs)
        self.time_steps = shapes.shape(flat[0])[0]
        batch_size = best_effort_input_batch_size(flat)
        self.input_shapes = [each.shape.with_rank_at_least(3) for each in flat]
        self.known_time, self.known_batch = _common_sizes(self.input_shapes)
        self.dtype = functools.partial(infer_state_dtype, dtype, state)
        zeros = [self._zeros(batch_size, size) for size in nest.flatten(self.output_size)]
        self.lengths = None
        if sequence_length is not None:
            zero_output = nest.pack_sequence_as(self.output_size, zeros)
            self.lengths = _Lengths(sequence_length, zero_output)

    def _zeros(self, batch_size: Any, size: Any) -> Tensor:
        return creation.zeros(joining.stack(joined_sizes(batch_size, size)), self.dtype())

    def run(self, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any]:
        time = constants.constant(0, dtype=dtypes.int32, name="time")
        with name_scope("dynamic_rnn") as base_name:
            pass
        outputs = tuple(
            self._array(f"{base_name}output_{i}", self._with_batch(size), self.dtype())
            for i, size in enumerate(nest.flatten(self.output_size))
        )
        flat = nest.flatten(self.inputs)
        arrays = [
            self._array(f"{base_name}input_{i}", each.shape[1:], each.dtype) for i, each in enumerate(flat)
        ]
        self.arrays = [array.unstack(each) for array, each in zip(arrays, flat, strict=True)]
        longest = self.time_steps if self.lengths is None else self.lengths.longest
        bound = binary.minimum(self.time_steps, binary.maximum(1, longest))
        _, outputs, state = while_loops.while_loop(
            lambda time, *_: time < bound,
            self._step,
            (time, outputs, self.state),
            parallel_iterations=parallel_iterations,
            maximum_iterations=self.time_steps,
            swap_memory=swap_memory,
        )
        stacked = [array.stack() for array in outputs]
        for output, size in zip(stacked, nest.flatten(self.output_size), strict=True):
            output.set_shape(known_sizes([self.known_time, self.known_batch], size))
        return nest.pack_sequence_as(self.output_size, stacked), state

    def _array(self, name: str, element_shape: Any, dtype: Any) -> TensorArray:
        return TensorArray(dtype, size=self.time_steps, element_shape=element_shape, tensor_array_name=name)

    def _with_batch(self, size: Any) -> TensorShape:
        return TensorShape([self.known_batch]).concatenate(_static(size))

    def _step(self, time: Tensor, outputs: tuple[TensorArray, ...], state: Any) -> tuple[Any, ...]:
        now = [array.read(time) for array in self.arrays]
        for each, shape in zip(now, self.input_shapes, strict=True):
            each.set_shape(shape[1:])
        call = functools.partial(self.call, nest.pack_sequence_as(self.inputs, now), state)
        if self.lengths is None:
            output, state = call()
        else:
            output, state = self.lengths.step(time, state, call, skips=False)
        outputs = tuple(array.write(time, each) for array, each in zip(outputs, nest.flatten(output)))
        return time + 1, outputs, state


def _common_sizes(input_shapes: list[TensorShape]) -> tuple[int | None, int | None]:
    """The time and the batch of all inputs, as far as they are known."""
    time, batch = input_shapes[0].as_list()[:2]
    for shape in input_shapes:
        if not shape[2:].is_fully_defined():
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw value None."
            )
        if shape.as_list()[0] != time:
            raise ValueError("Time steps is not the same for all the elements in the input in a batch.")
        if shape.as_list()[1] != batch:
            raise ValueError("Batch_size is not the same for all the elements in the input.")
    return time, batch


def _static(size: Any) -> TensorShape:
    return as_shape(constant_value(size) if isinstance(size, Tensor) else size)


@export("nn.bidirectional_dynamic_rnn")
def bidirectional_dynamic_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: TensorLike,
    sequence_length: TensorLike | None = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Runs two recurrent cells along time, one forward and one backward.

    Args:
      cell_fw: The cell that runs forward.
      cell_bw: The cell that runs backward.
      inputs: A tensor of shape [batch, time, size], or a structure of such tensors.
      sequence_length: The length of each sequence, a vector. Past it, outputs are zero and states do not
        change. All time steps count if None.
      initial_state_fw: The state of the forward cell at the start; zeros if None.
      initial_state_bw: The state of the backward cell at the start; zeros if None.
      dtype: The type of the initial states, needed if there are none.
      parallel_iterations: The number of iterations that may run at the same time.
      swap_memory: Whether forward values may be moved to host memory.
      time_major: Whether inputs and outputs have the shape [time, batch, size].
      scope: The variable scope; `"bidirectional_rnn"` if None.

    Returns:
      The pair of outputs, and the pair of final states, forward first.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    seq_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reverse(x: Any) -> Tensor:
        if sequence_length is None:
            return tiling.reverse(x, axis=[seq_axis])
        return tiling.reverse_sequence(x, sequence_length, seq_axis=seq_axis, batch_axis=batch_axis)

    along = functools.partial(
        dynamic_rnn,
        sequence_length=sequence_length,
        dtype=dtype,
        parallel_iterations=parallel_iterations,
        swap_memory=swap_memory,
        time_major=time_major,
    )
    with scopes.variable_scope(scope or "bidirectional_rnn"):
        with scopes.variable_scope("fw") as fw:
            output_fw, state_fw = along(cell_fw, inputs, initial_state=initial_state_fw, scope=fw)
        with scopes.variable_scope("bw") as bw:
            backward = nest.map_structure(reverse, inputs)
            output_bw, state_bw = along(cell_bw, backward, initial_state=initial_state_bw, scope=bw)
    return (output_fw, nest.map_structure(reverse, output_bw)), (state_fw, state_bw)


# -------------------------------------------------------------------------------------------------- raw


@export("nn.raw_rnn")
def raw_rnn(
    cell: RNNCell,
    loop_fn: Callable,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[Any, Any, Any]:
    """Runs a recurrent cell in a loop that a function controls.

    `loop_fn(time, cell_output, cell_state, loop_state)` is called before each time step. It returns
    `(finished, next_input, next_state, emit_output, next_loop_state)`. Its first call, with None for all but
    the time, returns the initial values, and the structure of what is emitted.

    Args:
      cell: The cell.
      loop_fn: The function. The loop ends when `finished` is true for every row of the batch.
      parallel_iterations: The number of iterations that may run at the same time.
      swap_memory: Whether forward values may be moved to host memory.
      scope: The variable scope; `"rnn"` if None.

    Returns:
      The emitted values as TensorArrays, the final state, and the final loop state.

    Raises:
      TypeError: If `cell` is not a cell, or `loop_fn` cannot be called.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with _scope_of_weights(scope):
        time = constants.constant(0, dtype=dtypes.int32)
        finished, first_input, state, emitted, loop_state = loop_fn(time, None, None, None)
        started = loop_state if loop_state is not None else constants.constant(0, dtype=dtypes.int32)
        known_batch, batch_size = _batch_of(nest.flatten(first_input))
        nest.assert_same_structure(state, cell.state_size)
        flat_state = [convert_to_tensor(part) for part in nest.flatten(state)]
        state = nest.pack_sequence_as(state, flat_state)
        emits = _Emitted(emitted, cell.output_size, flat_state[0].dtype, known_batch, batch_size)

        def body(
            time: Tensor, finished: Tensor, inputs: Any, arrays: Any, state: Any, loop_state: Any
        ) -> tuple[Any, ...]:
            output, cell_state = cell(inputs, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, output)
            next_time = time + 1
            now_finished, next_inputs, next_state, emit, next_loop_state = loop_fn(
                next_time, output, cell_state, loop_state
            )
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(inputs, next_inputs)
            nest.assert_same_structure(arrays, emit)
            choose = functools.partial(_through, finished)
            emit = nest.map_structure(choose, emits.zeros, emit)
            next_state = nest.map_structure(choose, state, next_state)
            arrays = nest.map_structure(lambda array, value: array.write(time, value), arrays, emit)
            finished = binary.logical_or(finished, now_finished)
            loop_state = loop_state if next_loop_state is None else next_loop_state
            return next_time, finished, next_inputs, arrays, next_state, loop_state

        *_, arrays, state, last = while_loops.while_loop(
            lambda _, finished, *rest: unary.logical_not(reductions.reduce_all(finished)),
            body,
            [time, finished, first_input, emits.arrays, state, started],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        return arrays, state, None if loop_state is None else last


def _batch_of(flat_input: list[Tensor]) -> tuple[int | None, Any]:
    """The size of the first axis of all inputs: as far as it is known, and as a number or a tensor."""
    first, *others = (TensorShape([None]) if x.shape.ndims is None else x.shape[:1] for x in flat_input)
    for other in others:
        first.merge_with(other)
    known = first.as_list()[0]
    return known, shapes.shape(flat_input[0])[0] if known is None else known


class _Emitted:
    """What `raw_rnn` emits: an array for each part, and the zeros of rows that are finished.

    Like `structure`, where the first call of `loop_fn` gave one, else like the cell's output.
    """

    def __init__(self, structure: Any, output_size: Any, dtype: Any, known_batch: Any, batch_size: Any):
        if structure is None:
            structure = output_size
            sizes = nest.flatten(output_size)
            types = [dtype] * len(sizes)
        else:
            flat = nest.flatten(structure)
            sizes = [each.shape if each.shape.is_fully_defined() else shapes.shape(each) for each in flat]
            types = [each.dtype for each in flat]
        arrays = [
            TensorArray(
                dtype,
                dynamic_size=True,
                element_shape=TensorShape([known_batch]).concatenate(_static(size)),
                size=0,
                name=f"rnn_output_{i}",
            )
            for i, (dtype, size) in enumerate(zip(types, sizes, strict=True))
        ]
        self.arrays = nest.pack_sequence_as(structure, arrays)
        zeros = [creation.zeros(joined_sizes(batch_size, size), dtype) for size, dtype in zip(sizes, types)]
        self.zeros = nest.pack_sequence_as(structure, zeros)


# -------------------------------------------------------------------------------------------------- static


@export("nn.static_rnn", "contrib.rnn.static_rnn")
def static_rnn(
    cell: RNNCell,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """Runs a recurrent cell on a list of inputs, without a loop in the graph.

    Args:
      cell: The cell.
      inputs: The inputs of the time steps: tensors of shape [batch, size], or structures of them.
      initial_state: The state at the start; zeros if None.
      dtype: The type of the initial state, needed if there is none.
      sequence_length: The length of each sequence, a vector. Past it, outputs are zero and states do not
        change. All time steps count if None.
      scope: The variable scope; `"rnn"` if None.

    Returns:
      The list of outputs, and the final state.

    Raises:
      TypeError: If `cell` is not a cell, or `inputs` is not a list.
      ValueError: If `inputs` is empty.
    """
    assert_like_rnncell("cell", cell)
    _check_sequence(inputs)
    with _scope_of_weights(scope) as varscope:
        first = inputs
        while nest.is_nested(first):
            first = first[0]
        known_batch = _known_batch(first, nest.flatten(inputs))
        batch_size = known_batch or shapes.shape(first)[0]
        state = initial_state
        if state is None:
            if not dtype:
                raise ValueError("If no initial_state is provided, dtype must be specified")
            state = _initial_state(cell, batch_size, dtype)
        lengths = None
        if sequence_length is not None:
            zeros = functools.partial(_zero_output, batch_size, known_batch, dtype, state)
            lengths = _static_lengths(sequence_length, cell, zeros)
        call = _caller(cell)
        outputs = []
        for time, each in enumerate(inputs):
            if time > 0:
                varscope.reuse_variables()
            if lengths is None:
                output, state = call(each, state)
            else:
                now = functools.partial(call, each, state)
                output, state = lengths.step(time, state, now, skips=True)
            outputs.append(output)
        return outputs, state


def _check_sequence(inputs: Any) -> None:
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def _known_batch(first: Tensor, flat: list[Tensor]) -> int | None:
    """The batch of the first input, if it is known; ValueError where others have another, or no depth."""
    if first.shape.ndims == 1:
        return first.shape.as_list()[0]
    batch = first.shape.with_rank_at_least(2)[:1]
    for each in flat:
        sizes = each.shape.with_rank_at_least(2)
        batch.merge_with(sizes[:1])
        for i, size in enumerate(sizes.as_list()[1:]):
            if size is None:
                raise ValueError(
                    f"Input size (dimension {i} of inputs) must be accessible via shape inference, but saw "
                    "value None."
                )
    return batch.as_list()[0]


def _zero_output(batch_size: Any, known_batch: int | None, dtype: Any, state: Any, size: Any) -> Tensor:
    output = creation.zeros(joining.stack(joined_sizes(batch_size, size)), infer_state_dtype(dtype, state))
    output.set_shape(known_sizes(known_batch, size))
    return output


def _static_lengths(sequence_length: Any, cell: Any, zeros: Callable) -> _Lengths:
    lengths = convert_to_tensor(sequence_length, name="sequence_length")
    if lengths.shape.ndims not in (None, 1):
        raise ValueError("sequence_length must be a vector of length batch_size")
    flat = [zeros(size) for size in nest.flatten(cell.output_size)]
    zero_output = nest.pack_sequence_as(cell.output_size, flat)
    return _Lengths(casting.cast(lengths, dtypes.int32), zero_output)


@export("nn.static_state_saving_rnn", "contrib.rnn.static_state_saving_rnn")
def static_state_saving_rnn(
    cell: RNNCell,
    inputs: Sequence[Any],
    state_saver: Any,
    state_name: str | Sequence[str],
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """Runs a recurrent cell on a list of inputs, with a state that lasts from one step to the next.

    Args:
      cell: The cell.
      inputs: The inputs of the time steps.
      state_saver: An object with methods `state(name)` and `save_state(name, value)`.
      state_name: The name of the state, or a tuple of names.
      sequence_length: The length of each sequence, a vector. Past it, outputs are zero and states do not
        change. All time steps count if None.
      scope: The variable scope; `"rnn"` if None.

    Returns:
      The list of outputs, and the final state.
    """
    state_size = cell.state_size
    if nest.is_nested(state_size) != nest.is_nested(state_name):
        raise ValueError(
            "state_name should be the same type as cell.state_size.  state_name: "
            f"{state_name}, cell.state_size: {state_size}"
        )
    names, sizes = nest.flatten(state_name), nest.flatten(state_size)
    if len(names) != len(sizes):
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(sizes)}")
    before = nest.pack_sequence_as(state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(
        cell, inputs, initial_state=before, sequence_length=sequence_length, scope=scope
    )
    after = zip(names, nest.flatten(state), strict=True)
    saved = [state_saver.save_state(name, part) for name, part in after]
    with control_dependencies(saved):
        outputs[-1] = nest.map_structure(constants.identity, outputs[-1])
        return outputs, nest.map_structure(constants.identity, state)


@export("nn.static_bidirectional_rnn", "contrib.rnn.static_bidirectional_rnn")
def static_bidirectional_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: Sequence[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[Any, Any, Any]:
    """Runs two recurrent cells on a list of inputs, one forward and one backward.

    Args:
      cell_fw: The cell that runs forward.
      cell_bw: The cell that runs backward.
      inputs: The inputs of the time steps: tensors of shape [batch, size].
      initial_state_fw: The state of the forward cell at the start; zeros if None.
      initial_state_bw: The state of the backward cell at the start; zeros if None.
      dtype: The type of the initial states, needed if there are none.
      sequence_length: The length of each sequence, a vector. Past it, outputs are zero and states do not
        change. All time steps count if None.
      scope: The variable scope; `"bidirectional_rnn"` if None.

    Returns:
      The list of outputs, with those of both cells concatenated, and the two final states.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    _check_sequence(inputs)
    with scopes.variable_scope(scope or "bidirectional_rnn"):
        with scopes.variable_scope("fw") as fw:
            output_fw, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=fw
            )
        with scopes.variable_scope("bw") as bw:
            backward = _reversed(inputs, sequence_length)
            output_bw, state_bw = static_rnn(
                cell_bw, backward, initial_state_bw, dtype, sequence_length, scope=bw
            )
    pairs = zip(nest.flatten(output_fw), nest.flatten(_reversed(output_bw, sequence_length)), strict=True)
    outputs = nest.pack_sequence_as(output_fw, [joining.concat(list(pair), 1) for pair in pairs])
    return outputs, state_fw, state_bw


def _reversed(inputs: Sequence[Any], lengths: Any) -> list[Any]:
    """The inputs from the last to the first; each row of the batch from its own last one."""
    if lengths is None:
        return list(reversed(inputs))
    turned = []
    for over_time in zip(*(nest.flatten(each) for each in inputs), strict=True):
        stacked = tiling.reverse_sequence(joining.stack(over_time), lengths, 0, 1)
        turned.append(joining.unstack(stacked))
    times = zip(inputs, zip(*turned, strict=True), strict=True)
    return [nest.pack_sequence_as(like, list(parts)) for like, parts in times]
