"""Lookup tables as ops: made, filled from tensors or from lines of a file, asked, changed, exported.

Each op is there twice, as TensorFlow has it: on a reference to a string and, as `...V2`, on a resource.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.io.examples import shown
from tideflow.ops.helpers import axes
from tideflow.ops.helpers.samples import text
from tideflow.ops.helpers.session_objects import REFERENCE, RESOURCE
from tideflow.ops.strings.numbers import parsed_number
from tideflow.runtime.tables import DenseTable, StaticTable, Table
from tideflow.runtime.values import to_numpy, to_torch


class TableShape(TensorShape):
    """The (scalar) shape of a handle, which also knows the shapes of the table's keys and values, and whether
    it exports them as buckets: as rows, also where they are scalars.
    """

    __slots__ = ("has_buckets", "key_shape", "value_shape")

    def __init__(self, key_shape: TensorShape, value_shape: TensorShape, has_buckets: bool = False):
        super().__init__(())
        self.key_shape = key_shape
        self.value_shape = value_shape
        self.has_buckets = has_buckets

    def merge_with(self, other: Any) -> TensorShape:
        super().merge_with(other)
        return self


_SCALAR = TensorShape(())
_NAMING = {"container": "", "shared_name": "", "use_node_name_sharing": False}
_TYPES = {"key_dtype": attr("type"), "value_dtype": attr("type")}
_TESTS = "tests/ops/state/test_lookup_tables.py"


def _made(make: Callable[[str, str], Table], resources: Any, node: Any, container: str, name: str) -> Table:
    """The session's table of that name, made on first use; one of other types is refused."""
    name = name or node.name
    table = resources.get_or_create(container, "table", name, lambda: make(container, name))
    key_dtype = node.attrs["key_dtype"]
    value_dtype = node.attrs["value_dtype"]
    if (table.key_dtype, table.value_dtype) != (key_dtype, value_dtype):
        raise errors.invalid_argument(
            f"Conflicting key/value dtypes {key_dtype.name}->{value_dtype.name} with "
            f"{table.key_dtype.name}-{table.value_dtype.name} for table {name}"
        )
    return table


def _add_samples(op: Op, *inputs: Any, **attrs: Any) -> None:
    """A reference tells where the table is kept. Nothing of a resource can be seen but by other ops."""
    if not op.outputs[0].is_ref:
        op.samples(covered_by=_TESTS)
        return
    op.samples(
        (*inputs, {**attrs, "shared_name": "words"}),
        against=lambda *inputs, container, shared_name: text(container, shared_name),
    )


def _scalars_table_op(
    name: str, output: str, kind: type[Table], handle_shape: Any, is_model_state: bool = False
) -> Op:
    """An op that makes a table of which the graph alone decides all. Its values are scalars."""
    op = Op(
        name,
        f" -> table_handle: {output}",
        **_NAMING,
        **_TYPES,
        stateful=True,
        handle=True,
        differentiable=False,
        is_model_state=is_model_state,
    )
    op.shape(lambda: handle_shape)

    @op.kernel
    def _kernel(*, container, shared_name, key_dtype, value_dtype, resources, node):
        return _made(
            lambda where, name: kind(where, name, key_dtype, value_dtype),
            resources,
            node,
            container,
            shared_name,
        )

    _add_samples(op, key_dtype=dtypes.string, value_dtype=dtypes.int64)
    return op


hash_table_op = _scalars_table_op("HashTable", REFERENCE, StaticTable, [2])
hash_table_v2_op = _scalars_table_op("HashTableV2", RESOURCE, StaticTable, [])

mutable_hash_table_op = _scalars_table_op("MutableHashTable", REFERENCE, Table, [2], is_model_state=True)
mutable_hash_table_v2_op = _scalars_table_op(
    "MutableHashTableV2", RESOURCE, Table, TableShape(_SCALAR, _SCALAR), is_model_state=True
)


def _vectors_table_op(name: str, output: str, is_model_state: bool) -> Op:
    """An op that makes a table whose values are vectors."""
    op = Op(
        name,
        f" -> table_handle: {output}",
        **_NAMING,
        **_TYPES,
        value_shape=attr("shape", ()),
        stateful=True,
        handle=True,
        differentiable=False,
        is_model_state=is_model_state,
    )

    @op.shape
    def _shape(*, value_shape):
        return TableShape(_SCALAR, value_shape) if output == RESOURCE else [2]

    @op.kernel
    def _kernel(*, container, shared_name, key_dtype, value_dtype, value_shape, resources, node):
        if value_shape.ndims != 1:
            raise errors.invalid_argument(
                f"Default value must be a vector, got shape {axes.brackets(value_shape.tuple)}"
            )
        return _made(
            lambda where, name: Table(where, name, key_dtype, value_dtype, value_shape.tuple),
            resources,
            node,
            container,
            shared_name,
        )

    _add_samples(op, key_dtype=dtypes.string, value_dtype=dtypes.int64, value_shape=[2])
    return op


mutable_tensors_table_op = _vectors_table_op("MutableHashTableOfTensors", REFERENCE, is_model_state=True)
mutable_tensors_table_v2_op = _vectors_table_op("MutableHashTableOfTensorsV2", RESOURCE, is_model_state=True)

_BUCKETS = {
    "value_shape": attr("shape", ()),
    "initial_num_buckets": 131072,
    "max_load_factor": 0.800000011920929,
}


def _dense_table(empty_key: Any, deleted_key: Any, resources: Any, node: Any) -> Table:
    attrs = node.attrs

    def make(container: str, name: str) -> Table:
        return DenseTable(
            container,
            name,
            attrs["key_dtype"],
            attrs["value_dtype"],
            attrs["value_shape"].tuple,
            to_numpy(empty_key).copy(),
            None if deleted_key is None else to_numpy(deleted_key).copy(),
            attrs["initial_num_buckets"],
            attrs["max_load_factor"],
        )

    return _made(make, resources, node, attrs["container"], attrs["shared_name"])


mutable_dense_hash_table_op = Op(
    "MutableDenseHashTable",
    "empty_key: key_dtype -> table_handle: Ref(string)",
    **_NAMING,
    **_TYPES,
    **_BUCKETS,
    stateful=True,
    differentiable=False,
    is_model_state=True,
)


@mutable_dense_hash_table_op.shape
def _mutable_dense_hash_table_shape(empty_key):
    return [2]


@mutable_dense_hash_table_op.kernel
def _mutable_dense_hash_table_kernel(empty_key, *, resources, node):
    return _dense_table(empty_key, None, resources, node)


_add_samples(mutable_dense_hash_table_op, np.array(-1), value_dtype=dtypes.float32)

mutable_dense_hash_table_v2_op = Op(
    "MutableDenseHashTableV2",
    "empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource",
    **_NAMING,
    **_TYPES,
    **_BUCKETS,
    stateful=True,
    differentiable=False,
    is_model_state=True,
)


@mutable_dense_hash_table_v2_op.shape
def _mutable_dense_hash_table_v2_shape(empty_key, deleted_key, *, value_shape):
    return TableShape(empty_key, value_shape, has_buckets=True)


@mutable_dense_hash_table_v2_op.kernel
def _mutable_dense_hash_table_v2_kernel(empty_key, deleted_key, *, resources, node):
    return _dense_table(empty_key, deleted_key, resources, node)


mutable_dense_hash_table_v2_op.samples(covered_by=_TESTS)


def _on_table(name: str, signature: str, shape: Callable, kernel: Callable, **attrs: Any) -> Op:
    """An op that does something with a table; like TensorFlow's list of op types, it calls only ops on
    resources stateful.
    """
    is_resource = signature.startswith("table_handle: resource")
    op = Op(name, signature, stateful=is_resource, differentiable=False, **attrs)
    op.shape(shape)
    op.kernel(kernel)
    op.samples(covered_by=_TESTS)
    return op


def _check_signature(table: Table, node: Any, keys: DType, values: DType | None, result: str = "") -> None:
    """Refuses keys and values of other types than the table's."""
    wrong_values = values is not None and values is not table.value_dtype
    if keys is table.key_dtype and not wrong_values:
        return
    handle = "resource" if node.type.endswith("V2") else "string_ref"
    have = ", ".join(dtype.name for dtype in (keys, values) if dtype is not None)
    expected = [table.key_dtype] if values is None else [table.key_dtype, table.value_dtype]
    raise errors.invalid_argument(
        f"Signature mismatch, have: {handle}, {have}->{result and values.name} expected: {handle}, "
        f"{', '.join(dtype.name for dtype in expected)}->{result and table.value_dtype.name}"
    )


def _find_shape(table_handle, keys, default_value):
    if not isinstance(table_handle, TableShape):
        return None
    if keys.ndims is None or table_handle.key_shape.ndims is None:
        return None
    batch = keys.tuple[: keys.ndims - table_handle.key_shape.ndims]
    return TensorShape(batch).concatenate(table_handle.value_shape)


def _find(table_handle, keys, default_value, *, Tin, Tout, node):
    _check_signature(table_handle, node, Tin, Tout, "values")
    return to_torch(table_handle.find(to_numpy(keys), to_numpy(default_value)))


find_op = _on_table(
    "LookupTableFind",
    "table_handle: Ref(string), keys: Tin, default_value: Tout -> values: Tout",
    _find_shape,
    _find,
)
find_v2_op = _on_table(
    "LookupTableFindV2",
    "table_handle: resource, keys: Tin, default_value: Tout -> values: Tout",
    _find_shape,
    _find,
)


def _nothing(*inputs: Any) -> list:
    return []


def _insert(table_handle, keys, values, *, Tin, Tout, node):
    _check_signature(table_handle, node, Tin, Tout)
    table_handle.insert(to_numpy(keys), to_numpy(values))


insert_op = _on_table(
    "LookupTableInsert", "table_handle: Ref(string), keys: Tin, values: Tout", _nothing, _insert
)
insert_v2_op = _on_table(
    "LookupTableInsertV2", "table_handle: resource, keys: Tin, values: Tout", _nothing, _insert
)


def _remove(table_handle, keys, *, Tin, node):
    _check_signature(table_handle, node, Tin, None)
    table_handle.remove(to_numpy(keys))


remove_v2_op = _on_table("LookupTableRemoveV2", "table_handle: resource, keys: Tin", _nothing, _remove)


def _size(table_handle):
    return torch.tensor(table_handle.size(), dtype=torch.int64)


size_op = _on_table("LookupTableSize", "table_handle: Ref(string) -> size: int64", _nothing, _size)
size_v2_op = _on_table("LookupTableSizeV2", "table_handle: resource -> size: int64", _nothing, _size)


def _export_shape(table_handle):
    if not isinstance(table_handle, TableShape):
        return [None if table_handle.ndims == 1 else [None], None]
    shapes = [table_handle.key_shape, table_handle.value_shape]
    if table_handle.has_buckets:
        shapes = [TensorShape([1]) if shape.ndims == 0 else shape for shape in shapes]
    keys, values = (TensorShape([None]).concatenate(shape) for shape in shapes)
    return [None if table_handle.key_shape.ndims else keys, values]  # TensorFlow takes keys for scalars


def _export(table_handle, *, Tkeys, Tvalues, node):
    _check_signature(table_handle, node, Tkeys, Tvalues)
    keys, values = table_handle.export_items()
    return to_torch(keys), to_torch(values)


export_op = _on_table(
    "LookupTableExport",
    "table_handle: Ref(string) -> keys: Tkeys, values: Tvalues",
    _export_shape,
    _export,
)
export_v2_op = _on_table(
    "LookupTableExportV2",
    "table_handle: resource -> keys: Tkeys, values: Tvalues",
    _export_shape,
    _export,
)


def _pairs_shape(table_handle, keys, values):
    axes.merged(axes.of_rank(keys, 1), values)


def _import(table_handle, keys, values, *, Tin, Tout, node):
    _check_signature(table_handle, node, Tin, Tout)
    table_handle.import_items(to_numpy(keys), to_numpy(values))


import_op = _on_table(
    "LookupTableImport", "table_handle: Ref(string), keys: Tin, values: Tout", _pairs_shape, _import
)
import_v2_op = _on_table(
    "LookupTableImportV2", "table_handle: resource, keys: Tin, values: Tout", _pairs_shape, _import
)


def _static(table: Table) -> StaticTable:
    if not isinstance(table, StaticTable):
        raise errors.invalid_argument(f"Table {table.container} {table.name} is not initializable")
    return table


def _initialize(table_handle, keys, values, *, Tkey, Tval, node):
    _check_signature(table_handle, node, Tkey, Tval)
    _static(table_handle).initialize(to_numpy(keys), to_numpy(values))


initialize_op = _on_table(
    "InitializeTable", "table_handle: Ref(string), keys: Tkey, values: Tval", _pairs_shape, _initialize
)
initialize_v2_op = _on_table(
    "InitializeTableV2", "table_handle: resource, keys: Tkey, values: Tval", _pairs_shape, _initialize
)

_FILE = {
    "key_index": attr("int", minimum=-2),
    "value_index": attr("int", minimum=-2),
    "vocab_size": attr("int", -1, minimum=-1),
    "delimiter": "\t",
    "offset": 0,
}

WHOLE_LINE, LINE_NUMBER = -2, -1  # instead of a column of a text file


def _check_column(title: str, word: str, index: int, dtype: DType, integers_too: bool = False) -> None:
    if index == LINE_NUMBER and dtype is not dtypes.int64:
        raise errors.invalid_argument(
            f"{title} index for line number requires table {word} dtype of int64, got {dtype.name}"
        )
    if index == WHOLE_LINE and dtype is not dtypes.string and not (integers_too and dtype.is_integer):
        raise errors.invalid_argument(
            f"{title} index for whole line requires table {word} dtype of string, got {dtype.name}"
        )


def _lines(path: str, limit: int) -> list[bytes]:
    """The lines of a file, or so many of them; none may be empty."""
    try:
        with open(path, "rb") as file:
            data = file.read().replace(b"\r", b"")
    except FileNotFoundError:
        raise errors.not_found(f"{path}; No such file or directory") from None
    except OSError as error:
        raise errors.invalid_argument(f"{path}: {error}") from None
    if not data:
        raise errors.out_of_range(f"Read less bytes than requested: {path} is empty")
    lines = data.removesuffix(b"\n").split(b"\n")
    lines = lines if limit < 0 else lines[:limit]
    if b"" in lines:
        position = sum(len(line) + 1 for line in lines[: lines.index(b"") + 1])
        raise errors.invalid_argument(f"Invalid content in {path}: empty line found at position {position}.")
    if limit > len(lines):
        raise errors.invalid_argument(f"Invalid vocab_size in {path}: expected {limit} but got {len(lines)}")
    return lines


def _cell(line: int, text: bytes, index: int, delimiter: bytes, path: str) -> bytes:
    cells = text.split(delimiter)
    if index >= len(cells):
        raise errors.invalid_argument(
            f"Invalid number of columns in {path} line {line} ({shown(text)}) : expected {index + 1} got "
            f"{len(cells)}"
        )
    return cells[index]


def _number(line: int, text: bytes, dtype: DType) -> Any:
    number = parsed_number(text, dtype)
    if number is None:
        raise errors.invalid_argument(f"Field {shown(text)} in line {line} is not a valid {dtype.name}.")
    return number


def _column(
    lines: list[bytes], index: int, dtype: DType, delimiter: bytes, path: str, offset: int
) -> np.ndarray:
    """The keys, or the values, that stand in a column of the lines."""
    if index == LINE_NUMBER:
        return np.arange(offset, offset + len(lines))
    cells = (
        lines if index == WHOLE_LINE else [_cell(*line, index, delimiter, path) for line in enumerate(lines)]
    )
    column = np.empty(len(cells), dtype.as_numpy_dtype)
    column[:] = cells if dtype is dtypes.string else [_number(*cell, dtype) for cell in enumerate(cells)]
    return column


def _file_shape(table_handle, filename):
    axes.of_rank(filename, 0)


def _initialize_from_file(table_handle, filename, *, key_index, value_index, vocab_size, delimiter, offset):
    table = _static(table_handle)
    _check_column("Key", "key", key_index, table.key_dtype, integers_too=True)
    _check_column("Value", "value", value_index, table.value_dtype)
    separator = delimiter.encode()
    if len(separator) != 1:
        raise errors.invalid_argument("delimiter should be only 1 char")
    path = filename.item().decode(errors="surrogateescape")
    lines = _lines(path, vocab_size)
    keys = _column(lines, key_index, table.key_dtype, separator, path, offset)
    values = _column(lines, value_index, table.value_dtype, separator, path, offset)
    table.initialize(keys, values)


initialize_from_file_op = _on_table(
    "InitializeTableFromTextFile",
    "table_handle: Ref(string), filename: string",
    _file_shape,
    _initialize_from_file,
    touches="files",
    reads_file="filename",
    **_FILE,
)
initialize_from_file_v2_op = _on_table(
    "InitializeTableFromTextFileV2",
    "table_handle: resource, filename: string",
    _file_shape,
    _initialize_from_file,
    touches="files",
    reads_file="filename",
    **_FILE,
)
