"""SequenceExample messages as tensors: features of the whole (its context), and lists of features by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.example_proto import Feature, FeatureList, FloatList, Int64List, SequenceExample
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.io.examples import Wanted, columns_of, dense, shape_text, sparse
from tideflow.io.sequence_examples import (
    ListColumn,
    SequenceBlame,
    dense_list,
    list_column,
    read_sequences,
    sparse_list,
)
from tideflow.ops.files.feature_specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    Split,
    VarLenFeature,
    default,
)
from tideflow.ops.files.parsing import (
    FEATURE_TYPES,
    by_kind,
    check_counts,
    dense_wanted,
    refusal,
    sparse_shapes_of,
    sparse_wanted,
)
from tideflow.ops.helpers import axes
from tideflow.ops.helpers.samples import text
from tideflow.runtime.values import to_torch

_COUNT = attr("int", 0, minimum=0)
_TYPES = attr("list(type)", [], allowed=FEATURE_TYPES.allowed, minimum=0)
_SHAPES = attr("list(shape)", [], minimum=0)
_FEATURE_ATTRS = {
    "Ncontext_sparse": _COUNT,
    "Ncontext_dense": _COUNT,
    "Nfeature_list_sparse": _COUNT,
    "Nfeature_list_dense": _COUNT,
    "context_sparse_types": _TYPES,
    "Tcontext_dense": _TYPES,
    "feature_list_dense_types": _TYPES,
    "context_dense_shapes": _SHAPES,
    "feature_list_sparse_types": _TYPES,
    "feature_list_dense_shapes": _SHAPES,
}
_OUTPUTS = (
    "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, "
    "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
    "feature_list_sparse_values: feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse * int64, "
    "feature_list_dense_values: feature_list_dense_types"
)


class _Reader:
    """The tensors of a batch of messages, kind by kind; of a single message, without the axis of messages."""

    def __init__(self, messages: Sequence[bytes], blame: SequenceBlame):
        self.blame = blame
        self.single = not blame.in_batch
        self.sequences = read_sequences(messages, blame)

    def context(
        self,
        sparse_keys: Sequence[str],
        sparse_types: Sequence[DType],
        dense_keys: Sequence[str],
        dense_types: Sequence[DType],
        dense_shapes: Sequence[TensorShape],
        defaults: Sequence[Any],
    ) -> list[np.ndarray]:
        wanted = [
            *sparse_wanted(sparse_keys, sparse_types),
            *dense_wanted(dense_keys, dense_types, dense_shapes, defaults),
        ]
        features = (sequence.context.feature for sequence in self.sequences)
        parts, tables = [], []
        for feature, column in zip(wanted, columns_of(features, wanted, self.blame), strict=True):
            if feature.shape is None:
                parts.append(self._without_batch(*sparse(*column)))
            else:
                tables.append(self._all_or_one(dense(feature, *column, self.blame)))
        return [*by_kind(parts), *tables]

    def sparse_lists(self, keys: Sequence[str], types: Sequence[DType]) -> list[np.ndarray]:
        return by_kind(
            [
                self._without_batch(*sparse_list(self._column(feature)))
                for feature in sparse_wanted(keys, types)
            ]
        )

    def dense_lists(
        self,
        keys: Sequence[str],
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        may_lack: Sequence[str],
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The lists' values, and how many steps each message has of each."""
        tables, lengths = [], []
        for key, dtype, shape in zip(keys, types, shapes, strict=True):
            feature = Wanted(key, dtype, shape.tuple)
            table, steps = dense_list(feature, self._column(feature), key in may_lack, self.blame)
            tables.append(self._all_or_one(table))
            lengths.append(steps)
        return tables, lengths

    def _column(self, feature: Wanted) -> ListColumn:
        return list_column(self.sequences, feature, self.blame)

    def _all_or_one(self, table: np.ndarray) -> np.ndarray:
        return table.reshape(table.shape[1:]) if self.single else table

    def _without_batch(self, indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> tuple:
        return (indices[:, 1:], values, shape[1:]) if self.single else (indices, values, shape)


def _sample(steps: int) -> bytes:
    """A SequenceExample for the samples."""
    message = SequenceExample()
    message.context.feature["label"].int64_list.value.append(steps)
    lists = message.feature_lists.feature_list
    lists["x"].CopyFrom(
        FeatureList(feature=[Feature(float_list=FloatList(value=[i, i + 0.5])) for i in range(steps)])
    )
    lists["tags"].CopyFrom(
        FeatureList(feature=[Feature(int64_list=Int64List(value=range(i))) for i in range(steps)])
    )
    return message.SerializeToString(deterministic=True)


_SAMPLE_TYPES = {
    "context_sparse_types": [dtypes.string],
    "Tcontext_dense": [dtypes.int64],
    "context_dense_shapes": [[]],
    "feature_list_sparse_types": [dtypes.int64],
    "feature_list_dense_types": [dtypes.float32],
    "feature_list_dense_shapes": [[2]],
}
_NO_DEFAULT = np.zeros(0, np.int64)
_KEYS = attr("list(string)", minimum=0)

parse_sequence_example_op = Op(
    "ParseSequenceExample",
    "serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense -> "
    f"{_OUTPUTS}, feature_list_dense_lengths: Nfeature_list_dense * int64",
    feature_list_dense_missing_assumed_empty=_KEYS,
    context_sparse_keys=_KEYS,
    context_dense_keys=_KEYS,
    feature_list_sparse_keys=_KEYS,
    feature_list_dense_keys=_KEYS,
    **_FEATURE_ATTRS,
    on_host=True,
    differentiable=False,
)


@parse_sequence_example_op.shape
def _parse_sequence_example_shape(
    serialized,
    debug_name,
    context_dense_defaults,
    *,
    context_sparse_keys,
    context_sparse_types,
    context_dense_keys,
    context_dense_shapes,
    feature_list_sparse_keys,
    feature_list_sparse_types,
    feature_list_dense_keys,
    feature_list_dense_shapes,
):
    batch = axes.of_rank(serialized, 1).tuple[0]
    check_counts(context_sparse_keys=context_sparse_keys, context_sparse_types=context_sparse_types)
    check_counts(context_dense_keys=context_dense_keys, context_dense_shapes=context_dense_shapes)
    check_counts(
        feature_list_dense_keys=feature_list_dense_keys, feature_list_dense_shapes=feature_list_dense_shapes
    )
    return [
        *sparse_shapes_of(len(context_sparse_keys), 2),
        *([batch, *shape.tuple] for shape in context_dense_shapes),
        *sparse_shapes_of(len(feature_list_sparse_keys), 3),
        *([batch, None, *shape.tuple] for shape in feature_list_dense_shapes),
        *([batch] for _ in feature_list_dense_shapes),
    ]


@parse_sequence_example_op.kernel
def _parse_sequence_example_kernel(
    serialized,
    debug_name,
    context_dense_defaults,
    *,
    feature_list_dense_missing_assumed_empty,
    context_sparse_keys,
    context_sparse_types,
    context_dense_keys,
    Tcontext_dense,
    context_dense_shapes,
    feature_list_sparse_keys,
    feature_list_sparse_types,
    feature_list_dense_keys,
    feature_list_dense_types,
    feature_list_dense_shapes,
):
    if debug_name.size and debug_name.shape != serialized.shape:
        raise refusal("example_names must be empty or have the correct number of elements")
    reader = _Reader(serialized.tolist(), SequenceBlame(debug_name.ravel().tolist(), in_batch=True))
    context = reader.context(
        context_sparse_keys,
        context_sparse_types,
        context_dense_keys,
        Tcontext_dense,
        context_dense_shapes,
        context_dense_defaults,
    )
    sparse_lists = reader.sparse_lists(feature_list_sparse_keys, feature_list_sparse_types)
    dense_lists, lengths = reader.dense_lists(
        feature_list_dense_keys,
        feature_list_dense_types,
        feature_list_dense_shapes,
        feature_list_dense_missing_assumed_empty,
    )
    return [to_torch(array) for array in (*context, *sparse_lists, *dense_lists, *lengths)]


_SAMPLE_KEYS = {
    "feature_list_dense_missing_assumed_empty": [],
    "context_sparse_keys": ["note"],
    "context_dense_keys": ["label"],
    "feature_list_sparse_keys": ["tags"],
    "feature_list_dense_keys": ["x"],
    "Ncontext_sparse": 1,
    "Ncontext_dense": 1,
    "Nfeature_list_sparse": 1,
    "Nfeature_list_dense": 1,
}
parse_sequence_example_op.samples(
    (text(_sample(3), _sample(1), _sample(0)), text(), [_NO_DEFAULT], {**_SAMPLE_TYPES, **_SAMPLE_KEYS}),
    (text(_sample(2)), text("a name"), [np.array(7)], {**_SAMPLE_TYPES, **_SAMPLE_KEYS}),
)
parse_sequence_example_op.refuses(
    (text(_sample(2), b""), text(), [np.array(7)], {**_SAMPLE_TYPES, **_SAMPLE_KEYS}),
    "Feature list 'x' is required but could not be found.",
    InvalidArgumentError,
)


@export("io.parse_sequence_example")
def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict, dict, dict]:
    """The features of a batch of serialized SequenceExamples: of the whole by key, of the steps by key, and
    how many steps each message has by key of a dense one.
    """
    context, steps = _split(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized]):
        may_lack = _assumed_empty(steps)
        # TensorFlow gives these defaults the shape they have, where it reshapes those of a single message.
        defaults = [
            default(key, dtype, None, context.defaults.get(key)) for key, dtype in context.dense.items()
        ]
        outputs = parse_sequence_example_op(
            serialized,
            [] if example_names is None else example_names,
            defaults,
            Ncontext_sparse=len(context.sparse),
            Ncontext_dense=len(context.dense),
            Nfeature_list_sparse=len(steps.sparse),
            Nfeature_list_dense=len(steps.dense),
            context_sparse_keys=list(context.sparse),
            context_dense_keys=list(context.dense),
            feature_list_sparse_keys=list(steps.sparse),
            feature_list_dense_keys=list(steps.dense),
            feature_list_dense_missing_assumed_empty=may_lack,
            **_types_and_shapes(context, steps),
            name=name,
        )
        lengths = dict(zip(steps.dense, outputs[8], strict=True))
        return context.results(outputs[:3], outputs[3]), steps.results(outputs[4:7], outputs[7]), lengths


_OF_CONTEXT = (VarLenFeature, FixedLenFeature)
_OF_STEPS = (VarLenFeature, FixedLenSequenceFeature)


def _split(
    context_features: Mapping[str, Any] | None, sequence_features: Mapping[str, Any] | None
) -> tuple[Split, Split]:
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    return Split(context_features, _OF_CONTEXT), Split(sequence_features, _OF_STEPS)


def _assumed_empty(steps: Split) -> list[str]:
    """The lists that a message may lack."""
    for key, value in steps.defaults.items():
        if value is not None:
            raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return list(steps.defaults)


def _types_and_shapes(context: Split, steps: Split) -> dict[str, Any]:
    return {
        "context_sparse_types": list(context.sparse.values()),
        "context_dense_shapes": context.shapes,
        "feature_list_sparse_types": list(steps.sparse.values()),
        "feature_list_dense_types": list(steps.dense.values()),
        "feature_list_dense_shapes": steps.shapes,
    }


parse_single_sequence_example_op = Op(
    "ParseSingleSequenceExample",
    "serialized: string, feature_list_dense_missing_assumed_empty: string, "
    "context_sparse_keys: Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string, "
    "feature_list_sparse_keys: Nfeature_list_sparse * string, "
    "feature_list_dense_keys: Nfeature_list_dense * string, context_dense_defaults: Tcontext_dense, "
    f"debug_name: string -> {_OUTPUTS}",
    **_FEATURE_ATTRS,
    on_host=True,
    differentiable=False,
)


@parse_single_sequence_example_op.shape
def _parse_single_sequence_example_shape(
    serialized,
    feature_list_dense_missing_assumed_empty,
    context_sparse_keys,
    context_dense_keys,
    feature_list_sparse_keys,
    feature_list_dense_keys,
    context_dense_defaults,
    debug_name,
    *,
    context_dense_shapes,
    feature_list_dense_shapes,
):
    axes.of_rank(serialized, 0)
    axes.of_rank(feature_list_dense_missing_assumed_empty, 1)
    check_counts(context_dense_keys=context_dense_keys, context_dense_shapes=context_dense_shapes)
    check_counts(
        feature_list_dense_keys=feature_list_dense_keys, feature_list_dense_shapes=feature_list_dense_shapes
    )
    return [
        *sparse_shapes_of(len(context_sparse_keys), 1),
        *context_dense_shapes,
        *sparse_shapes_of(len(feature_list_sparse_keys), 2),
        *([None, *shape.tuple] for shape in feature_list_dense_shapes),
    ]


def _texts(keys: Sequence[Any]) -> list[str]:
    """Keys that come as string tensors, or as a vector of strings."""
    return [np.asarray(key, object).item().decode(errors="surrogateescape") for key in keys]


@parse_single_sequence_example_op.kernel
def _parse_single_sequence_example_kernel(
    serialized,
    feature_list_dense_missing_assumed_empty,
    context_sparse_keys,
    context_dense_keys,
    feature_list_sparse_keys,
    feature_list_dense_keys,
    context_dense_defaults,
    debug_name,
    *,
    context_sparse_types,
    Tcontext_dense,
    context_dense_shapes,
    feature_list_sparse_types,
    feature_list_dense_types,
    feature_list_dense_shapes,
):
    if serialized.ndim:
        raise refusal(f"Expected serialized to be a scalar, got shape: {shape_text(serialized.shape)}")
    reader = _Reader([serialized.item()], SequenceBlame(debug_name.ravel().tolist()))
    context = reader.context(
        _texts(context_sparse_keys),
        context_sparse_types,
        _texts(context_dense_keys),
        Tcontext_dense,
        context_dense_shapes,
        context_dense_defaults,
    )
    sparse_lists = reader.sparse_lists(_texts(feature_list_sparse_keys), feature_list_sparse_types)
    dense_lists, _ = reader.dense_lists(
        _texts(feature_list_dense_keys),
        feature_list_dense_types,
        feature_list_dense_shapes,
        _texts(feature_list_dense_missing_assumed_empty),
    )
    return [to_torch(array) for array in (*context, *sparse_lists, *dense_lists)]


def _single_keys() -> list[list[np.ndarray]]:
    return [[text(key, shape=())] for key in ("note", "label", "tags", "x")]


parse_single_sequence_example_op.samples(
    (
        text(_sample(3), shape=()),
        text(),
        *_single_keys(),
        [_NO_DEFAULT],
        text("", shape=()),
        _SAMPLE_TYPES,
    ),
    (text(b"", shape=()), text("x"), *_single_keys(), [np.array(7)], text("n", shape=()), _SAMPLE_TYPES),
)
parse_single_sequence_example_op.refuses(
    (text(b"", shape=()), text("x"), *_single_keys(), [_NO_DEFAULT], text("n", shape=()), _SAMPLE_TYPES),
    "Name: n, Context feature 'label' is required but could not be found.",
    InvalidArgumentError,
)


@export("io.parse_single_sequence_example", "parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict, dict]:
    """The features of one serialized SequenceExample: of the whole by key, and of the steps by key."""
    context, steps = _split(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        may_lack = _assumed_empty(steps)
        defaults = [
            default(key, dtype, shape, context.defaults.get(key))
            for (key, dtype), shape in zip(context.dense.items(), context.shapes, strict=True)
        ]
        outputs = parse_single_sequence_example_op(
            serialized,
            may_lack,
            list(context.sparse),
            list(context.dense),
            list(steps.sparse),
            list(steps.dense),
            defaults,
            "" if example_name is None else example_name,
            **_types_and_shapes(context, steps),
            name=name,
        )
        return context.results(outputs[:3], outputs[3]), steps.results(outputs[4:7], outputs[7])
