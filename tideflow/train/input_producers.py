"""Queues of file names, numbers and rows, which queue runners fill: the first stage of an input pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, control_dependencies, name_scope, refuse_eagerly
from tideflow.graph.shapes import as_shape
from tideflow.ops.arrays import constants, creation, indexing
from tideflow.ops.arrays import shapes as shape_ops
from tideflow.ops.control_flow import debugging
from tideflow.ops.files import files
from tideflow.ops.math import casting
from tideflow.ops.random import choices
from tideflow.queues.base import FIFOQueue, QueueBase
from tideflow.summary import functions as summary
from tideflow.train.queue_runner import QueueRunner, add_queue_runner
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike


QUEUES_ARE_OF_GRAPHS = (
    "Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data "
    "to ingest data into your model instead."
)


@export("train.match_filenames_once", "io.match_filenames_once")
def match_filenames_once(pattern: TensorLike, name: str | None = None) -> Any:
    """Finds the files that match patterns, when local variables are initialized.

    Args:
      pattern: A file name pattern, or several.
      name: The name of the operations.

    Returns:
      A local variable with the names of the files.
    """
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            files.matching_files(pattern),
            trainable=False,
            name=scope,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


@export("train.limit_epochs")
def limit_epochs(tensor: TensorLike, num_epochs: int | None = None, name: str | None = None) -> Tensor:
    """Limits the number of times that a tensor can be read.

    Args:
      tensor: The tensor.
      num_epochs: The number of times; then an OutOfRangeError follows. Without a limit if None. The count is
        a local variable.
      name: The name of the operations.

    Returns:
      The tensor, or `tensor` itself if there is no limit.

    Raises:
      ValueError: If `num_epochs` is not positive.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        zero = constants.constant(0, dtype=dtypes.int64)
        epochs = Variable(zero, name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return constants.identity(tensor, name=scope)


@export("train.input_producer")
def input_producer(
    input_tensor: TensorLike,
    element_shape: ShapeLike | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> QueueBase:
    """Makes a queue of the rows of a tensor, and a queue runner that fills it.

    Args:
      input_tensor: The tensor.
      element_shape: The shape of a row, if the static shape of the tensor does not have it.
      num_epochs: How often every row is produced; without end if None.
      shuffle: Whether the order is random, and another in each epoch.
      seed: The seed of the order.
      capacity: The capacity of the queue.
      shared_name: The name under which sessions share the queue.
      summary_name: The name of a summary of the queue's fill level; none if None.
      name: The name of the operations.
      cancel_op: The operation that cancels pending enqueues.

    Returns:
      The queue.

    Raises:
      ValueError: If the shape of a row is not fully known.
    """
    refuse_eagerly(QUEUES_ARE_OF_GRAPHS)
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        row = input_tensor.shape[1:].merge_with(as_shape(element_shape))
        if not row.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be specified"
            )
        if shuffle:
            input_tensor = choices.random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = FIFOQueue(
            capacity=capacity,
            dtypes=[input_tensor.dtype.base_dtype],
            shapes=[row],
            shared_name=shared_name,
            name=name,
        )
        enqueue = queue.enqueue_many([input_tensor])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            fill_summary(summary_name, queue.size(), capacity)
        return queue


@export("train.string_input_producer")
def string_input_producer(
    string_tensor: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> QueueBase:
    """Makes a queue of strings, such as file names, and a queue runner that fills it.

    Args:
      string_tensor: A vector of strings.
      num_epochs: How often every string is produced; without end if None.
      shuffle: Whether the order is random, and another in each epoch.
      seed: The seed of the order.
      capacity: The capacity of the queue.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.
      cancel_op: The operation that cancels pending enqueues.

    Returns:
      The queue.

    Raises:
      ValueError: If the vector is empty.
    """
    message = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not string_tensor:
        raise ValueError(message)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        string_tensor = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with control_dependencies([debugging.Assert(shape_ops.size(string_tensor) > 0, [message])]):
            string_tensor = constants.identity(string_tensor)
        return input_producer(
            string_tensor,
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
            cancel_op,
        )


@export("train.range_input_producer")
def range_input_producer(
    limit: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """Makes a queue of the integers from 0 to `limit` - 1, and a queue runner that fills it.

    Args:
      limit: The number of integers.
      num_epochs: How often every integer is produced; without end if None.
      shuffle: Whether the order is random, and another in each epoch.
      seed: The seed of the order.
      capacity: The capacity of the queue.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.

    Returns:
      The queue.
    """
    with name_scope(name, "input_producer", [limit]) as scope:
        numbers = creation.range(limit)
        full = f"fraction_of_{capacity}_full"
        return input_producer(numbers, [], num_epochs, shuffle, seed, capacity, shared_name, full, scope)


@export("train.slice_input_producer")
def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Produces the rows of several tensors with the same first size, one row of each in every step.

    Args:
      tensor_list: The tensors.
      num_epochs: How often every row is produced; without end if None.
      shuffle: Whether the order is random, and another in each epoch.
      seed: The seed of the order.
      capacity: The capacity of the queue.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.

    Returns:
      A list of tensors, one row for each tensor of `tensor_list`.

    Raises:
      ValueError: If the list is empty.
    """
    if not tensor_list:
        raise ValueError("Expected at least one tensor in slice_input_producer().")
    with name_scope(name, "input_producer", list(tensor_list)):
        tensors = [convert_to_tensor(tensor) for tensor in tensor_list]
        count = shape_ops.shape(tensors[0])[0]
        queue = range_input_producer(
            count,
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
        )
        index = queue.dequeue()
        return [indexing.gather(tensor, index) for tensor in tensors]


def fill_summary(name: str, count: Tensor, most: int) -> None:
    """Adds a summary of how full a queue is. If it is mostly empty, steps wait for their input."""
    summary.scalar(name, casting.cast(count, dtypes.float32) * (1.0 / most))
