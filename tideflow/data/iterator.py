"""tf.data.Iterator: a place in a dataset, from which steps take elements."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tideflow.data import structure
from tideflow.data.iterator_saveable import IteratorSaveable
from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    add_to_collection,
    colocate_with,
    device,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.datasets import iterators
from tideflow.variables.trackable import Trackable

if TYPE_CHECKING:
    from tideflow.data.dataset import Dataset
    from tideflow.graph.typing import TensorLike

COLLECTION = "iterators"
_MANY_CALLS = 32
_MANY_CALLS_WARNING = (
    "An unusually high number of `Iterator.get_next()` calls was detected. This often indicates that "
    "`Iterator.get_next()` is being called inside a training loop, which will cause gradual slowdown and "
    "eventual resource exhaustion. If this is the case, restructure your code to call `next_element = "
    "iterator.get_next()` once outside the loop, and use `next_element` as the input to some computation "
    "that is invoked inside the loop."
)


@export("data.Iterator")
class Iterator(structure.OfElements, Trackable):
    """A position in a dataset, which every step advances.

    Args:
      iterator_resource: The handle of the iterator.
      initializer: The operation that begins the dataset, or None.
      output_types: The types of an element, in its structure.
      output_shapes: The shapes of an element, in its structure.
      output_classes: The Python classes of an element, in its structure.
    """

    def __init__(
        self,
        iterator_resource: Tensor,
        initializer: Operation | None,
        output_types: Any,
        output_shapes: Any,
        output_classes: Any,
    ):
        if output_types is None or output_shapes is None or output_classes is None:
            raise ValueError(
                "If `structure` is not specified, all of `output_types`, `output_shapes`, and "
                "`output_classes` must be specified."
            )
        self._begin(
            iterator_resource, initializer, structure.from_legacy(output_types, output_shapes, output_classes)
        )

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"ITERATOR_STATE": lambda key="ITERATOR_STATE": IteratorSaveable(self._iterator_resource, key)}

    def _begin(self, resource: Tensor, initializer: Operation | None, spec: Any) -> None:
        self._iterator_resource = resource
        self._initializer = initializer
        self._element_spec = spec
        self._attributes = structure.flat_attributes(spec)
        self._string_handle = iterators.to_string_handle_op(resource)
        self._calls = 0
        add_to_collection(COLLECTION, resource)

    @classmethod
    def _of(cls, resource: Tensor, initializer: Operation | None, spec: Any) -> Iterator:
        made = cls.__new__(cls)
        made._begin(resource, initializer, spec)
        return made

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:
        """Makes an iterator that can be initialized with any dataset of a structure, by `make_initializer`.

        Args:
          output_types: The types of an element, in its structure.
          output_shapes: The shapes of an element, in its structure; unknown if None.
          shared_name: The name under which sessions share the iterator.
          output_classes: The Python classes of an element; tensors if None.

        Returns:
          The iterator.
        """
        spec = _asked(output_types, output_shapes, output_classes)
        with _on_cpu():
            resource = iterators.iterator_v2_op(
                container="", shared_name=shared_name or "", **structure.flat_attributes(spec)
            )
        return Iterator._of(resource, None, spec)

    @staticmethod
    def from_string_handle(
        string_handle: TensorLike, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """Makes an iterator that stands for another one, which each step names by a string.

        Args:
          string_handle: A scalar string tensor with the result of another iterator's `string_handle`.
          output_types: The types of an element, in its structure.
          output_shapes: The shapes of an element, in its structure; unknown if None.
          output_classes: The Python classes of an element; tensors if None.

        Returns:
          The iterator.
        """
        spec = _asked(output_types, output_shapes, output_classes)
        handle = convert_to_tensor(string_handle, dtype=dtypes.string)
        with _on_cpu():
            resource = iterators.from_string_handle_v2_op(handle, **structure.flat_attributes(spec))
        return Iterator._of(resource, None, spec)

    @property
    def initializer(self) -> Operation:
        """The operation that begins the dataset.

        Raises:
          ValueError: If the iterator has none.
        """
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Dataset, name: str | None = None) -> Operation:
        """Adds an operation that begins a dataset with this iterator.

        Args:
          dataset: The dataset, of the iterator's structure.
          name: The name of the operation.

        Returns:
          The operation.

        Raises:
          TypeError: If the structures differ.
        """
        with name_scope(name, "make_initializer") as scope:
            self._check(dataset)
        with colocate_with(self._iterator_resource):
            return iterators.make_iterator_op(dataset._variant_tensor, self._iterator_resource, name=scope)

    def _check(self, dataset: Any) -> None:
        structure.assert_same(self.output_types, dataset.output_types)
        for what, mine, given in (
            ("class", self.output_classes, dataset.output_classes),
            ("types", self.output_types, dataset.output_types),
        ):
            if structure.flatten(mine) != structure.flatten(given):
                raise TypeError(
                    f"Expected output {'classes' if what == 'class' else what} {mine!r} but got dataset with "
                    f"output {what} {given!r}."
                )
        mine, given = structure.flatten(self.output_shapes), structure.flatten(dataset.output_shapes)
        if not all(a.is_compatible_with(b) for a, b in zip(mine, given, strict=True)):
            raise TypeError(
                f"Expected output shapes compatible with {self.output_shapes!r} but got dataset with output "
                f"shapes {dataset.output_shapes!r}."
            )

    def get_next(self, name: str | None = None) -> Any:
        """Adds an operation that takes the next element in every step.

        Args:
          name: The name of the operation.

        Returns:
          The element: a structure of tensors. A step at the end of the dataset raises an OutOfRangeError.
        """
        self._calls += 1
        if self._calls > _MANY_CALLS:
            warnings.warn(_MANY_CALLS_WARNING, stacklevel=2)
        flat = iterators.get_next_op(self._iterator_resource, name=name, **self._attributes)
        return structure.from_tensors(self._element_spec, flat)

    def string_handle(self, name: str | None = None) -> Tensor:
        """Adds an operation that returns a string for this iterator, for `Iterator.from_string_handle`.

        Args:
          name: The name of the operation.

        Returns:
          A scalar string tensor.
        """
        if name is None:
            return self._string_handle
        return iterators.to_string_handle_op(self._iterator_resource, name=name)


def one_shot(factory: NameAttrList, spec: Any) -> Iterator:
    """An iterator over the dataset that a function makes."""
    attributes = structure.flat_attributes(spec)
    return Iterator._of(iterators.one_shot_iterator_op(dataset_factory=factory, **attributes), None, spec)


def initializable(variant: Tensor, spec: Any, shared_name: str) -> Iterator:
    """An iterator that begins with the dataset of a variant tensor when it is initialized."""
    if executing_eagerly():
        raise RuntimeError(
            "dataset.make_initializable_iterator is not supported when eager execution is enabled."
        )
    attributes = structure.flat_attributes(spec)
    resource = iterators.iterator_v2_op(container="", shared_name=shared_name, **attributes)
    with colocate_with(resource):
        initializer = iterators.make_iterator_op(variant, resource)
    return Iterator._of(resource, initializer, spec)


@export("contrib.eager.Iterator")
class EagerIterator(Iterator):
    """An iterator of eager mode: Python's own over the elements of a dataset.

    Args:
      dataset: The dataset.
    """

    def __init__(self, dataset: Dataset):
        if not (executing_eagerly() or get_default_graph().building_function):
            raise RuntimeError(
                "__iter__() is only supported inside of tf.function or when eager execution is enabled."
            )
        variant = dataset._advised(dataset._variant_tensor)
        self._element_spec = dataset._element_spec
        self._attributes = structure.flat_attributes(self._element_spec)
        self._initializer = None
        self._iterator_resource = iterators.iterator_v2_op(container="", shared_name="", **self._attributes)
        iterators.make_iterator_op(variant, self._iterator_resource)

    def __iter__(self) -> EagerIterator:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    def next(self) -> Any:
        """The next element, as `next(iterator)` gives it."""
        return self.__next__()

    def _next_internal(self) -> Any:
        """The next element, or the OutOfRangeError itself: unit tests of datasets ask for this."""
        return self.get_next()

    def get_next(self, name: str | None = None) -> Any:
        """Takes the next element.

        Args:
          name: The name of the operation.

        Returns:
          The element.

        Raises:
          OutOfRangeError: At the end of the dataset.
        """
        flat = iterators.get_next_op(self._iterator_resource, name=name, **self._attributes)
        return structure.from_tensors(self._element_spec, flat)


def _asked(types: Any, shapes: Any, classes: Any) -> Any:
    types = structure.map_structure(dtypes.as_dtype, types)
    if shapes is None:
        shapes = structure.map_structure(lambda _: TensorShape(None), types)
    else:
        shapes = structure.pack(types, [as_shape(shape) for shape in structure.up_to(types, shapes)])
    return structure.from_legacy(types, shapes, classes)


def _on_cpu() -> Any:
    """Iterators are on the host, unless their author says otherwise."""
    return contextlib.nullcontext() if get_default_graph()._local.devices else device("/cpu:0")
