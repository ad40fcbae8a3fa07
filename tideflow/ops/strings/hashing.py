"""Strings and rows of data as numbers of a fixed size: hash buckets and fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import brackets
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import of_rank_at_least, scalar
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.samples import f32, i64, text
from tideflow.runtime.fingerprints import (
    fingerprint64,
    fingerprints,
    hash64,
    hashes,
    keyed_hash64,
    keyed_hashes,
)
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged

_BUCKETS = dict(num_buckets=attr("int", minimum=1), on_host=True, differentiable=False)


def _bucket(hashed: np.ndarray, num_buckets: int) -> Any:
    return to_torch(np.asarray(hashed % np.uint64(num_buckets)).astype(np.int64))


_STRINGS = text("", "a", "日本語", "x" * 20, "y" * 40, "z" * 200, shape=(2, 3))

_MANY = text(*(f"word{i:03}" for i in range(40)))


def _one_by_one(function: Callable[[bytes], int]) -> Callable:
    """The reference of a bucket op: every string on its own."""

    def reference(strings, num_buckets):
        found = [function(item) % num_buckets for item in strings.flat]
        return np.array(found, np.int64).reshape(strings.shape)

    return reference


def _add_bucket_samples(op: Op, function: Callable[[bytes], int]) -> None:
    op.samples(
        (_STRINGS, {"num_buckets": 2**62}),
        (_MANY, {"num_buckets": 7}),
        (_STRINGS[:0], {"num_buckets": 1}),
        (text("a", shape=()), {"num_buckets": 10}),
        against=_one_by_one(function),
    )


string_to_hash_bucket_op = Op("StringToHashBucket", "string_tensor: string -> output: int64", **_BUCKETS)
string_to_hash_bucket_op.shape(same_shape)


@string_to_hash_bucket_op.kernel
def _string_to_hash_bucket_kernel(string_tensor, *, num_buckets):
    return _bucket(hashes(string_tensor), num_buckets)


_add_bucket_samples(string_to_hash_bucket_op, hash64)
string_to_hash_bucket_op.refuses((_STRINGS, {"num_buckets": 0}), "num_buckets")


@export("strings.to_hash_bucket", "string_to_hash_bucket", ragged="values")
def string_to_hash_bucket(
    string_tensor: TensorOrRagged | None = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: TensorOrRagged | None = None,
) -> Tensor:
    """Assigns each string to one of so many buckets, by TensorFlow's first hash function.

    Args:
      string_tensor: A string tensor.
      num_buckets: How many buckets there are.
      name: A name for the operation.
      input: Another name of `string_tensor`.

    Returns:
      An int64 tensor of the shape of the strings, of numbers below `num_buckets`.
    """
    strings = renamed("input", input, "string_tensor", string_tensor)
    return string_to_hash_bucket_op(strings, num_buckets=num_buckets, name=name)


string_to_hash_bucket_fast_op = Op("StringToHashBucketFast", "input: string -> output: int64", **_BUCKETS)
string_to_hash_bucket_fast_op.shape(same_shape)


@string_to_hash_bucket_fast_op.kernel
def _string_to_hash_bucket_fast_kernel(input, *, num_buckets):
    return _bucket(fingerprints(input), num_buckets)


_add_bucket_samples(string_to_hash_bucket_fast_op, fingerprint64)


@export("strings.to_hash_bucket_fast", "string_to_hash_bucket_fast", ragged="values")
def string_to_hash_bucket_fast(input: TensorOrRagged, num_buckets: int, name: str | None = None) -> Tensor:
    """Assigns each string to one of so many buckets, by its fingerprint, which never changes.

    Args:
      input: A string tensor.
      num_buckets: How many buckets there are.
      name: A name for the operation.

    Returns:
      An int64 tensor of the shape of `input`, of numbers below `num_buckets`.
    """
    return string_to_hash_bucket_fast_op(input, num_buckets=num_buckets, name=name)


string_to_hash_bucket_strong_op = Op(
    "StringToHashBucketStrong", "input: string -> output: int64", key=attr("list(int)"), **_BUCKETS
)
string_to_hash_bucket_strong_op.shape(same_shape)


def _unsigned(key: Sequence[int]) -> tuple[int, int]:
    return key[0] % 2**64, key[1] % 2**64


@string_to_hash_bucket_strong_op.kernel
def _string_to_hash_bucket_strong_kernel(input, *, num_buckets, key):
    if len(key) != 2:
        raise errors.invalid_argument("Key must have 2 elements")
    return _bucket(keyed_hashes(input, _unsigned(key)), num_buckets)


string_to_hash_bucket_strong_op.samples(
    (_STRINGS, {"num_buckets": 2**62, "key": [1, -2]}),
    (_MANY, {"num_buckets": 7, "key": [1, -2]}),
    (_STRINGS[:0], {"num_buckets": 1, "key": [1, -2]}),
    against=_one_by_one(lambda item: keyed_hash64(item, _unsigned([1, -2]))),
)
string_to_hash_bucket_strong_op.refuses(
    (_STRINGS, {"num_buckets": 3, "key": [1]}), "Key must have 2 elements", InvalidArgumentError
)


@export("strings.to_hash_bucket_strong", "string_to_hash_bucket_strong", ragged="values")
def string_to_hash_bucket_strong(
    input: TensorOrRagged, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Tensor:
    """Assigns each string to one of so many buckets, by a hash under a key.

    Who does not know the key cannot choose strings that all fall into one bucket.

    Args:
      input: A string tensor.
      num_buckets: How many buckets there are.
      key: A list of two integers.
      name: A name for the operation.

    Returns:
      An int64 tensor of the shape of `input`, of numbers below `num_buckets`.

    Raises:
      InvalidArgumentError: In a step, where `key` has not two elements.
    """
    return string_to_hash_bucket_strong_op(input, num_buckets=num_buckets, key=key, name=name)


def _check_method(method: Any) -> None:
    if method != b"farmhash64":
        shown = method.decode() if isinstance(method, bytes) else method
        raise ShapeError(f"Unsupported method: {shown}", f"Unsupported fingerprint method: {shown}")


fingerprint_op = Op(
    "Fingerprint",
    "data: T, method: string -> fingerprint: uint8",
    host="method",
    on_host=True,
    differentiable=False,
)


@fingerprint_op.shape
def _fingerprint_shape(data, method):
    of_rank_at_least(data, 1, f"`data` should have at least one dimension: {brackets(data.tuple or ())}")
    scalar(method, "`method` should be a scalar string: ")
    if method is not None:
        _check_method(method)
    return [data.tuple[0] if data.tuple else None, 8]


def _as_bytes(numbers: np.ndarray) -> Any:
    return to_torch(np.ascontiguousarray(numbers, "<u8").view(np.uint8).reshape(-1, 8))


def _by_row(data: np.ndarray) -> Any:
    """The fingerprint of each row's memory."""
    rows = np.empty(len(data), dtype=object)
    rows[:] = [row.tobytes() for row in data]
    return _as_bytes(fingerprints(rows))


@fingerprint_op.kernel
@fingerprint_op.kernel("string")
def _fingerprint_kernel(data, method):
    _check_method(method)
    data = to_numpy(data)
    if data.ndim == 0:
        raise ShapeError("`data` should have at least one dimension: []")
    if data.dtype != object:
        return _by_row(data)
    found = fingerprints(data)
    return _as_bytes(found) if data.ndim == 1 else _by_row(found)


def _fingerprint_reference(data, method):
    """Of a row of numbers its memory, of a string itself, of a row of strings their fingerprints."""

    def of(row: Any) -> bytes:
        if isinstance(row, bytes):
            contents = row
        else:
            contents = b"".join(map(of, row)) if row.dtype == object else row.tobytes()
        return fingerprint64(contents).to_bytes(8, "little")

    return np.array([list(of(row)) for row in data], np.uint8).reshape(-1, 8)


fingerprint_op.samples(
    (text("a", "b"), b"farmhash64"),
    (_STRINGS, b"farmhash64"),
    (f32(3, 2), b"farmhash64"),
    (i64(20), b"farmhash64"),
    (f32(0, 2), b"farmhash64"),
    against=_fingerprint_reference,
)
fingerprint_op.refuses((f32(), b"farmhash64"), "Shape must be at least rank 1 but is rank 0")
fingerprint_op.refuses((f32(2), b"md5"), "Unsupported method: md5")


@export("fingerprint")
def fingerprint(data: TensorLike, method: TensorLike = "farmhash64", name: str | None = None) -> Tensor:
    """Computes eight bytes for each row of data that depend on nothing but its contents.

    Args:
      data: A tensor of any type and of at least one dimension; its rows are along the first axis.
      method: "farmhash64"; no other is supported.
      name: A name for the operation.

    Returns:
      A uint8 tensor [rows, 8].

    Raises:
      ValueError: Where `data` is a scalar, or `method` is another.
    """
    return fingerprint_op(data, method, name=name)
