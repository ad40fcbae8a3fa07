"""Lookup tables as ops: made, filled from tensors or from lines of a file, asked, changed, exported.

Each op is there twice, as TensorFlow has it: on a reference (a string), and as `...V2` on a resource.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.io.examples import shown
from tideflow.ops.helpers import axes
from tideflow.ops.strings.numbers import parsed_number
from tideflow.runtime.tables import DenseTable, StaticTable, Table
from tideflow.runtime.values import to_numpy, to_torch


def _refusal(message: str) -> InvalidArgumentError:
    return errors.invalid_argument(message)


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


# ------------------------------------------------------------------------------------------------ making

_NAMING = {"container": "", "shared_name": "", "use_node_name_sharing": False}
_TYPES = {"key_dtype": attr("type"), "value_dtype": attr("type")}
_SCALAR = TensorShape(())


def _made(make: Callable[[str, str], Table], resources: Any, node: Any, container: str, name: str) -> Table:
    """The session's table of that name, made on first use; one of other types is refused."""
    name = name or node.name
    table = resources.get_or_create(container, "table", name, lambda: make(container, name))
    key_dtype = node.attrs["key_dtype"]
    value_dtype = node.attrs["value_dtype"]
    if (table.key_dtype, table.value_dtype) != (key_dtype, value_dtype):
        raise _refusal(
            f"Conflicting key/value dtypes {key_dtype.name}->{value_dtype.name} with "
            f"{table.key_dtype.name}-{table.value_dtype.name} for table {name}"
        )
    return table


def _table_op(name: str, output: str, kind: type[Table], of_tensors: bool, knows_shapes: bool) -> Op:
    """An op that makes a table of which the graph alone decides all."""
    shape_attr = {"value_shape": attr("shape", ())} if of_tensors else {}
    op = Op(
        name,
        f" -> table_handle: {output}",
        **_NAMING,
        **_TYPES,
        **shape_attr,
        stateful=True,
        handle=True,
        differentiable=False,
    )

    def handle_shape(value_shape: TensorShape = _SCALAR) -> Any:
        if output != "resource":
            return [2]
        return TableShape(_SCALAR, value_shape) if knows_shapes else []

    if of_tensors:

        @op.shape
        def _shape(*, value_shape):
            return handle_shape(value_shape)

        @op.kernel
        def kernel(*, container, shared_name, key_dtype, value_dtype, value_shape, resources, node):
            if value_shape.ndims != 1:
                raise _refusal(
                    f"Default value must be a vector, got shape {axes.brackets(value_shape.tuple)}"
                )
            return _made(
                lambda where, name: kind(where, name, key_dtype, value_dtype, value_shape.tuple),
                resources,
                node,
                container,
                shared_name,
            )

    else:

        @op.shape
        def _shape():
            return handle_shape()

        @op.kernel
        def kernel(*, container, shared_name, key_dtype, value_dtype, resources, node):
            return _made(
                lambda where, name: kind(where, name, key_dtype, value_dtype),
                resources,
                node,
                container,
                shared_name,
            )

    sample = {"key_dtype": dtypes.string, "value_dtype": dtypes.int64}
    op.samples(({**sample, "value_shape": [2]} if of_tensors else sample,))
    return op


hash_table_op = _table_op("HashTable", "Ref(string)", StaticTable, False, False)
hash_table_v2_op = _table_op("HashTableV2", "resource", StaticTable, False, False)
mutable_hash_table_op = _table_op("MutableHashTable", "Ref(string)", Table, False, False)
mutable_hash_table_v2_op = _table_op("MutableHashTableV2", "resource", Table, False, True)
mutable_tensors_table_op = _table_op("MutableHashTableOfTensors", "Ref(string)", Table, True, False)
mutable_tensors_table_v2_op = _table_op("MutableHashTableOfTensorsV2", "resource", Table, True, True)
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
)


@mutable_dense_hash_table_op.shape
def _mutable_dense_hash_table_shape(empty_key):
    return [2]


@mutable_dense_hash_table_op.kernel
def _mutable_dense_hash_table_kernel(empty_key, *, resources, node):
    return _dense_table(empty_key, None, resources, node)


mutable_dense_hash_table_op.samples((np.array(-1), {"value_dtype": dtypes.float32}))

mutable_dense_hash_table_v2_op = Op(
    "MutableDenseHashTableV2",
    "empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource",
    **_NAMING,
    **_TYPES,
    **_BUCKETS,
    stateful=True,
    differentiable=False,
)


@mutable_dense_hash_table_v2_op.shape
def _mutable_dense_hash_table_v2_shape(empty_key, deleted_key, *, value_shape):
    return TableShape(empty_key, value_shape, has_buckets=True)


@mutable_dense_hash_table_v2_op.kernel
def _mutable_dense_hash_table_v2_kernel(empty_key, deleted_key, *, resources, node):
    return _dense_table(empty_key, deleted_key, resources, node)


mutable_dense_hash_table_v2_op.samples((np.array(-1), np.array(-2), {"value_dtype": dtypes.float32}))

# ------------------------------------------------------------------------------------------------- using


def _on_tables(name: str, inputs: str, outputs: str, **attrs: Any) -> list[Op]:
    """The op on references and, as V2, on resources. What they need of a table is no sample's to give."""
    ops = []
    for suffix, handle in (("", "Ref(string)"), ("V2", "resource")):
        rest = f", {inputs}" if inputs else ""
        result = f" -> {outputs}" if outputs else ""
        op = Op(
            f"{name}{suffix}",
            f"table_handle: {handle}{rest}{result}",
            stateful=bool(suffix),
            differentiable=False,
            **attrs,
        )
        op.samples(covered_by="tests/lookup/test_lookup.py")
        ops.append(op)
    return ops


find_op, find_v2_op = _on_tables("LookupTableFind", "keys: Tin, default_value: Tout", "values: Tout")
insert_op, insert_v2_op = _on_tables("LookupTableInsert", "keys: Tin, values: Tout", "")
size_op, size_v2_op = _on_tables("LookupTableSize", "", "size: int64")
export_op, export_v2_op = _on_tables("LookupTableExport", "", "keys: Tkeys, values: Tvalues")
import_op, import_v2_op = _on_tables("LookupTableImport", "keys: Tin, values: Tout", "")
initialize_op, initialize_v2_op = _on_tables("InitializeTable", "keys: Tkey, values: Tval", "")
initialize_from_file_op, initialize_from_file_v2_op = _on_tables(
    "InitializeTableFromTextFile",
    "filename: string",
    "",
    key_index=attr("int", minimum=-2),
    value_index=attr("int", minimum=-2),
    vocab_size=attr("int", -1, minimum=-1),
    delimiter="\t",
    offset=0,
)


def _check_signature(table: Table, node: Any, keys: DType, values: DType | None, result: str = "") -> None:
    """Refuses keys and values of other types than the table's."""
    wrong_values = values is not None and values is not table.value_dtype
    if keys is table.key_dtype and not wrong_values:
        return
    handle = "resource" if node.type.endswith("V2") else "string_ref"
    have = ", ".join(dtype.name for dtype in (keys, values) if dtype is not None)
    expected = [table.key_dtype] if values is None else [table.key_dtype, table.value_dtype]
    raise _refusal(
        f"Signature mismatch, have: {handle}, {have}->{result and values.name} expected: {handle}, "
        f"{', '.join(dtype.name for dtype in expected)}->{result and table.value_dtype.name}"
    )


remove_v2_op = Op(
    "LookupTableRemoveV2",
    "table_handle: resource, keys: Tin",
    stateful=True,
    differentiable=False,
)


@remove_v2_op.shape
def _remove_v2_shape(table_handle, keys):
    return []


@remove_v2_op.kernel
def _remove_v2_kernel(table_handle, keys, *, Tin, node):
    _check_signature(table_handle, node, Tin, None)
    table_handle.remove(to_numpy(keys))


remove_v2_op.samples(covered_by="tests/lookup/test_lookup.py")


def _find_family_shape(table_handle, keys, default_value):
    if not isinstance(table_handle, TableShape):
        return None
    if keys.ndims is None or table_handle.key_shape.ndims is None:
        return None
    batch = keys.tuple[: keys.ndims - table_handle.key_shape.ndims]
    return TensorShape(batch).concatenate(table_handle.value_shape)


find_v2_op.shape(_find_family_shape)
find_op.shape(_find_family_shape)


def _insert_family_shape(table_handle, keys, values):
    return []


insert_v2_op.shape(_insert_family_shape)
insert_op.shape(_insert_family_shape)


def _import_family_shape(table_handle, keys, values):
    axes.merged(axes.of_rank(keys, 1), values)


initialize_v2_op.shape(_import_family_shape)
initialize_op.shape(_import_family_shape)
import_v2_op.shape(_import_family_shape)
import_op.shape(_import_family_shape)


def _initialize_from_file_family_shape(table_handle, filename):
    axes.of_rank(filename, 0)


initialize_from_file_v2_op.shape(_initialize_from_file_family_shape)
initialize_from_file_op.shape(_initialize_from_file_family_shape)


def _size_family_shape(table_handle):
    return []


size_v2_op.shape(_size_family_shape)
size_op.shape(_size_family_shape)


def _export_family_shape(table_handle):
    if not isinstance(table_handle, TableShape):
        return [None if table_handle.ndims == 1 else [None], None]
    shapes = [table_handle.key_shape, table_handle.value_shape]
    if table_handle.has_buckets:
        shapes = [TensorShape([1]) if shape.ndims == 0 else shape for shape in shapes]
    keys, values = (TensorShape([None]).concatenate(shape) for shape in shapes)
    return [None if table_handle.key_shape.ndims else keys, values]  # TensorFlow takes keys for scalars


export_v2_op.shape(_export_family_shape)
export_op.shape(_export_family_shape)


def _find_family_kernel(table_handle, keys, default_value, *, Tin, Tout, node):
    _check_signature(table_handle, node, Tin, Tout, "values")
    return to_torch(table_handle.find(to_numpy(keys), to_numpy(default_value)))


find_v2_op.kernel(_find_family_kernel)
find_op.kernel(_find_family_kernel)


def _insert_family_kernel(table_handle, keys, values, *, Tin, Tout, node):
    _check_signature(table_handle, node, Tin, Tout)
    table_handle.insert(to_numpy(keys), to_numpy(values))


insert_v2_op.kernel(_insert_family_kernel)
insert_op.kernel(_insert_family_kernel)


def _import_family_kernel(table_handle, keys, values, *, Tin, Tout, node):
    _check_signature(table_handle, node, Tin, Tout)
    table_handle.import_items(to_numpy(keys), to_numpy(values))


import_v2_op.kernel(_import_family_kernel)
import_op.kernel(_import_family_kernel)


def _size_family_kernel(table_handle):
    return torch.tensor(table_handle.size(), dtype=torch.int64)


size_v2_op.kernel(_size_family_kernel)
size_op.kernel(_size_family_kernel)


def _export_family_kernel(table_handle, *, Tkeys, Tvalues, node):
    _check_signature(table_handle, node, Tkeys, Tvalues)
    keys, values = table_handle.export_items()
    return to_torch(keys), to_torch(values)


export_v2_op.kernel(_export_family_kernel)
export_op.kernel(_export_family_kernel)

# ----------------------------------------------------------------------------------------------- filling


def _static(table: Table) -> StaticTable:
    if not isinstance(table, StaticTable):
        raise _refusal(f"Table {table.container} {table.name} is not initializable")
    return table


def _initialize_family_kernel(table_handle, keys, values, *, Tkey, Tval, node):
    _check_signature(table_handle, node, Tkey, Tval)
    _static(table_handle).initialize(to_numpy(keys), to_numpy(values))


initialize_v2_op.kernel(_initialize_family_kernel)
initialize_op.kernel(_initialize_family_kernel)
WHOLE_LINE, LINE_NUMBER = -2, -1  # instead of a column of a text file


def _check_column(title: str, word: str, index: int, dtype: DType, integers_too: bool = False) -> None:
    if index == LINE_NUMBER and dtype is not dtypes.int64:
        raise _refusal(
            f"{title} index for line number requires table {word} dtype of int64, got {dtype.name}"
        )
    if index == WHOLE_LINE and dtype is not dtypes.string and not (integers_too and dtype.is_integer):
        raise _refusal(
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
        raise _refusal(f"{path}: {error}") from None
    if not data:
        raise errors.out_of_range(f"Read less bytes than requested: {path} is empty")
    lines = data.removesuffix(b"\n").split(b"\n")
    lines = lines if limit < 0 else lines[:limit]
    if b"" in lines:
        position = sum(len(line) + 1 for line in lines[: lines.index(b"") + 1])
        raise _refusal(f"Invalid content in {path}: empty line found at position {position}.")
    if limit > len(lines):
        raise _refusal(f"Invalid vocab_size in {path}: expected {limit} but got {len(lines)}")
    return lines


def _cell(line: int, text: bytes, index: int, delimiter: bytes, path: str) -> bytes:
    cells = text.split(delimiter)
    if index >= len(cells):
        raise _refusal(
            f"Invalid number of columns in {path} line {line} ({shown(text)}) : expected {index + 1} got "
            f"{len(cells)}"
        )
    return cells[index]


def _number(line: int, text: bytes, dtype: DType) -> Any:
    number = parsed_number(text, dtype)
    if number is None:
        raise _refusal(f"Field {shown(text)} in line {line} is not a valid {dtype.name}.")
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


def _initialize_from_file_family_kernel(
    table_handle, filename, *, key_index, value_index, vocab_size, delimiter, offset
):
    table = _static(table_handle)
    _check_column("Key", "key", key_index, table.key_dtype, integers_too=True)
    _check_column("Value", "value", value_index, table.value_dtype)
    separator = delimiter.encode()
    if len(separator) != 1:
        raise _refusal("delimiter should be only 1 char")
    path = filename.item().decode(errors="surrogateescape")
    lines = _lines(path, vocab_size)
    keys = _column(lines, key_index, table.key_dtype, separator, path, offset)
    values = _column(lines, value_index, table.value_dtype, separator, path, offset)
    table.initialize(keys, values)


initialize_from_file_v2_op.kernel(_initialize_from_file_family_kernel)
initialize_from_file_op.kernel(_initialize_from_file_family_kernel)
