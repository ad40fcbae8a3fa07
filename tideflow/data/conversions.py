"""Functions of datasets and iterators: new iterators, the structure of elements, variant tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.data import iterator
from tideflow.data import structure as structures
from tideflow.data.dataset import Dataset
from tideflow.export import export
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.data.iterator import Iterator


@export("data.make_one_shot_iterator")
def make_one_shot_iterator(dataset: Dataset) -> iterator.Iterator:
    """Makes an iterator for one pass over a dataset, which needs no initialization.

    Args:
      dataset: The dataset.

    Returns:
      The iterator.
    """
    return dataset.make_one_shot_iterator()


@export("data.make_initializable_iterator")
def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> iterator.Iterator:
    """Makes an iterator that begins a dataset when its `initializer` is run.

    Args:
      dataset: The dataset.
      shared_name: The name under which sessions share the iterator.

    Returns:
      The iterator.
    """
    return dataset.make_initializable_iterator(shared_name)


@export("data.experimental.get_structure")
def get_structure(dataset_or_iterator: Dataset | Iterator) -> Any:
    """Gets the specs of the elements.

    Args:
      dataset_or_iterator: A dataset or an iterator.

    Returns:
      The specs, in the structure of an element.

    Raises:
      TypeError: If the argument is neither.
    """
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got "
            f"{type(dataset_or_iterator)}."
        ) from None


@export("data.get_output_types")
def get_output_types(dataset_or_iterator: Dataset | Iterator) -> Any:
    """Gets the types of the elements.

    Args:
      dataset_or_iterator: A dataset or an iterator.

    Returns:
      The types, in the structure of an element.
    """
    return structures.legacy_types(get_structure(dataset_or_iterator))


@export("data.get_output_shapes")
def get_output_shapes(dataset_or_iterator: Dataset | Iterator) -> Any:
    """Gets the static shapes of the elements.

    Args:
      dataset_or_iterator: A dataset or an iterator.

    Returns:
      The shapes, in the structure of an element.
    """
    return structures.legacy_shapes(get_structure(dataset_or_iterator))


@export("data.get_output_classes")
def get_output_classes(dataset_or_iterator: Dataset | Iterator) -> Any:
    """Gets the Python classes of the elements.

    Args:
      dataset_or_iterator: A dataset or an iterator.

    Returns:
      The classes, in the structure of an element.
    """
    return structures.legacy_classes(get_structure(dataset_or_iterator))


@export("data.experimental.from_variant")
def from_variant(variant: Tensor, structure: Any) -> Dataset:
    """Makes a dataset from a variant tensor.

    Args:
      variant: The tensor.
      structure: The specs of an element, in its structure.

    Returns:
      The dataset.
    """
    return Dataset(variant, structure)


@export("data.experimental.to_variant")
def to_variant(dataset: Dataset) -> Tensor:
    """Gets the variant tensor of a dataset.

    Args:
      dataset: The dataset.

    Returns:
      The tensor.
    """
    return dataset._variant_tensor
