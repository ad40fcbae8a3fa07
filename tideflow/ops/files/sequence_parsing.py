"""SequenceExample messages as tensors: features of the whole (its context), and lists of features by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
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
    sparse_shapes_of,
    sparse_wanted,
)
from tideflow.ops.helpers import axes
from tideflow.ops.helpers.samples import text
from tideflow.runtime.values import to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_COUNT = attr("int", 0, minimum=0)
_KEYS = attr("list(string)", minimum=0)
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


def _values_in(feature: Feature) -> list:
    kind = feature.WhichOneof("kind")
    return list(getattr(feature, kind).value) if kind else []


def _parsed_plainly(
    messages: Sequence[bytes],
    context_sparse: str,
    context_dense: str,
    default: np.ndarray,
    sparse_list: str,
    dense_list: str,
) -> list[Any]:
    """A reference for the samples, which ask for one feature of each kind, element by element."""
    sequences = [SequenceExample.FromString(message) for message in messages]
    features = [sequence.context.feature for sequence in sequences]
    lists = [sequence.feature_lists.feature_list for sequence in sequences]
    notes = [_values_in(feature[context_sparse]) for feature in features]
    labels = [_values_in(feature[context_dense]) or [default.item()] for feature in features]
    tags = [[_values_in(step) for step in each[sparse_list].feature] for each in lists]
    steps = [[_values_in(step) for step in each[dense_list].feature] for each in lists]
    longest, count = max(map(len, steps)), len(messages)
    table = np.zeros((count, longest, 2))
    for row, values in enumerate(steps):
        table[row, : len(values)] = np.reshape(values, (-1, 2))
    return [
        np.reshape([(i, j) for i in range(count) for j in range(len(notes[i]))], (-1, 2)),
        np.array([value for row in notes for value in row], object),
        [count, max(map(len, notes))],
        [label for (label,) in labels],
        np.reshape(
            [(i, j, k) for i in range(count) for j, step in enumerate(tags[i]) for k in range(len(step))],
            (-1, 3),
        ),
        [value for row in tags for step in row for value in step],
        [count, max(map(len, tags)), max((len(step) for row in tags for step in row), default=0)],
        table,
        [len(row) for row in steps],
    ]


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
    differentiable=None,
)


def _vector(shape: TensorShape, name: str) -> TensorShape:
    said = f"Expected {name} to be a vector, got shape: {shape_text(shape.tuple or ())}"
    return axes.of_rank(shape, 1, said)


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
    batch = _vector(serialized, "serialized").tuple[0]
    axes.of_rank(debug_name, 1)
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
        raise errors.invalid_argument("example_names must be empty or have the correct number of elements")
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
    against=lambda serialized, debug_name, defaults: _parsed_plainly(
        serialized, "note", "label", defaults[0], "tags", "x"
    ),
)

parse_sequence_example_op.refuses(
    (text(_sample(2), b""), text(), [np.array(7)], {**_SAMPLE_TYPES, **_SAMPLE_KEYS}),
    "Feature list 'x' is required but could not be found.",
    InvalidArgumentError,
)


@export("io.parse_sequence_example")
def parse_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict, dict, dict]:
    """The features of a batch of serialized SequenceExample messages as tensors.

    Args:
      serialized: A vector of strings, each a serialized SequenceExample.
      context_features: What to read of the whole sequence, by key: FixedLenFeature becomes a tensor,
        VarLenFeature a SparseTensor.
      sequence_features: What to read of every step, by key: FixedLenSequenceFeature becomes a tensor with an
        axis of steps, filled up with zeros, VarLenFeature a SparseTensor of rank 3.
      example_names: A vector of names for the messages, which errors mention; None for no names.
      name: A name for the operation.

    Returns:
      Three dicts by key: the context's tensors, the steps' tensors, and for each FixedLenSequenceFeature how
      many steps each message has.

    Raises:
      ValueError: If there are no features, or one of a kind that is not allowed there.
      InvalidArgumentError: When the step runs and a message does not fit.
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


parse_single_sequence_example_op = Op(
    "ParseSingleSequenceExample",
    "serialized: string, feature_list_dense_missing_assumed_empty: string, "
    "context_sparse_keys: Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string, "
    "feature_list_sparse_keys: Nfeature_list_sparse * string, "
    "feature_list_dense_keys: Nfeature_list_dense * string, context_dense_defaults: Tcontext_dense, "
    f"debug_name: string -> {_OUTPUTS}",
    **_FEATURE_ATTRS,
    on_host=True,
    differentiable=None,
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
    _vector(feature_list_dense_missing_assumed_empty, "feature_list_dense_missing_assumed_empty")
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


def _check_keys(name: str, keys: Sequence[np.ndarray]) -> None:
    for place, key in enumerate(keys):
        if key.ndim:
            raise errors.invalid_argument(
                f"Expected {name}[{place}] to be a scalar, got shape: {shape_text(key.shape)}"
            )


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
        raise errors.invalid_argument(
            f"Expected serialized to be a scalar, got shape: {shape_text(serialized.shape)}"
        )
    for name, keys in (
        ("context_sparse_keys", context_sparse_keys),
        ("context_dense_keys", context_dense_keys),
        ("feature_list_sparse_keys", feature_list_sparse_keys),
        ("feature_list_dense_keys", feature_list_dense_keys),
    ):
        _check_keys(name, keys)
    if debug_name.size and debug_name.ndim:
        raise errors.invalid_argument(
            f"Expected debug_name to be a scalar, got shape: {shape_text(debug_name.shape)}"
        )
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


def _parsed_single(serialized, *inputs):
    """A batch of one, without the axis of the batch."""
    batch = _parsed_plainly([serialized.item()], "note", "label", inputs[5][0], "tags", "x")
    notes, note_values, note_shape, labels, tags, tag_values, tag_shape, steps, _ = batch
    return [
        notes[:, 1:],
        note_values,
        note_shape[1:],
        labels[0],
        tags[:, 1:],
        tag_values,
        tag_shape[1:],
        steps[0],
    ]


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
    against=_parsed_single,
)

parse_single_sequence_example_op.refuses(
    (text(b"", shape=()), text("x"), *_single_keys(), [_NO_DEFAULT], text("n", shape=()), _SAMPLE_TYPES),
    "Name: n, Context feature 'label' is required but could not be found.",
    InvalidArgumentError,
)


@export("io.parse_single_sequence_example", "parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict, dict]:
    """The features of one serialized SequenceExample message as tensors.

    Args:
      serialized: A scalar string, the serialized SequenceExample.
      context_features: What to read of the whole sequence; see `tf.io.parse_sequence_example`.
      sequence_features: What to read of every step.
      example_name: A scalar string that errors mention; None for no name.
      name: A name for the operation.

    Returns:
      Two dicts by key: the context's tensors, and the steps' tensors, whose first axis is the steps.

    Raises:
      ValueError: If there are no features, or one of a kind that is not allowed there.
      InvalidArgumentError: When the step runs and the message does not fit.
    """
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
