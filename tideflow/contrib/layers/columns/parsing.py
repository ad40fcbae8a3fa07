"""What columns need of examples: specifications of parsing, placeholders, and the tensors of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tideflow.contrib.layers.columns.base import OldColumn, Tensors
from tideflow.contrib.layers.columns.numbers import RealValuedColumn, real_valued_column
from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.files.feature_specs import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from tideflow.ops.files.parsing import parse_example
from tideflow.ops.files.sequence_parsing import parse_single_sequence_example
from tideflow.ops.sparse.construction import sparse_placeholder
from tideflow.platform import logging

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.layers.check_feature_columns")
def check_feature_columns(feature_columns: Iterable[Any]) -> None:
    """Checks that no two columns have one key.

    Args:
      feature_columns: The columns.

    Raises:
      ValueError: If two columns have one key, or the columns are a dictionary.
    """
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    keys = set()
    for column in feature_columns:
        if column.key in keys:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means that the "
                "column is almost identical to another column, and one must be discarded."
            )
        keys.add(column.key)


def in_order(feature_columns: Iterable[Any]) -> list[OldColumn]:
    """The columns in the order in which models take them, after they are checked."""
    check_feature_columns(feature_columns)
    return sorted(set(feature_columns), key=lambda column: column.key)


@export(
    "contrib.layers.create_feature_spec_for_parsing",
    "contrib.layers.feature_column.create_feature_spec_for_parsing",
)
def create_feature_spec_for_parsing(feature_columns: Iterable[Any] | Mapping[Any, Any]) -> dict[str, Any]:
    """Makes what `tf.io.parse_example` must be asked for, so that columns find their features.

    Args:
      feature_columns: The columns, or a dictionary of them.

    Returns:
      A dictionary of features to parse.

    Raises:
      TypeError: If something is not a column.
    """
    columns = feature_columns.values() if isinstance(feature_columns, dict) else feature_columns
    spec: dict[str, Any] = {}
    for column in columns:
        if not isinstance(column, OldColumn):
            raise TypeError(
                f"feature_columns should only contain instances of _FeatureColumn. Given column is {column}"
            )
        spec.update(column.config)
    return spec


def sequence_spec(columns: Iterable[Any], allow_missing_by_default: bool = False) -> dict[str, Any]:
    """The same for the steps of a sequence."""
    spec = create_feature_spec_for_parsing(columns)
    return {key: _of_steps(key, feature, allow_missing_by_default) for key, feature in spec.items()}


def _of_steps(key: str, feature: Any, may_be_missing: bool) -> Any:
    if isinstance(feature, VarLenFeature):
        return feature
    has_default = feature.default_value is not None
    if has_default:
        logging.warning(
            'Found default value %s for feature "%s". Ignoring this value and setting `allow_missing=True` '
            "instead.",
            feature.default_value,
            key,
        )
    return FixedLenSequenceFeature(feature.shape, feature.dtype, allow_missing=may_be_missing or has_default)


@export(
    "contrib.layers.make_place_holder_tensors_for_base_features",
    "contrib.layers.feature_column.make_place_holder_tensors_for_base_features",
)
def make_place_holder_tensors_for_base_features(
    feature_columns: Iterable[Any] | Mapping[Any, Any],
) -> dict[str, Any]:
    """Makes placeholders for the features that columns need.

    Args:
      feature_columns: The columns, or a dictionary of them.

    Returns:
      A dictionary of placeholders by the names of the features.
    """
    spec = create_feature_spec_for_parsing(feature_columns)
    return {name: _placeholder(name, feature) for name, feature in spec.items()}


def _placeholder(name: str, feature: VarLenFeature | FixedLenFeature) -> Any:
    if isinstance(feature, VarLenFeature):
        return sparse_placeholder(feature.dtype, name=f"Placeholder_{name}")
    return constants.placeholder(feature.dtype, (None, feature.shape[0]), f"Placeholder_{name}")


@export("contrib.layers.parse_feature_columns_from_examples")
def parse_feature_columns_from_examples(
    serialized: TensorLike,
    feature_columns: Iterable[Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[Any, Any]:
    """Parses examples, and makes the tensors of columns.

    Args:
      serialized: A vector of serialized Examples.
      feature_columns: The columns.
      name: The name of the operation.
      example_names: A vector of names for errors.

    Returns:
      A dictionary with the tensors of the features by name and those of the columns by column.
    """
    columns = in_order(feature_columns)
    spec = create_feature_spec_for_parsing(feature_columns)
    tensors = parse_example(serialized, spec, name=name, example_names=example_names)
    for column in columns:
        Tensors(tensors).get(column)
    return tensors


@export("contrib.layers.parse_feature_columns_from_sequence_examples")
def parse_feature_columns_from_sequence_examples(
    serialized: TensorLike,
    context_feature_columns: Iterable[Any] | None,
    sequence_feature_columns: Iterable[Any] | None,
    name: str | None = None,
    example_name: TensorLike | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parses the features of columns out of one SequenceExample.

    Args:
      serialized: A serialized SequenceExample.
      context_feature_columns: The columns of its context.
      sequence_feature_columns: The columns of its steps.
      name: The name of the operation.
      example_name: A name for errors.

    Returns:
      The tensors of the context, and those of the steps, by name.

    Raises:
      ValueError: If there is more than one example.
    """
    try:
        serialized = shapes.reshape(serialized, [])
    except ValueError as error:
        raise ValueError(
            "serialized must contain as single sequence example. Batching must be done after parsing for "
            f"sequence examples. Error: {error}"
        ) from error
    context, steps = context_feature_columns or [], sequence_feature_columns or []
    check_feature_columns(context)
    check_feature_columns(steps)
    return parse_single_sequence_example(
        serialized, create_feature_spec_for_parsing(context), sequence_spec(steps), example_name, name
    )


@export("contrib.layers.transform_features")
def transform_features(features: dict[str, Any], feature_columns: Iterable[Any]) -> dict[Any, Any]:
    """Makes the tensors of columns.

    Args:
      features: The tensors of features, by name.
      feature_columns: The columns.

    Returns:
      A dictionary of tensors by column.
    """
    columns, tensors = in_order(feature_columns), dict(features)
    return {column: Tensors(tensors).get(column) for column in columns}


@export("contrib.layers.infer_real_valued_columns")
def infer_real_valued_columns(features: TensorLike | Mapping[str, TensorLike]) -> list[RealValuedColumn]:
    """Makes columns of numbers for tensors.

    Args:
      features: A tensor, whose column gets the name "", or a dictionary of tensors.

    Returns:
      A list of columns.

    Raises:
      ValueError: If a tensor is sparse, or not of numbers.
    """
    if not isinstance(features, dict):
        return [_inferred("", features)]
    return [_inferred(name, tensor) for name, tensor in features.items()]


def _inferred(name: str, tensor: Any) -> RealValuedColumn:
    if isinstance(tensor, SparseTensor):
        raise ValueError(
            "SparseTensor is not supported for auto detection. Please define corresponding FeatureColumn for "
            f"tensor {name} {tensor}."
        )
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            "Non integer or non floating types are not supported for auto detection. Please define "
            f"corresponding FeatureColumn for tensor {name} {tensor}."
        )
    return real_valued_column(name, dimension=tensor.shape[1:].num_elements(), dtype=tensor.dtype)
