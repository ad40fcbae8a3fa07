"""Computations of replicas: `rewrite`, `replicate`, `shard`, `batch_parallel`."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.tpu.replicas import number_of_shards, tpu_shard_context
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.variables.variable_scope import VariableScope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("tpu.bfloat16_scope", "contrib.tpu.bfloat16_scope")
@contextlib.contextmanager
def bfloat16_scope() -> Iterator[VariableScope]:
    """A scope in which variables asked for in bfloat16 are kept in float32, and cast where they are read.

    Yields:
      The variable scope.
    """
    with tf.variable_scope("", custom_getter=_kept_in_float32) as scope:
        yield scope


def _kept_in_float32(getter: Callable, *args: Any, **kwargs: Any) -> Any:
    if kwargs["dtype"] != tf.bfloat16:
        return getter(*args, **kwargs)
    return tf.cast(getter(*args, **{**kwargs, "dtype": tf.float32}), tf.bfloat16)


@export("tpu.core", "contrib.tpu.core")
def core(num: int) -> str:
    """The name of one of the cores of a replica, as `tf.device` takes it where there are TPUs.

    Args:
      num: The number of the core in its replica.

    Returns:
      A string.
    """
    return f"device:TPU_REPLICATED_CORE:{num}"


@export("tpu.cross_replica_sum", "contrib.tpu.cross_replica_sum")
def cross_replica_sum(x: TensorLike, group_assignment: Any = None, name: str | None = None) -> Tensor:
    """The sum of what all replicas have: of one replica, the value itself.

    Args:
      x: The value of this replica.
      group_assignment: The groups of replicas that are summed up; all of them if None.
      name: A name for the operation.

    Returns:
      The sum, a tensor.

    Raises:
      ValueError: In a computation of several replicas.
    """
    shards = number_of_shards() or 1
    groups = group_assignment or [list(range(shards))]
    if any(len(group) > 1 for group in groups):
        raise ValueError(
            f"cross_replica_sum of {shards} replicas needs TPUs: use one replica (num_shards=1) here, or "
            "tf.distribute.MirroredStrategy, which sums gradients over the GPUs of a machine."
        )
    return tf.identity(x, name=name or "CrossReplicaSum")


@export("tpu.outside_compilation", "contrib.tpu.outside_compilation")
def outside_compilation(computation: Callable, *args: Any, **kwargs: Any) -> Any:
    """Calls a function whose operations a TPU would leave to the host. Here all of them run there.

    Args:
      computation: The function.
      *args: Its arguments.
      **kwargs: Its keyword arguments.

    Returns:
      What the function returns.
    """
    return computation(*args, **kwargs)


@export("tpu.replicate", "contrib.tpu.replicate")
def replicate(
    computation: Callable,
    inputs: Sequence[Sequence[TensorLike]] | None = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
    maximum_shapes: Any = None,
) -> list[Any]:
    """Calls a function once for each replica.

    Args:
      computation: The function. It returns tensors, followed by operations that run with them, or a nested
        structure of tensors.
      inputs: For each replica, its arguments; one replica without any if None.
      infeed_queue: Must be None: only TPUs have such queues.
      device_assignment: Taken for compatibility: placement is that of the graph.
      name: Taken for compatibility.
      maximum_shapes: Taken for compatibility: shapes may differ.

    Returns:
      For each replica the list of its tensors, or its structure of them; or one operation, where it returns
      no tensors.

    Raises:
      TypeError: If `inputs` is not a list of lists, or the function does not take as many.
      ValueError: If replicas have different inputs, or return operations before tensors.
    """
    refuse_queue(infeed_queue)
    given = [[]] if inputs is None else inputs
    if not isinstance(given, list) or not all(isinstance(replica, (list, tuple)) for replica in given):
        raise TypeError("tpu.replicate() inputs must be a list of lists/tuples")
    if not given:
        return []
    converted = [tf.nest.map_structure(tf.convert_to_tensor, replica) for replica in given]
    _check_replicas(converted)
    problem = argument_problem(computation, len(converted[0]))
    if problem:
        names = [x.name for x in tf.nest.flatten(converted[0])]
        raise TypeError(
            "Supplied computation cannot be called with the specified inputs. You specified "
            f"{len(names)} inputs: {names}, but the computation needs {problem}"
        )
    with tpu_shard_context(len(converted)):
        return [_replica(computation, replica, place) for place, replica in enumerate(converted)]


def _check_replicas(replicas: list[Any]) -> None:
    first = tf.nest.flatten(replicas[0])
    for place, replica in enumerate(replicas):
        found = tf.nest.flatten(replica)
        if len(found) != len(first):
            raise ValueError(
                f"Replicas must have the same number of inputs. Replica 0 had {len(first)} inputs, replica "
                f"{place} had {len(found)} inputs."
            )
        if [x.dtype for x in found] != [x.dtype for x in first]:
            raise ValueError(
                "Replicas must have matching input types. Replica 0 had input types "
                f"{[x.dtype for x in first]}, replica {place} had input types {[x.dtype for x in found]}"
            )


def _replica(computation: Callable, arguments: Sequence[Tensor], place: int) -> Any:
    """What one replica computes. All but the first share the variables of the first."""
    with tf.variable_scope(tf.get_variable_scope(), reuse=True if place else None):
        outputs = computation(*arguments)
    if not _is_flat(outputs):
        return tf.nest.map_structure(_converted, outputs)
    found = () if outputs is None else outputs
    converted = [_converted(value) for value in (found if isinstance(found, (list, tuple)) else [found])]
    tensors = [value for value in converted if not isinstance(value, Operation)]
    operations = [value for value in converted if isinstance(value, Operation)]
    if [id(value) for value in converted] != [id(value) for value in [*tensors, *operations]]:
        raise ValueError(
            "TPU functions must return zero-or more Tensor values followed by zero or more Operations."
        )
    if not tensors:
        return tf.group(*operations)
    with tf.control_dependencies(operations):
        return [tf.identity(tensor) for tensor in tensors]


def _is_flat(outputs: Any) -> bool:
    """Whether a function returned nothing, one value, or a plain sequence of values."""
    if isinstance(outputs, dict) or hasattr(outputs, "_fields"):
        return False
    return not isinstance(outputs, (list, tuple)) or not any(
        isinstance(value, (list, tuple, dict)) for value in outputs
    )


def _converted(value: Any) -> Any:
    if isinstance(value, Operation):
        return value
    try:
        return tf.convert_to_tensor(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "TPU function return values must all either be Operations or convertible to Tensors. "
            f"Got '{error}'"
        ) from error


def argument_problem(function: Callable, count: int) -> str | None:
    """What a function needs, where it cannot be called with so many arguments."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None  # of some built-in functions nothing is known
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = sum(p.default is p.empty for p in places)
    open_end = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if count < needed:
        return f"{'at least' if open_end or needed < len(places) else 'exactly'} {needed} arguments"
    if count > len(places) and not open_end:
        return f"{'at most' if needed < len(places) else 'exactly'} {len(places)} arguments"
    return None


def refuse_queue(infeed_queue: Any) -> None:
    if infeed_queue is not None:
        raise ValueError(
            "infeed_queue must be None: there are no TPUs here with queues of their own. Give the tensors as "
            "inputs, or take them from a tf.data iterator inside the computation."
        )


@export("tpu.rewrite", "contrib.tpu.rewrite")
def rewrite(
    computation: Callable,
    inputs: Sequence[TensorLike] | None = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> Any:
    """Calls a function that a TPU would compile.

    Args:
      computation: The function. It returns tensors, followed by operations that run with them, or a nested
        structure of tensors.
      inputs: Its arguments.
      infeed_queue: Must be None: only TPUs have such queues.
      device_assignment: Taken for compatibility: placement is that of the graph.
      name: Taken for compatibility.

    Returns:
      The list, or structure, of its tensors; or one operation, where it returns no tensors.
    """
    return replicate(
        computation, None if inputs is None else [inputs], infeed_queue, device_assignment, name
    )[0]


@export("tpu.shard", "contrib.tpu.shard")
def shard(
    computation: Callable,
    inputs: list[TensorLike] | None = None,
    num_shards: int = 1,
    input_shard_axes: Sequence[int] | None = None,
    outputs_from_all_shards: bool | Sequence[bool] = True,
    output_shard_axes: Sequence[int] | None = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> list[Any]:
    """Calls a function on equal parts of its inputs, and joins what it returns.

    Args:
      computation: The function.
      inputs: Its arguments.
      num_shards: The number of parts.
      input_shard_axes: The axis along which each input is cut; the first if None.
      outputs_from_all_shards: Whether the outputs of all parts are joined, or that of the first is taken;
        for all outputs, or for each.
      output_shard_axes: The axis along which each output is joined; the first if None.
      infeed_queue: Must be None: only TPUs have such queues.
      device_assignment: Taken for compatibility: placement is that of the graph.
      name: Taken for compatibility.

    Returns:
      The list of the outputs; or of one operation, where there are none.

    Raises:
      TypeError: If `inputs` is no list.
      ValueError: If the number of parts is not positive, or there are not as many axes as tensors.
    """
    if num_shards <= 0:
        raise ValueError("num_shards must be a positive integer.")
    given = [] if inputs is None else inputs
    if not isinstance(given, list):
        raise TypeError("tpu.shard()'s inputs must be a list of Tensors or None.")
    tensors = [tf.convert_to_tensor(x) for x in given]
    axes = [0] * len(tensors) if input_shard_axes is None else input_shard_axes
    if len(axes) != len(tensors):
        raise ValueError("Length of input_shard_axes must be equal to the number of inputs.")
    parts = [tf.split(x, num_shards, axis=axis) for x, axis in zip(tensors, axes)]
    replicas = [list(part) for part in zip(*parts)] if parts else [[] for _ in range(num_shards)]
    outputs = replicate(computation, replicas, infeed_queue, device_assignment, name)
    if isinstance(outputs[0], Operation):
        return [outputs[0]]
    count = len(outputs[0])
    joined = [0] * count if output_shard_axes is None else list(output_shard_axes)
    if len(joined) != count:
        raise ValueError("Length of output_shard_axes must be equal to the number of outputs.")
    whole = outputs_from_all_shards
    wholes = [whole] * count if isinstance(whole, bool) else list(whole)
    if len(wholes) != count:
        raise ValueError("Length of outputs_from_all_shards must be equal to the number of outputs.")
    return [
        _together(found, axis) if from_all else found[0]
        for axis, from_all, found in zip(joined, wholes, zip(*outputs))
    ]


def _together(parts: Sequence[Tensor], axis: int) -> Tensor:
    return tf.stack(parts) if parts[0].shape.ndims == 0 else tf.concat(parts, axis=axis)


@export("tpu.batch_parallel", "contrib.tpu.batch_parallel")
def batch_parallel(
    computation: Callable,
    inputs: list[TensorLike] | None = None,
    num_shards: int = 1,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> list[Any]:
    """Calls a function on equal parts of a batch, and joins what it returns, both along the first axis.

    Args:
      computation: The function.
      inputs: Its arguments.
      num_shards: The number of parts.
      infeed_queue: Must be None: only TPUs have such queues.
      device_assignment: Taken for compatibility: placement is that of the graph.
      name: Taken for compatibility.

    Returns:
      The list of the outputs; or of one operation, where there are none.
    """
    return shard(
        computation,
        inputs,
        num_shards,
        infeed_queue=infeed_queue,
        device_assignment=device_assignment,
        name=name,
    )
