"""Structures of elements: tuples, named tuples and dicts of components. A list is a component: a tensor."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.composite import SparseTensor, SparseTensorValue
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.type_spec import (
    BatchableTypeSpec,
    SparseTensorSpec,
    TensorSpec,
    TypeSpec,
    _spec_of,
    type_spec_from_value,
)
from tideflow.ragged.value import RaggedTensorValue

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike


def is_nested(value: Any) -> bool:
    """Whether a value is a structure, and not a component."""
    if isinstance(value, (SparseTensorValue, RaggedTensorValue, TypeSpec, TensorShape)):
        return False
    return isinstance(value, (tuple, Mapping)) or hasattr(type(value), "__attrs_attrs__")


def flatten(structure: Any) -> list[Any]:
    """The components, in order."""
    if not is_nested(structure):
        return [structure]
    return [leaf for child in nest._children(structure) for leaf in flatten(child)]


def pack(structure: Any, leaves: Sequence[Any]) -> Any:
    """The leaves in a structure."""
    given = iter(leaves)

    def build(part: Any) -> Any:
        if not is_nested(part):
            return next(given)
        return nest._rebuild(part, [build(child) for child in nest._children(part)])

    return build(structure)


def map_structure(function: Callable, *structures: Any) -> Any:
    """A function of the components that stand at the same place."""
    for other in structures[1:]:
        assert_same(structures[0], other)
    return pack(structures[0], [function(*leaves) for leaves in zip(*map(flatten, structures), strict=True)])


def assert_same(a: Any, b: Any) -> None:
    """ValueError where two structures differ, TypeError where only the types of their containers do."""
    found = nest.difference(a, b, True, is_nested)
    if found is not None:
        raise found


def up_to(shallow: Any, structure: Any) -> list[Any]:
    """The parts of `structure` that stand where `shallow` has components."""
    if not is_nested(shallow):
        return [structure]
    if not is_nested(structure):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(structure)}."
        )
    children, parts = nest._children(shallow), nest._children(structure)
    if len(children) != len(parts):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(parts)}, while shallow structure has length {len(children)}."
        )
    return [leaf for child, part in zip(children, parts, strict=True) for leaf in up_to(child, part)]


# ------------------------------------------------------------------------------------------------- values


def normalized(element: Any) -> Any:
    """The element with tensors, or composites of tensors, for components."""
    with name_scope("normalize_element"):
        return pack(element, [_component(i, leaf) for i, leaf in enumerate(flatten(element))])


def composed(element: Any) -> Any:
    """The element with sparse and ragged tensors for the values of such."""
    return pack(element, [_composed(leaf) for leaf in flatten(element)])


def _composed(value: Any, name: str | None = None) -> Any:
    if isinstance(value, (SparseTensorValue, SparseTensor)):
        return SparseTensor.from_value(value)
    if isinstance(value, RaggedTensorValue):
        from tideflow.ragged.tensor import convert_to_tensor_or_ragged_tensor  # loaded when asked for

        return convert_to_tensor_or_ragged_tensor(value, name=name)
    return value


def _component(i: int, value: Any) -> Any:
    value = _composed(value, f"component_{i}")
    if isinstance(value, list) and hasattr(value[0] if value else None, "_variant_tensor"):
        return value  # datasets, of which a tensor is made when their spec is known
    spec = None if isinstance(value, list) else _spec_of(value)
    if spec is None or isinstance(spec, TensorSpec):
        return convert_to_tensor(value, name=f"component_{i}")
    return value


def spec_of(element: Any) -> Any:
    """The specs of an element's components, in its structure."""
    return pack(element, [type_spec_from_value(leaf) for leaf in flatten(element)])


def to_tensors(spec: Any, element: Any) -> list[Tensor]:
    """An element as the flat list of tensors that passes through the graph."""
    pairs = zip(flatten(spec), flatten(element), strict=True)
    return [tensor for part, value in pairs for tensor in part._to_tensor_list(value)]


def to_batched_tensors(spec: Any, element: Any) -> list[Tensor]:
    """The same for an element that is a batch, whose rows will be elements."""
    pairs = zip(flatten(spec), flatten(element), strict=True)
    return [tensor for part, value in pairs for tensor in part._to_batched_tensor_list(value)]


def from_tensors(spec: Any, tensors: Sequence[Tensor]) -> Any:
    """The element that a flat list of tensors stands for."""
    leaves, position = [], 0
    for part in flatten(spec):
        count = len(part._flat_tensor_specs)
        leaves.append(part._from_compatible_tensor_list(list(tensors[position : position + count])))
        position += count
    return pack(spec, leaves)


def flat_specs(spec: Any) -> list[TensorSpec]:
    """The specs of the flat list of tensors."""
    return [tensor for part in flatten(spec) for tensor in part._flat_tensor_specs]


def flat_attributes(spec: Any) -> dict[str, list[Any]]:
    """The attributes by which ops know the structure."""
    flat = flat_specs(spec)
    return {"output_types": [s.dtype for s in flat], "output_shapes": [s.shape for s in flat]}


def batched(spec: Any, size: int | None) -> Any:
    """The spec of batches."""
    return map_structure(lambda part: _batchable(part)._batch(size), spec)


def unbatched(spec: Any) -> Any:
    """The spec of the rows of batches."""
    return map_structure(lambda part: _batchable(part)._unbatch(), spec)


def _batchable(part: TypeSpec) -> BatchableTypeSpec:
    if not hasattr(part, "_batch"):
        raise TypeError(f"{part} is not batchable.")
    return part


def from_legacy(types: Any, shapes: Any, classes: Any = None) -> Any:
    """The specs for dtypes, shapes and classes, as they were given before there were specs."""
    flat_types = flatten(types)
    flat_shapes = up_to(types, shapes)
    flat_classes = [Tensor] * len(flat_types) if classes is None else up_to(types, classes)
    made = []
    for dtype, shape, kind in zip(flat_types, flat_shapes, flat_classes, strict=True):
        if isinstance(kind, TypeSpec):
            made.append(kind)
        elif kind is SparseTensor:
            made.append(SparseTensorSpec(shape, dtype))
        elif kind is Tensor:
            made.append(TensorSpec(as_shape(shape), dtypes.as_dtype(dtype)))
        else:
            raise TypeError(f"Could not build a structure for output class {kind}")
    return pack(types, made)


def legacy_types(spec: Any) -> Any:
    return map_structure(lambda part: part._to_legacy_output_types(), spec)


def legacy_shapes(spec: Any) -> Any:
    return map_structure(lambda part: part._to_legacy_output_shapes(), spec)


def legacy_classes(spec: Any) -> Any:
    return map_structure(lambda part: part._to_legacy_output_classes(), spec)


def as_text(spec: Any) -> str:
    """The shapes and types of an element, as TensorFlow writes them."""
    shapes = str(map_structure(str, legacy_shapes(spec))).replace("'", "")
    types = str(map_structure(repr, legacy_types(spec))).replace("'", "")
    return f"shapes: {shapes}, types: {types}"


def as_html(dataset: Any) -> str:
    """What a notebook shows of a dataset: the components of an element, a row each."""
    rows = "".join(
        f"<tr><td>{html.escape(path)}</td><td>{html.escape(str(part))}</td></tr>"
        for path, part in _components(dataset._element_spec, "")
    )
    heading = "<tr><th>component</th><th>is a</th></tr>"
    return f"<p>{html.escape(type(dataset).__name__)}, each element of:</p><table>{heading}{rows}</table>"


def _components(spec: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The leaves of a structure, each with the way to it: `[0]['image']`."""
    if isinstance(spec, Mapping):
        parts = [(f"[{key!r}]", spec[key]) for key in sorted(spec)]
    elif isinstance(spec, tuple):
        parts = [(f"[{i}]", part) for i, part in enumerate(spec)]
    else:
        yield path or "element", spec
        return
    for step, part in parts:
        yield from _components(part, path + step)


def serialized_rows(*components: Any) -> Any:
    """An element whose sparse components are vectors of serialized rows."""
    element = components[0] if len(components) == 1 else components
    spec = spec_of(element)
    rows = to_batched_tensors(spec, element)
    return rows[0] if len(rows) == 1 else tuple(rows)


OF_OTHER_GRAPH = (
    "The graph of the iterator is different from the graph the dataset {} was created in. If you are using "
    "the Estimator API, make sure that no part of the dataset returned by the `input_fn` function is defined "
    "outside the `input_fn` function. Please ensure that all datasets in the pipeline are created in the "
    "iterator's graph."
)
NOT_OF_THIS_GRAPH = (
    "An iterator must be from the same graph as its dataset: the dataset's variant tensor {} is of another "
    "one."
)


class OfElements:
    """What gives elements, and says of what structure they are."""

    _element_spec: Any

    @property
    def element_spec(self) -> Any:
        """The specs of an element's components, in its structure."""
        return self._element_spec

    @property
    def output_types(self) -> Any:
        """The dtypes of an element's components."""
        return legacy_types(self._element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element's components."""
        return legacy_shapes(self._element_spec)

    @property
    def output_classes(self) -> Any:
        """The Python classes of an element's components."""
        return legacy_classes(self._element_spec)


# ---------------------------------------------------------------------------------------- as they were named


@export("data.experimental.TensorStructure")
def tensor_structure(dtype: DTypeLike, shape: ShapeLike | None) -> TensorSpec:
    """Makes the spec of a tensor.

    Args:
      dtype: The type.
      shape: The shape.

    Returns:
      The TensorSpec.
    """
    return TensorSpec(shape, dtype)


@export("data.experimental.SparseTensorStructure")
def sparse_tensor_structure(dtype: DTypeLike, shape: ShapeLike | None) -> SparseTensorSpec:
    """Makes the spec of a sparse tensor.

    Args:
      dtype: The type.
      shape: The dense shape.

    Returns:
      The SparseTensorSpec.
    """
    return SparseTensorSpec(shape, dtype)
