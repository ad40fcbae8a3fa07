"""`StagingArea` and `MapStagingArea`: tensors that wait, on their device, from one step to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph, name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants
from tideflow.ops.queues import staging

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike


class BaseStagingArea:
    """What both kinds share: types, shapes and names of components, bounds, and a device."""

    def __init__(
        self,
        dtypes: Sequence[Any],
        shapes: Sequence[ShapeLike] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ):
        if shared_name is not None and not isinstance(shared_name, str):
            raise ValueError("shared_name must be a string")
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(dtypes):
                raise ValueError(f"StagingArea {what} must be the same length as dtypes")
        graph = get_default_graph()
        self._name = graph.unique_name(type(self).__name__) if shared_name is None else shared_name
        self._dtypes = dtypes
        self._shapes = [TensorShape(None) for _ in dtypes] if shapes is None else list(map(as_shape, shapes))
        self._names = names
        self._capacity = capacity
        self._memory_limit = memory_limit
        with name_scope(f"{self._name}_root"):
            self._place = constants.no_operation()  # the area is where this operation is

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtypes(self) -> Sequence[Any]:
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        return self._shapes

    @property
    def names(self) -> Sequence[str] | None:
        return self._names

    @property
    def capacity(self) -> int:
        return self._capacity

    @property
    def memory_limit(self) -> int:
        return self._memory_limit

    # ------------------------------------------------------------------ ops and elements

    def _node(self, op: Op, *inputs: Any, name: str, here: bool = True, **attrs: Any) -> Any:
        """The outputs of an op on this area, which is where the area is unless it only asks about it."""
        settings = {
            "shared_name": self._name,
            "capacity": self._capacity,
            "memory_limit": self._memory_limit,
            **attrs,
        }
        if not here:
            return op(*inputs, name=name, **settings)
        with get_default_graph().colocate_with(self._place):
            return op(*inputs, name=name, **settings)

    def _components(self, vals: Any, indices: Sequence[int] | None) -> tuple[list[Tensor], list[int]]:
        """What is to be put, as tensors, and which component each is."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(vals) <= set(self._names):
                raise ValueError(
                    "Keys in dictionary to put do not match names of staging area. Dictionary: "
                    f"({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            indices = [i for i, key in enumerate(self._names) if key in vals]
            vals = [vals[self._names[i]] for i in indices]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        elif indices is None:
            raise ValueError("Indices must be supplied when inserting a list of tensors")
        if len(indices) != len(vals):
            raise ValueError(
                f"Number of indices '{len(indices)}' doesn't match number of values '{len(vals)}'"
            )
        if len(vals) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(vals)}' vs '{len(self._dtypes)}'")
        return [self._component(value, i) for value, i in zip(vals, indices)], list(indices)

    def _component(self, value: Any, index: int) -> Tensor:
        dtype = self._dtypes[index]
        if value.dtype != dtype:
            raise ValueError(f"Datatypes do not match. '{value.dtype}' != '{dtype}'")
        value.shape.assert_is_compatible_with(self._shapes[index])
        return convert_to_tensor(value, dtype=dtype, name=f"component_{index}")

    def _element(self, tensors: Sequence[Tensor], indices: Sequence[int]) -> Any:
        if constants.no_operation().device != self._place.device:
            tensors = [constants.identity(tensor) for tensor in tensors]  # brought to where it is used
        for tensor, i in zip(tensors, indices):
            tensor.set_shape(self._shapes[i])
        if self._names:
            return {self._names[i]: tensor for tensor, i in zip(tensors, indices)}
        return list(tensors)


def _scope_values(values: Any) -> list[Any]:
    if isinstance(values, dict):
        return list(values.values())
    return list(values) if isinstance(values, (list, tuple)) else [values]


@export("contrib.staging.StagingArea")
class StagingArea(BaseStagingArea):
    """Elements in a line: `put` at its end, `get` from its front.

    Args:
      dtypes: The types of an element's components.
      shapes: Their shapes; unknown if None.
      names: Their names, by which elements are dictionaries; None for lists.
      shared_name: The name by which areas of several graphs of a task are one.
      capacity: How many elements wait at most; any number if 0.
      memory_limit: How many bytes wait at most; any number if 0.
    """

    def put(self, values: TensorLike, name: str | None = None) -> Operation:
        """Adds an operation that appends an element. A step waits while the area is full.

        Args:
          values: The element: a tensor, a list of tensors, or a dictionary.
          name: The name of the operation.

        Returns:
          The operation.
        """
        with name_scope(name, f"{self._name}_put", _scope_values(values)) as scope:
            if not isinstance(values, (list, tuple, dict)):
                values = [values]
            tensors, _ = self._components(values, range(len(values)))
            return self._node(staging.stage_op, tensors, name=scope)

    def get(self, name: str | None = None) -> Any:
        """Adds an operation that removes the first element. A step waits while the area is empty.

        Args:
          name: The name of the operation.

        Returns:
          The element.
        """
        values = self._node(staging.unstage_op, dtypes=self._dtypes, name=name or f"{self._name}_get")
        return self._element(values, range(len(self._dtypes)))

    def peek(self, index: TensorLike, name: str | None = None) -> Any:
        """Adds an operation that reads an element, which stays in the area.

        A step waits until there is one.

        Args:
          index: The position of the element.
          name: The name of the operation.

        Returns:
          The element.
        """
        values = self._node(
            staging.stage_peek_op, index, dtypes=self._dtypes, name=name or f"{self._name}_peek"
        )
        return self._element(values, range(len(self._dtypes)))

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements in the area.

        Args:
          name: The name of the operation.

        Returns:
          A scalar int32 tensor.
        """
        return self._node(
            staging.stage_size_op, dtypes=self._dtypes, name=name or f"{self._name}_size", here=False
        )

    def clear(self, name: str | None = None) -> Operation:
        """Adds an operation that removes all elements.

        Args:
          name: The name of the operation.

        Returns:
          The operation.
        """
        return self._node(
            staging.stage_clear_op, dtypes=self._dtypes, name=name or f"{self._name}_clear", here=False
        )


class MapStagingArea(BaseStagingArea):
    """Elements by key; components of one may be put and taken at different times."""

    def __init__(
        self,
        dtypes: Sequence[Any],
        shapes: Any = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ):
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._ordered = ordered

    def put(
        self, key: Any, vals: Any, indices: Sequence[int] | None = None, name: str | None = None
    ) -> Operation:
        """Components of the element of that key; waits while the area is full."""
        with name_scope(name, f"{self._name}_put", _scope_values(vals)) as scope:
            tensors, indices = self._components(vals, indices)
            return self._node(
                self._op(staging.map_stage_op, staging.ordered_map_stage_op),
                key,
                indices,
                tensors,
                dtypes=self._dtypes,
                name=scope,
            )

    def peek(self, key: Any, indices: Sequence[Any] | None = None, name: str | None = None) -> Any:
        """Components of the element of that key, which stay; waits for it."""
        indices, types = self._chosen(indices)
        values = self._node(
            self._op(staging.map_peek_op, staging.ordered_map_peek_op),
            key,
            indices,
            dtypes=types,
            name=name or f"{self._name}_pop",
        )
        return self._element(values, indices)

    def get(
        self, key: Any = None, indices: Sequence[Any] | None = None, name: str | None = None
    ) -> tuple[Any, Any]:
        """A key and its components, which leave the area: of that key, or of any; waits for it."""
        indices, types = self._chosen(indices)
        if key is None:
            found = self._node(
                self._op(staging.map_unstage_no_key_op, staging.ordered_map_unstage_no_key_op),
                indices,
                dtypes=types,
                name=name or f"{self._name}_get_nokey",
            )
            place = self._place.device
            key = found[0] if constants.no_operation().device == place else constants.identity(found[0])
            return key, self._element(found[1], indices)
        values = self._node(
            self._op(staging.map_unstage_op, staging.ordered_map_unstage_op),
            key,
            indices,
            dtypes=types,
            name=name or f"{self._name}_get",
        )
        return key, self._element(values, indices)

    def size(self, name: str | None = None) -> Tensor:
        """How many elements are complete."""
        return self._about(staging.map_size_op, staging.ordered_map_size_op, name or f"{self._name}_size")

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack components."""
        return self._about(
            staging.map_incomplete_size_op,
            staging.ordered_map_incomplete_size_op,
            name or f"{self._name}_incomplete_size",
        )

    def clear(self, name: str | None = None) -> Operation:
        """Removes all elements."""
        return self._about(staging.map_clear_op, staging.ordered_map_clear_op, name or f"{self._name}_clear")

    def _op(self, plain: Op, ordered: Op) -> Op:
        return ordered if self._ordered else plain

    def _about(self, plain: Op, ordered: Op, name: str) -> Any:
        return self._node(self._op(plain, ordered), dtypes=self._dtypes, name=name, here=False)

    def _chosen(self, indices: Sequence[Any] | None) -> tuple[list[int], list[dtypes.DType]]:
        """Which components, by place or by name, and their types."""
        if indices is None:
            indices = range(len(self._dtypes))
        elif not isinstance(indices, (list, tuple)):
            raise TypeError(f"Invalid indices type '{type(indices)}'")
        if not len(indices):
            raise ValueError("Empty indices")
        if all(isinstance(i, str) for i in indices):
            unknown = [i for i in indices if i not in (self._names or ())]
            if unknown:
                raise ValueError(f"Named index '{unknown[0]}' not in Staging Area names '{self._names}'")
            indices = [list(self._names).index(i) for i in indices]
        elif not all(isinstance(i, int) for i in indices):
            raise TypeError(f"Mixed types in indices '{indices}'. May only be str or int")
        return list(indices), [self._dtypes[i] for i in indices]
