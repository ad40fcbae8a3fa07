"""`tf.FIFOQueue` and its relatives: Python's side of the queue ops."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import executing_eagerly, get_seed, name_scope
from tideflow.graph.shapes import TensorShape, as_shape, dimension_at_index
from tideflow.ops.arrays import indexing, joining
from tideflow.ops.queues import queues

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


@export("QueueBase", "queue.QueueBase", "io.QueueBase")
class QueueBase:
    """The base of queues. An element is a tuple of tensors, or a dictionary if its components have names.

    Args:
      dtypes: The types of an element's components.
      shapes: Their shapes.
      names: Their names, or None.
      queue_ref: The handle of the queue.

    Raises:
      ValueError: If there are not as many shapes or names as types.
    """

    def __init__(
        self,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | None,
        names: Sequence[str] | None,
        queue_ref: Tensor,
    ):
        self._dtypes = dtypes
        if shapes is not None:
            if len(shapes) != len(dtypes):
                raise ValueError(
                    f"Queue shapes must have the same length as dtypes, received len(shapes)={len(shapes)}, "
                    f"len(dtypes)={len(dtypes)}"
                )
            self._shapes = [as_shape(shape) for shape in shapes]
        else:
            self._shapes = [TensorShape(None) for _ in dtypes]
        if names is not None:
            if not names:
                names = None
            elif len(names) != len(dtypes):
                raise ValueError("List of names must have the same length as the list of dtypes")
        self._names = names
        self._queue_ref = queue_ref
        self._name = "queue" if queue_ref.is_eager else queue_ref.op.name.rpartition("/")[2]

    def __repr__(self) -> str:
        names = self._names or [""] * len(self._dtypes)
        parts = zip(names, self._dtypes, self._shapes)
        components = ", ".join(f"{name} {kind.name} {shape}".lstrip() for name, kind, shape in parts)
        return f"<{type(self).__name__} {self.name!r} of {components}>"

    @staticmethod
    def from_list(index: TensorLike, queues: Sequence[QueueBase]) -> QueueBase:
        """Selects one of several queues by an index.

        Args:
          index: The index, a scalar tensor.
          queues: The queues, of the same types.

        Returns:
          A queue that stands for the selected one.

        Raises:
          TypeError: If the queues differ in their types.
        """
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        kinds = queues[0].dtypes
        if any(queue.dtypes != kinds for queue in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        names = queues[0].names
        if any(queue.names != names for queue in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [_common_shape([queue.shapes[i] for queue in queues]) for i in range(len(kinds))]
        chosen = indexing.gather(joining.stack([queue.queue_ref for queue in queues]), index)
        return QueueBase(dtypes=kinds, shapes=shapes, names=names, queue_ref=chosen)

    @property
    def queue_ref(self) -> Tensor:
        """The handle of the queue."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue's operation."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[dtypes.DType]:
        """The types of an element's components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of an element's components."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of an element's components, or None."""
        return self._names

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """Adds an operation that enqueues an element. A step waits while the queue is full.

        Args:
          vals: The element: a tensor, a list of tensors, or a dictionary.
          name: The name of the operation.

        Returns:
          The operation.
        """
        with name_scope(name, f"{self._name}_enqueue", self._scope_values(vals)) as scope:
            values = self._components(vals)
            for value, shape in zip(values, self._shapes, strict=True):
                value.shape.assert_is_compatible_with(shape)
            return self._op(queues.enqueue_op, queues.enqueue_v2_op)(self._queue_ref, values, name=scope)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """Adds an operation that enqueues several elements: the slices of tensors along their first axis.

        Args:
          vals: The elements: a tensor, a list of tensors, or a dictionary.
          name: The name of the operation.

        Returns:
          The operation.
        """
        with name_scope(name, f"{self._name}_EnqueueMany", self._scope_values(vals)) as scope:
            values = self._components(vals)
            rows = dimension_at_index(values[0].shape.with_rank_at_least(1), 0)
            for value, shape in zip(values, self._shapes, strict=True):
                rows = rows.merge_with(dimension_at_index(value.shape.with_rank_at_least(1), 0))
                value.shape[1:].assert_is_compatible_with(shape)
            return self._op(queues.enqueue_many_op, queues.enqueue_many_v2_op)(
                self._queue_ref, values, name=scope
            )

    def dequeue(self, name: str | None = None) -> Any:
        """Adds an operation that dequeues an element. A step waits while the queue is empty.

        Args:
          name: The name of the operation.

        Returns:
          The element: a tensor, a list of tensors, or a dictionary. A step raises an OutOfRangeError if the
          queue is closed and empty.
        """
        result = self._op(queues.dequeue_op, queues.dequeue_v2_op)(
            self._queue_ref, component_types=self._dtypes, name=name or f"{self._name}_Dequeue"
        )
        for tensor, shape in zip(result, self._shapes, strict=True):
            tensor.set_shape(shape)
        return self._element(result)

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Any:
        """Adds an operation that dequeues several elements, stacked along a new first axis.

        Args:
          n: The number of elements to wait for.
          name: The name of the operation.

        Returns:
          The elements. A step raises an OutOfRangeError if the queue is closed and has fewer.
        """
        result = self._op(queues.dequeue_many_op, queues.dequeue_many_v2_op)(
            self._queue_ref, n, component_types=self._dtypes, name=name or f"{self._name}_DequeueMany"
        )
        count = constant_value(result[0].op.inputs[1]) if result and not executing_eagerly() else None
        return self._batch(result, None if count is None else int(count))

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> Any:
        """Adds an operation that dequeues several elements, or fewer if the queue is closed.

        Args:
          n: The largest number of elements.
          name: The name of the operation.

        Returns:
          The elements, stacked along a new first axis.
        """
        result = self._op(queues.dequeue_up_to_op, queues.dequeue_up_to_v2_op)(
            self._queue_ref, n, component_types=self._dtypes, name=name or f"{self._name}_DequeueUpTo"
        )
        return self._batch(result, None)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Adds an operation that closes the queue: no more elements can be enqueued.

        Args:
          cancel_pending_enqueues: Whether waiting enqueue operations are cancelled.
          name: The name of the operation.

        Returns:
          The operation.
        """
        return self._op(queues.close_op, queues.close_v2_op)(
            self._queue_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=name or f"{self._name}_Close",
        )

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether the queue is closed.

        Args:
          name: The name of the operation.

        Returns:
          A scalar bool tensor.
        """
        return self._op(queues.is_closed_op, queues.is_closed_v2_op)(
            self._queue_ref, name=name or f"{self._name}_Is_Closed"
        )

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements in the queue.

        Args:
          name: The name of the operation.

        Returns:
          A scalar int32 tensor.
        """
        return self._op(queues.size_op, queues.size_v2_op)(self._queue_ref, name=name or f"{self._name}_Size")

    # ------------------------------------------------------------------ elements

    def _op(self, first: Op, second: Op) -> Op:
        """The op of the queue's generation."""
        return second if self._queue_ref.dtype is dtypes.resource else first

    def _scope_values(self, vals: Any) -> list[Any]:
        if isinstance(vals, dict):
            return list(vals.values())
        return list(vals) if isinstance(vals, (list, tuple)) else [vals]

    def _components(self, vals: Any) -> list[Tensor]:
        """What is to be added, as tensors, one for each component."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            vals = [vals[key] for key in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(vals, (list, tuple)):
            vals = [vals]
        if len(vals) != len(self._dtypes):
            if len(self._dtypes) != 1:
                raise ValueError(
                    f"Wrong number of components: the queue takes {len(self._dtypes)}, {len(vals)} given"
                )
            vals = [vals]
        return [
            convert_to_tensor(value, dtype=dtype, name=f"component_{i}")
            for i, (value, dtype) in enumerate(zip(vals, self._dtypes, strict=True))
        ]

    def _element(self, tensors: list[Tensor]) -> Any:
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def _batch(self, tensors: list[Tensor], count: int | None) -> Any:
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            if shape.ndims is not None:
                tensor.set_shape([count, *shape.as_list()])
        return self._element(tensors)


def _common_shape(shapes: list[TensorShape]) -> TensorShape:
    """What is the same of all shapes; the number of dimensions must be."""
    known = [shape.tuple for shape in shapes]
    if None in known or len({*map(len, known)}) > 1:  # type: ignore[arg-type]
        return TensorShape(None)
    sizes = zip(*known, strict=True)  # type: ignore[arg-type]
    return TensorShape([size[0] if len({*size}) == 1 else None for size in sizes])


def _as_types(types: Any) -> list[dtypes.DType]:
    return [dtypes.as_dtype(t) for t in (types if isinstance(types, (list, tuple)) else [types])]


def _as_shapes(shapes: Any) -> list[TensorShape] | None:
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(size is None or isinstance(size, int) for size in shapes):
        shapes = [shapes]
    return [as_shape(shape) for shape in shapes]


def _as_partial_shapes(shapes: Any) -> list[TensorShape]:
    """A shape for each component: a single one could not be told from a list of them."""
    listed = isinstance(shapes, (list, tuple)) and shapes
    if not listed or any(shape is None or isinstance(shape, int) for shape in shapes):
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    found = [as_shape(shape) for shape in shapes]
    if any(shape.ndims is None for shape in found):
        raise ValueError(f"All shapes must have a defined rank: {found}")
    return found


def _as_names(names: Any) -> list[str] | None:
    if names is None:
        return None
    names = [names] if isinstance(names, str) else list(names)
    if not all(isinstance(name, str) for name in names):
        raise TypeError("names must be strings")
    return names


@export("FIFOQueue", "queue.FIFOQueue")
class FIFOQueue(QueueBase):
    """A queue that returns elements in the order in which they were enqueued.

    Args:
      capacity: The largest number of elements.
      dtypes: The types of an element's components.
      shapes: Their shapes, which `dequeue_many` needs; unknown if None.
      names: The names of an element's components, or None.
      shared_name: The name under which sessions share it.
      name: The name of the queue.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ):
        types = _as_types(dtypes)
        sizes, names = _as_shapes(shapes), _as_names(names)
        _check_lengths(types, sizes)
        ref = queues.fifo_queue_v2_op(
            component_types=types,
            shapes=sizes or [],
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, sizes, names, ref)


@export("RandomShuffleQueue", "queue.RandomShuffleQueue", "io.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """A queue that returns elements in random order.

    Args:
      capacity: The largest number of elements.
      min_after_dequeue: The number of elements that stay in the queue, so that they are well mixed.
      dtypes: The types of an element's components.
      shapes: Their shapes, which `dequeue_many` needs; unknown if None.
      names: The names of an element's components, or None.
      seed: The seed of the random numbers.
      shared_name: The name under which sessions share it.
      name: The name of the queue.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None = None,
        names: Sequence[str] | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ):
        types = _as_types(dtypes)
        sizes, names = _as_shapes(shapes), _as_names(names)
        _check_lengths(types, sizes)
        first, second = get_seed(seed)
        if first is None and second is None:
            first, second = 0, 0
        elif seed is None and shared_name is not None:
            second = _seed_of_name(shared_name, first)  # not by the operations before it
        ref = queues.random_shuffle_queue_v2_op(
            component_types=types,
            shapes=sizes or [],
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=first or 0,
            seed2=second or 0,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, sizes, names, ref)


@export("PaddingFIFOQueue", "queue.PaddingFIFOQueue", "io.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """A first-in, first-out queue whose elements may differ in size: `dequeue_many` pads them with zeros.

    Args:
      capacity: The largest number of elements.
      dtypes: The types of an element's components.
      shapes: Their shapes, in which sizes may be unknown.
      names: The names of an element's components, or None.
      shared_name: The name under which sessions share it.
      name: The name of the queue.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[ShapeLike],
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ):
        types = _as_types(dtypes)
        sizes, names = _as_partial_shapes(shapes), _as_names(names)
        if len(sizes) != len(types):
            raise ValueError(
                f"Shapes must be provided for all components, but received {len(types)} dtypes and "
                f"{len(sizes)} shapes."
            )
        ref = queues.padding_fifo_queue_v2_op(
            component_types=types, shapes=sizes, capacity=capacity, shared_name=shared_name or "", name=name
        )
        super().__init__(types, sizes, names, ref)


@export("PriorityQueue", "queue.PriorityQueue", "io.PriorityQueue")
class PriorityQueue(QueueBase):
    """A queue that returns the element with the least priority first.

    The priority is an int64 first component.

    Args:
      capacity: The largest number of elements.
      types: The types of an element's other components.
      shapes: Their shapes.
      names: The names of an element's components, or None.
      shared_name: The name under which sessions share it.
      name: The name of the queue.
    """

    def __init__(
        self,
        capacity: int,
        types: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ):
        types = _as_types(types)
        sizes = _as_shapes(shapes)
        ref = queues.priority_queue_v2_op(
            component_types=types,
            shapes=sizes or [],
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        all_types = [dtypes.int64, *types]
        super().__init__(all_types, [TensorShape([]), *sizes] if sizes is not None else None, names, ref)


def _check_lengths(types: list[dtypes.DType], shapes: list[TensorShape] | None) -> None:
    if shapes and len(shapes) != len(types):
        raise ValueError("Queue shapes must have the same length as dtypes")
    if shapes and not all(shape.is_fully_defined() for shape in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")


def _seed_of_name(name: str, seed: Any) -> int:
    return int(hashlib.md5(f"{seed}{name}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF
