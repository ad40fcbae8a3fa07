"""Example messages as tensors: a feature of fixed size is dense, one of any size sparse or padded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.example_proto import BytesList, Example, Feature, Features, FloatList, Int64List
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.io.examples import Blame, Wanted, dense, padded, plain_values, read_columns, shape_text, sparse
from tideflow.ops.arrays import shapes, slicing
from tideflow.ops.control_flow import debugging, grouping
from tideflow.ops.files.feature_specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    Split,
    VarLenFeature,
    index_keys,
    node_name,
)
from tideflow.ops.helpers import axes
from tideflow.ops.helpers.samples import text
from tideflow.ops.helpers.types import INDICES, types
from tideflow.ops.math import binary
from tideflow.ops.sparse import construction as sparse_ops
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

FEATURE_TYPES = attr("list(type)", allowed=types("float int64 string"), minimum=0)
_COUNT = attr("int", minimum=0)
_KEYS = attr("list(string)", minimum=0)
_SHAPES = attr("list(shape)", minimum=0)


def check_counts(**lists: Sequence) -> None:
    """The lists that describe the features one by one are equally long."""
    (first, items), *rest = lists.items()
    for name, others in rest:
        if len(items) != len(others):
            raise ShapeError(f"len({first}) != len({name}): {len(items)} vs {len(others)}")


def _check_dense_shapes(dense_shapes: Sequence[TensorShape]) -> None:
    for i, shape in enumerate(dense_shapes):
        if shape.ndims is None or None in shape.tuple[1:]:
            raise ShapeError(f"dense_shapes[{i}] has unknown rank or unknown inner dimensions: {shape}")


def sparse_shapes_of(count: int, rank: int) -> list[list]:
    """The shapes of the indices, values and shapes of sparse tensors of a rank."""
    return [[None, rank]] * count + [[None]] * count + [[rank]] * count


def sparse_wanted(keys: Sequence[str], element_types: Sequence[DType]) -> list[Wanted]:
    """Features that become sparse tensors."""
    return [Wanted(key, dtype) for key, dtype in zip(keys, element_types, strict=True)]


def dense_wanted(
    keys: Sequence[str],
    element_types: Sequence[DType],
    dense_shapes: Sequence[TensorShape],
    defaults: Sequence[Any],
) -> list[Wanted]:
    """Features that become dense tensors. A default without elements is none: the feature is required."""
    wanted = []
    for i, (key, dtype, shape, default) in enumerate(
        zip(keys, element_types, dense_shapes, defaults, strict=True)
    ):
        value = to_numpy(default)
        feature = Wanted(key, dtype, shape.tuple, value if value.size else None)
        if feature.is_padded and value.size != 1:
            raise errors.invalid_argument(
                f"dense_shape[{i}] is a variable length shape: {shape_text(shape.tuple)}, therefore "
                f"def_value[{i}] must contain a single element (the padding element). But its shape is: "
                f"{shape_text(value.shape)}"
            )
        if not feature.is_padded and value.size and value.shape != shape.tuple:
            raise errors.invalid_argument(
                f"def_value[{i}].shape() == {shape_text(value.shape)} is not compatible with "
                f"dense_shapes_[{i}] == {shape_text(shape.tuple)}"
            )
        wanted.append(feature)
    return wanted


def tensors(messages: list[bytes], wanted: list[Wanted], blame: Blame, single: bool = False) -> list[Any]:
    """The op's outputs; of a single message, without the axis of messages."""
    sparse_parts, dense_values = [], []
    for feature, (counts, values) in zip(wanted, read_columns(messages, wanted, blame), strict=True):
        if feature.shape is None:
            indices, values, shape = sparse(counts, values)
            sparse_parts.append((indices[:, 1:], values, shape[1:]) if single else (indices, values, shape))
        else:
            table = (padded if feature.is_padded else dense)(feature, counts, values, blame)
            dense_values.append(table.reshape(table.shape[1:]) if single else table)
    return [to_torch(array) for array in (*by_kind(sparse_parts), *dense_values)]


def by_kind(parts: Sequence[tuple]) -> list[np.ndarray]:
    """All indices, then all values, then all shapes."""
    return [array for kind in zip(*parts, strict=True) for array in kind]


def _sample(**features: list) -> bytes:
    """An Example for the samples."""
    kinds = {
        int: lambda v: {"int64_list": Int64List(value=v)},
        float: lambda v: {"float_list": FloatList(value=v)},
    }
    other = lambda v: {"bytes_list": BytesList(value=v)}
    made = {key: Feature(**kinds.get(type(v[0]), other)(v)) for key, v in features.items()}
    return Example(features=Features(feature=made)).SerializeToString(deterministic=True)


_MESSAGES = (_sample(a=[1, 2], b=[0.5], c=[b"x", b"y"]), _sample(a=[3, 4]), _sample(a=[5, 6], b=[1.5, 2.5]))

_NO_DEFAULT = np.zeros(0, np.int64)


def _values_of(message: bytes, key: str) -> list:
    """The values of a feature, none where the message does not have it."""
    features = Example.FromString(message).features.feature
    kind = features[key].WhichOneof("kind") if key in features else None
    return list(getattr(features[key], kind).value) if kind else []


def _parsed_sparse(messages: Sequence[bytes], key: str) -> tuple:
    """Indices, values and shape of a feature, element by element."""
    rows = [_values_of(message, key) for message in messages]
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.array([value for row in rows for value in row], object)
    return np.reshape(places, (-1, 2)), values, [len(rows), max(map(len, rows), default=0)]


def _parsed_dense(messages: Sequence[bytes], key: str, shape: list, default: np.ndarray) -> np.ndarray:
    """The values of a feature row by row; its default where it is missing, or behind what is too short."""
    rows = [_values_of(message, key) for message in messages]
    if shape[:1] == [None]:
        longest = max(map(len, rows))
        rows = [row + [default.item()] * (longest - len(row)) for row in rows]
        shape = [longest // math.prod(shape[1:]), *shape[1:]]
    else:
        rows = [row or default.ravel().tolist() for row in rows]
    return np.array(rows, object).reshape(len(rows), *shape)


def _parsed_plainly(
    messages: Sequence[bytes],
    sparse_keys: Sequence,
    dense_keys: Sequence,
    shapes: Sequence,
    defaults: Sequence,
) -> list:
    """The outputs for a batch: indices, values and shapes of the sparse features, then the dense ones."""
    parts = [_parsed_sparse(messages, key) for key in sparse_keys]
    dense_values = [
        _parsed_dense(messages, *feature) for feature in zip(dense_keys, shapes, defaults, strict=True)
    ]
    return [*by_kind(parts), *dense_values]


parse_example_op = Op(
    "ParseExample",
    "serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * string, "
    "dense_defaults: Tdense -> sparse_indices: Nsparse * int64, sparse_values: sparse_types, "
    "sparse_shapes: Nsparse * int64, dense_values: Tdense",
    Nsparse=_COUNT,
    Ndense=_COUNT,
    sparse_types=FEATURE_TYPES,
    Tdense=FEATURE_TYPES,
    dense_shapes=_SHAPES,
    on_host=True,
    differentiable=None,
)


@parse_example_op.shape
def _parse_example_shape(
    serialized, names, sparse_keys, dense_keys, dense_defaults, *, sparse_types, Tdense, dense_shapes, Nsparse
):
    batch = axes.of_rank(serialized, 1).tuple[0]
    axes.of_rank(names, 1)
    check_counts(sparse_keys=sparse_keys, sparse_types=sparse_types)
    check_counts(dense_keys=dense_keys, dense_types=Tdense, dense_shapes=dense_shapes)
    _check_dense_shapes(dense_shapes)
    return sparse_shapes_of(Nsparse, 2) + [[batch, *shape.tuple] for shape in dense_shapes]


def _texts(keys: Sequence[np.ndarray]) -> list[str]:
    return [key.item().decode(errors="surrogateescape") for key in keys]


@parse_example_op.kernel
def _parse_example_kernel(
    serialized, names, sparse_keys, dense_keys, dense_defaults, *, sparse_types, Tdense, dense_shapes
):
    if serialized.ndim != 1:
        raise errors.invalid_argument(
            f"Expected serialized to be a vector, got shape: {shape_text(serialized.shape)}"
        )
    if names.size and len(names) != len(serialized):
        raise errors.invalid_argument(
            f"Expected len(names) == len(serialized), but got: {len(names)} vs. {len(serialized)}"
        )
    wanted = [
        *sparse_wanted(_texts(sparse_keys), sparse_types),
        *dense_wanted(_texts(dense_keys), Tdense, dense_shapes, dense_defaults),
    ]
    return tensors(serialized.tolist(), wanted, Blame(names.tolist()))


def _parsed_batch(serialized, names, sparse_keys, dense_keys, dense_defaults, dense_shapes):
    keys = [[key.item().decode() for key in given] for given in (sparse_keys, dense_keys)]
    return _parsed_plainly(serialized, *keys, dense_shapes, dense_defaults)


parse_example_op.samples(
    (
        text(*_MESSAGES),
        text(),
        [text("c", shape=())],
        [text("a", shape=()), text("b", shape=())],
        [_NO_DEFAULT, np.float32(-1).reshape(())],
        {
            "sparse_types": [dtypes.string],
            "dense_shapes": [[2], [None]],
            "Tdense": [dtypes.int64, dtypes.float32],
        },
    ),
    (
        text(*_MESSAGES[:1]),
        text("first"),
        [text("b", shape=())],
        [],
        [],
        {"sparse_types": [dtypes.float32], "dense_shapes": [], "Tdense": []},
    ),
    (
        text(),
        text(),
        [text("b", shape=())],
        [text("a", shape=())],
        [np.array([7, 8])],
        {"sparse_types": [dtypes.float32], "dense_shapes": [[2]], "Tdense": [dtypes.int64]},
    ),
    against=_parsed_batch,
)
parse_example_op.refuses(
    (
        text(*_MESSAGES),
        text(),
        [],
        [text("a", shape=())],
        [np.array([1, 2, 3])],
        {"sparse_types": [], "dense_shapes": [[2]], "Tdense": [dtypes.int64]},
    ),
    "def_value[0].shape() == [3] is not compatible with dense_shapes_[0] == [2]",
    InvalidArgumentError,
)
parse_example_op.refuses(
    (
        text(*_MESSAGES),
        text(),
        [],
        [text("b", shape=())],
        [np.zeros(0, np.float32)],
        {"sparse_types": [], "dense_shapes": [[1]], "Tdense": [dtypes.float32]},
    ),
    "Name: <unknown>, Key: b, Index: 2.  Number of float values != expected.  Values size: 2",
    InvalidArgumentError,
)


@export("io.parse_example", "parse_example")
def parse_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, Any]:
    """The features of a batch of serialized Example messages as tensors.

    Args:
      serialized: A vector of strings, each a serialized Example.
      features: What to read, by key: FixedLenFeature and FixedLenSequenceFeature become tensors whose first
        axis is the batch, VarLenFeature and SparseFeature become SparseTensors.
      name: A name for the operation.
      example_names: A vector of names for the examples, which errors mention; None for no names.

    Returns:
      A dict of tensors and SparseTensors with the keys of `features`.

    Raises:
      ValueError: If a feature is none of those, or lacks a type or a shape.
      InvalidArgumentError: When the step runs and a message cannot be parsed, lacks a feature that has no
        default, or has one of another type or size.
    """
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    features = with_open_length(features)
    split = Split(features, OF_EXAMPLES)
    return merged(features, _parsed(serialized, split, name, example_names))


OF_EXAMPLES = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def with_open_length(features: Mapping[str, Any]) -> dict[str, Any]:
    """The features, sequences of rows with the number of rows left open."""
    opened = dict(features)
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            opened[key] = feature._replace(shape=[None, *feature.shape])
    return opened


def merged(features: Mapping[str, Any], tensors: dict[str, Any]) -> dict[str, Any]:
    """The tensors by key, those of SparseFeatures put together from their parts."""
    results = dict(tensors)
    for key, feature in sorted(features.items()):
        if isinstance(feature, SparseFeature):
            ids = [results[index_key] for index_key in index_keys(feature)]
            results[key] = sparse_ops.sparse_merge(
                ids[0] if isinstance(feature.index_key, str) else ids,
                results[feature.value_key],
                vocab_size=feature.size,
                already_sorted=feature.already_sorted,
            )
    return {key: value for key, value in results.items() if key in features}


def _parsed(serialized: Any, split: Split, name: str | None, names: Any) -> dict[str, Any]:
    with name_scope(name, "ParseExample", [serialized, names]):
        split.check_disjoint()
        defaults = split.default_tensors()
        *sparse_parts, dense_values = parse_example_op(
            serialized,
            [] if names is None else names,
            list(split.sparse),
            list(split.dense),
            defaults,
            sparse_types=list(split.sparse.values()),
            dense_shapes=split.shapes,
            name=name,
        )
        return split.results(tuple(sparse_parts), dense_values)


parse_example_v2_op = Op(
    "ParseExampleV2",
    "serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
    "dense_defaults: Tdense -> sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
    "sparse_shapes: num_sparse * int64, dense_values: Tdense, ragged_values: ragged_value_types, "
    "ragged_row_splits: ragged_split_types",
    Tdense=FEATURE_TYPES,
    num_sparse=attr("int", minimum=0),
    sparse_types=FEATURE_TYPES,
    ragged_value_types=FEATURE_TYPES,
    ragged_split_types=attr("list(type)", allowed=INDICES, minimum=0),
    dense_shapes=attr("list(shape)", minimum=0),
    on_host=True,
    differentiable=False,
)


@parse_example_v2_op.shape
def _parse_example_v2_shape(
    serialized,
    names,
    sparse_keys,
    dense_keys,
    ragged_keys,
    dense_defaults,
    *,
    num_sparse,
    sparse_types,
    Tdense,
    dense_shapes,
    ragged_value_types,
    ragged_split_types,
):
    check_counts(num_sparse=[None] * num_sparse, sparse_types=sparse_types)
    check_counts(dense_types=Tdense, dense_shapes=dense_shapes)
    check_counts(ragged_value_types=ragged_value_types, ragged_split_types=ragged_split_types)
    if serialized.ndims not in (None, 0, 1):
        raise ShapeError(f"serialized must be a scalar or a vector, but has shape {serialized}")
    if serialized.tuple is None:
        return [None] * (3 * num_sparse + len(Tdense) + 2 * len(ragged_value_types))
    batch = list(serialized.tuple)
    return [
        *sparse_shapes_of(num_sparse, len(batch) + 1),
        *([*batch, *shape.tuple] for shape in dense_shapes),
        *([[None]] * (2 * len(ragged_value_types))),
    ]


@parse_example_v2_op.kernel
def _parse_example_v2_kernel(
    serialized,
    names,
    sparse_keys,
    dense_keys,
    ragged_keys,
    dense_defaults,
    *,
    sparse_types,
    Tdense,
    dense_shapes,
    ragged_value_types,
    ragged_split_types,
):
    keys = [[key.decode() for key in given.ravel()] for given in (sparse_keys, dense_keys, ragged_keys)]
    for kind, found, dtypes_of in zip(
        ("sparse", "dense", "ragged"), keys, (sparse_types, Tdense, ragged_value_types)
    ):
        if len(found) != len(dtypes_of):
            raise ShapeError(
                f"Expected {len(dtypes_of)} {kind}_keys, as there are types, but got {len(found)}"
            )
    wanted = [
        *sparse_wanted(keys[0], sparse_types),
        *dense_wanted(keys[1], Tdense, dense_shapes, dense_defaults),
    ]
    messages, blame = serialized.ravel().tolist(), Blame(names.ravel().tolist())
    ragged = read_columns(messages, sparse_wanted(keys[2], ragged_value_types), blame)
    splits = [
        np.concatenate([[0], np.cumsum(np.maximum(counts, 0))]).astype(dtype.numpy)
        for (counts, _), dtype in zip(ragged, ragged_split_types, strict=True)
    ]
    return [
        *tensors(messages, wanted, blame, single=not serialized.ndim),
        *(to_torch(values) for _, values in ragged),
        *map(to_torch, splits),
    ]


def _parsed_with_ragged(
    serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults, dense_shapes
):
    keys = [[key.decode() for key in given] for given in (sparse_keys, dense_keys)]
    found = _parsed_plainly(serialized, *keys, dense_shapes, dense_defaults)
    ragged = [[_values_of(message, key.decode()) for message in serialized] for key in ragged_keys]
    splits = [np.cumsum([0, *map(len, rows)]) for rows in ragged]
    return [*found, *([value for row in rows for value in row] for rows in ragged), *splits]


parse_example_v2_op.samples(
    (
        text(*_MESSAGES),
        text(),
        text("c"),
        text("a", "b"),
        text("b"),
        [_NO_DEFAULT, np.float32(-1).reshape(())],
        {
            "num_sparse": 1,
            "sparse_types": [dtypes.string],
            "dense_shapes": [[2], [None]],
            "Tdense": [dtypes.int64, dtypes.float32],
            "ragged_value_types": [dtypes.float32],
            "ragged_split_types": [dtypes.int32],
        },
    ),
    against=_parsed_with_ragged,
)

parse_single_example_op = Op(
    "ParseSingleExample",
    "serialized: string, dense_defaults: Tdense -> sparse_indices: num_sparse * int64, "
    "sparse_values: sparse_types, sparse_shapes: num_sparse * int64, dense_values: Tdense",
    num_sparse=_COUNT,
    sparse_keys=_KEYS,
    dense_keys=_KEYS,
    sparse_types=FEATURE_TYPES,
    Tdense=FEATURE_TYPES,
    dense_shapes=_SHAPES,
    on_host=True,
    differentiable=None,
)


@parse_single_example_op.shape
def _parse_single_example_shape(
    serialized,
    dense_defaults,
    *,
    sparse_keys,
    sparse_types,
    dense_keys,
    Tdense,
    dense_shapes,
    num_sparse,
):
    axes.of_rank(serialized, 0)
    check_counts(num_sparse=[None] * num_sparse, sparse_keys=sparse_keys, sparse_types=sparse_types)
    check_counts(dense_keys=dense_keys, dense_types=Tdense, dense_shapes=dense_shapes)
    _check_dense_shapes(dense_shapes)
    return sparse_shapes_of(num_sparse, 1) + list(dense_shapes)


@parse_single_example_op.kernel
def _parse_single_example_kernel(
    serialized, dense_defaults, *, sparse_keys, sparse_types, dense_keys, Tdense, dense_shapes, state
):
    if serialized.ndim:
        raise errors.invalid_argument(
            f"Expected serialized to be a scalar, got shape: {shape_text(serialized.shape)}"
        )
    made_of, wanted = state.get("wanted", ((), None))
    if wanted is None or any(old is not new for old, new in zip(made_of, dense_defaults, strict=True)):
        wanted = [
            *sparse_wanted(sparse_keys, sparse_types),
            *dense_wanted(dense_keys, Tdense, dense_shapes, dense_defaults),
        ]
        state["wanted"] = tuple(dense_defaults), wanted
    found = None if sparse_keys else plain_values(serialized.item(), wanted)
    if found is not None:
        return [to_torch(array) for array in found]
    return tensors([serialized.item()], wanted, Blame(None), single=True)


def _parsed_one(serialized, dense_defaults, sparse_keys, dense_keys, dense_shapes):
    parts = [_parsed_sparse([serialized.item()], key) for key in sparse_keys]
    dense_values = [
        _parsed_dense([serialized.item()], *feature)[0]
        for feature in zip(dense_keys, dense_shapes, dense_defaults, strict=True)
    ]
    return [*by_kind([(indices[:, 1:], values, size[1:]) for indices, values, size in parts]), *dense_values]


parse_single_example_op.samples(
    (
        text(_MESSAGES[0], shape=()),
        [_NO_DEFAULT, np.zeros((), np.float32)],
        {
            "num_sparse": 1,
            "sparse_keys": ["c"],
            "dense_keys": ["a", "b"],
            "sparse_types": [dtypes.string],
            "dense_shapes": [[2], [None, 1]],
            "Tdense": [dtypes.int64, dtypes.float32],
        },
    ),
    against=_parsed_one,
)
parse_single_example_op.refuses(
    (
        text(_MESSAGES[1], shape=()),
        [np.zeros(0, np.float32)],
        {
            "num_sparse": 0,
            "sparse_keys": [],
            "dense_keys": ["b"],
            "sparse_types": [],
            "dense_shapes": [[]],
            "Tdense": [dtypes.float32],
        },
    ),
    "Feature: b (data type: float) is required but could not be found.",
    InvalidArgumentError,
)


@export("io.parse_single_example", "parse_single_example")
def parse_single_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, Any]:
    """The features of one serialized Example message as tensors.

    Args:
      serialized: A scalar string, the serialized Example.
      features: What to read, by key; see `tf.io.parse_example`.
      name: A name for the operation.
      example_names: A scalar string that errors mention; None for no name.

    Returns:
      A dict of tensors and SparseTensors with the keys of `features`, without an axis for the batch.

    Raises:
      ValueError: If a feature is of no known kind, or lacks a type or a shape.
      InvalidArgumentError: When the step runs and the message does not fit `features`.
    """
    if not features:
        raise ValueError("Missing features.")
    features = with_open_length(features)
    split = Split(features, OF_EXAMPLES)
    if example_names is not None:
        return merged(features, _parsed_with_name(serialized, split, name, example_names))
    with name_scope(name, "ParseSingleExample", [serialized]):
        serialized = convert_to_tensor(serialized, name="serialized")
        split.check_disjoint()
        *sparse_parts, dense_values = parse_single_example_op(
            serialized,
            split.default_tensors(),
            num_sparse=len(split.sparse),
            sparse_keys=list(split.sparse),
            sparse_types=list(split.sparse.values()),
            dense_keys=list(split.dense),
            dense_shapes=split.shapes,
            name=name,
        )
        results = split.results(tuple(sparse_parts), dense_values)
    return merged(features, results)


def _parsed_with_name(serialized: Any, split: Split, name: str | None, example_name: Any) -> dict[str, Any]:
    """A batch of one, so that errors can name it."""
    with name_scope(name, "ParseSingleExample", [serialized, example_name]):
        serialized = shapes.expand_dims(_scalar(serialized, "serialized"), 0)
        names = shapes.expand_dims(_scalar(example_name, "names"), 0)
        results = _parsed(serialized, split, name, names)
        for key in split.dense:
            results[key] = shapes.squeeze(results[key], [0], name=f"Squeeze_{node_name(key)}")
        for key in split.sparse:
            found = results[key]
            results[key] = SparseTensor(
                slicing.slice(found.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{node_name(key)}"),
                found.values,
                slicing.slice(found.dense_shape, [1], [-1], name=f"Squeeze_Shape_{node_name(key)}"),
            )
        return results


def _scalar(value: Any, what: str) -> Tensor:
    """The tensor, which is a scalar: known here, or checked in the step."""
    value = convert_to_tensor(value)
    message = f"Input {what} must be a scalar"
    if value.shape.ndims is not None:
        if value.shape.ndims:
            raise ValueError(message)
        return value
    title = what.title()
    is_scalar = debugging.Assert(binary.equal(shapes.rank(value), 0), [message], name=f"{title}IsScalar")
    return grouping.with_dependencies([is_scalar], value, name=f"{title}Dependencies")


def row_parser(op: Operation) -> Callable[[np.ndarray], list[Any]] | None:
    """What a ParseSingleExample does, for a vector of messages at once: a row for each. None where the rows
    could differ in size, or depend on more than the messages.
    """
    attrs, defaults = op.attrs, [constant_value(tensor) for tensor in op.inputs[1:]]
    if attrs["num_sparse"] or op.control_inputs or any(default is None for default in defaults):
        return None
    if not all(shape.is_fully_defined() for shape in attrs["dense_shapes"]):
        return None
    wanted = dense_wanted(attrs["dense_keys"], attrs["Tdense"], attrs["dense_shapes"], defaults)
    return lambda serialized: tensors(serialized.tolist(), wanted, Blame(None))
