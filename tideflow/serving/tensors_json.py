"""Tensors in JSON, as TensorFlow Serving's REST interface has them: rows (`instances`) or columns (`inputs`).

`_dense` says what a JSON value means as a tensor, and what is wrong with one that means none. NumPy makes the
same array of numbers much faster (`_quick_way`), and whatever is not plainly right is left to `_dense`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import orjson

from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.example_proto import Example
from tideflow.serving.calls import Array, Arrays, TensorSpec

_BYTES_SUFFIX = "_bytes"  # outputs with such names are written in base64
_LONGEST_QUOTE = 200
_CPP_NAMES = {"float32": "float", "float64": "double", "float16": "half"}  # TensorFlow's in messages
_NAN_OR_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"|\bInf\b')
_WRITE = orjson.OPT_SERIALIZE_NUMPY
_NATIVE = frozenset("bhilqBHILQfd?")  # kinds of arrays that orjson writes


# ------------------------------------------------------------------------------------------------- requests


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a request's body. NaN and infinities are numbers, as rapidjson has them."""
    if not body:
        raise errors.invalid_argument("JSON Parse error: The document is empty")
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        document = _parse_with_infinities(body, error)
    if not isinstance(document, dict):
        raise errors.invalid_argument(f"JSON Value: {_quote(document)} Is not object")
    return document


def _parse_with_infinities(body: bytes, error: orjson.JSONDecodeError) -> Any:
    if b"NaN" in body or b"Inf" in body:
        spelled = _NAN_OR_STRING.sub(lambda found: b"Infinity" if found[0] == b"Inf" else found[0], body)
        try:
            document = json.loads(spelled)
            if b"\\u" in spelled:
                json.dumps(document, ensure_ascii=False).encode()  # half of a surrogate pair is no text
            return document
        except json.JSONDecodeError as other:
            error = other  # type: ignore[assignment]
        except (ValueError, RecursionError):  # no text, a number of too many digits, too deep
            pass
    raise errors.invalid_argument(f"JSON Parse error: {error.msg} at offset: {error.pos}")


def signature_name(document: Mapping[str, Any]) -> str:
    """The signature that a request names, or the empty string."""
    name = document.get("signature_name", "")
    if not isinstance(name, str):
        raise errors.invalid_argument(
            f"JSON Value: {_quote(document)} not formatted correctly. 'signature_name' key must be a string "
            "value."
        )
    return name


def parse_inputs(
    document: Mapping[str, Any], specs: Mapping[str, TensorSpec], body: bytes
) -> tuple[Arrays, bool]:
    """The inputs of a predict request, and whether they came as rows. `body` is the document's text."""
    quick = _quick_way(body)
    if "instances" not in document:
        if "inputs" not in document:
            raise errors.invalid_argument("Missing 'inputs' or 'instances' key")
        return _columns(document["inputs"], specs, quick), False
    if "inputs" in document:
        raise errors.invalid_argument(
            f"JSON Value: {_quote(document)} Not formatted correctly expecting only one of 'inputs' or "
            "'instances' keys to exist "
        )
    instances = document["instances"]
    if not isinstance(instances, list):
        raise errors.invalid_argument(
            f"JSON Value: {_quote(document)} Excepting 'instances' to be an list/array"
        )
    if not instances:
        raise errors.invalid_argument(f"JSON Value: {_quote(document)} No values in 'instances' array")
    return _rows(instances, specs, quick), True


Quick: TypeAlias = "Callable[[Any, DType], Array | None]"


def _quick_way(body: bytes) -> Quick:
    """How arrays of a document may be made quickly. NumPy takes booleans, nulls and strings for numbers."""
    if (b"l" in body or b"r" in body) and any(word in body for word in (b"true", b"false", b"null")):
        return _none
    end = body.rfind(b'"')
    has_strings = not body.endswith((b'"instances', b'"inputs'), 0, end)  # after the key of the tensors
    return _discovered if has_strings or body[end + 1 : end + 20].lstrip()[:1] != b":" else _numbers


def _rows(instances: list[Any], specs: Mapping[str, TensorSpec], quick: Quick) -> Arrays:
    first = instances[0]
    if not isinstance(first, dict) or _is_base64(first):
        if len(specs) != 1:
            raise errors.invalid_argument(
                "instances is a plain list, but expecting list of objects as multiple input tensors required "
                "as per tensorinfo_map"
            )
        ((name, spec),) = specs.items()
        array = quick(instances, spec.dtype)
        return {name: _stack_rows(instances, spec.dtype) if array is None else array}
    names = set(specs)
    for index, row in enumerate(instances):
        if not isinstance(row, dict) or _is_base64(row):
            raise errors.invalid_argument(f"Expecting object but got list at item {index} of input list")
        if row.keys() != names:
            raise errors.invalid_argument(
                f"Failed to process element: {index} of 'instances' list. JSON object: {_quote(row)} keys "
                f"must be equal to: {','.join(sorted(names))}"
            )
    inputs = {}
    for name, spec in specs.items():
        values = [row[name] for row in instances]
        array = quick(values, spec.dtype)
        inputs[name] = _stack_rows(values, spec.dtype, f" key: {name}") if array is None else array
    return inputs


def _stack_rows(values: list[Any], dtype: DType, key: str = "") -> Array:
    """The rows of one input, which must be alike."""
    rows: list[Array] = []
    for index, value in enumerate(values):
        try:
            if not key and isinstance(value, dict) and not _is_base64(value):
                raise errors.invalid_argument(
                    f"Expecting value/list but got object at item {index} of input list"
                )
            row = _dense(value, dtype)
            if rows and row.size != rows[0].size:
                raise errors.invalid_argument(f"Expecting tensor size: {rows[0].size} but got: {row.size}")
            if rows and row.shape != rows[0].shape:
                raise errors.invalid_argument(
                    f"Expecting shape {_shape_text(rows[0])} but got: {_shape_text(row)}"
                )
        except errors.InvalidArgumentError as error:
            raise errors.invalid_argument(
                f"Failed to process element: {index}{key} of 'instances' list. Error: INVALID_ARGUMENT: "
                f"{error.message}"
            ) from None
        rows.append(row)
    return np.stack(rows)


def _columns(value: Any, specs: Mapping[str, TensorSpec], quick: Quick) -> Arrays:
    if not isinstance(value, dict) or _is_base64(value):
        if len(specs) != 1:
            raise errors.invalid_argument(
                "inputs is a plain value/list, but expecting an object as multiple input tensors required as "
                "per tensorinfo_map"
            )
        ((name, spec),) = specs.items()
        return {name: _tensor(value, spec.dtype, quick)}
    inputs = {}
    for name, spec in specs.items():
        if name not in value:
            raise errors.invalid_argument(f"Missing named input: {name} in 'inputs' object.")
        inputs[name] = _tensor(value[name], spec.dtype, quick)
    return inputs


def _tensor(value: Any, dtype: DType, quick: Quick) -> Array:
    array = quick(value, dtype)
    return _dense(value, dtype) if array is None else array


def _none(value: Any, dtype: DType) -> Array | None:
    return None


def _discovered(value: Any, dtype: DType) -> Array | None:
    """The array of numbers; None where there is anything to be looked at closer, strings among them."""
    try:
        array = np.array(value)
    except (ValueError, OverflowError):
        return None
    kind = array.dtype.kind
    is_fitting = kind in ("fi" if dtype.is_floating else "iu" if dtype.is_integer else "")
    return _in_type(array, dtype) if is_fitting else None


def _numbers(value: Any, dtype: DType) -> Array | None:
    """As `_discovered`, of what is known to be numbers: `struct` reads them three times as fast as NumPy."""
    if not dtype.is_floating:
        return _discovered(value, dtype)
    shape: list[int] = []
    numbers = [value]
    try:
        while isinstance(numbers[0], list):
            (length,) = set(map(len, numbers))  # one for all of them, or it is no array
            shape.append(length)
            numbers = numbers[0] if len(numbers) == 1 else list(chain.from_iterable(numbers))
        array = np.empty(shape)
        struct.pack_into(f"{len(numbers)}d", array, 0, *numbers)
    except (ValueError, TypeError, OverflowError, IndexError, struct.error):
        return None
    return _in_type(array, dtype)


def _in_type(array: Array, dtype: DType) -> Array | None:
    """An array in another type, which has all of its numbers; None otherwise, or where it has none or NaN."""
    if not array.size:
        return None
    lowest, highest = (-_WHOLE[dtype], _WHOLE[dtype]) if dtype.is_floating else (dtype.min, dtype.max)
    flat = array.reshape(-1)
    if np.minimum.reduce(flat) >= lowest and np.maximum.reduce(flat) <= highest:
        return array.astype(dtype.numpy, copy=False)
    return None


def _dense(value: Any, dtype: DType) -> Array:
    """The tensor that a JSON value means. Its shape is that of the first elements; all others must fit it."""
    shape: list[int] = []
    inner = value
    while isinstance(inner, list):
        shape.append(len(inner))
        if not inner:
            break
        inner = inner[0]
    elements: list[Any] = []

    def fill(value: Any, level: int) -> None:
        if not isinstance(value, list):
            if level != len(shape):
                raise errors.invalid_argument(
                    f"JSON Value: {_quote(value)} found at incorrect level: {level + 1} in the JSON DOM. "
                    f"Expected at level: {len(shape)}"
                )
            elements.append(_element(value, dtype))
            return
        if level >= len(shape):
            raise errors.invalid_argument(
                f"Encountered list at unexpected level: {level} expected < {len(shape)}"
            )
        if len(value) != shape[level]:
            raise errors.invalid_argument(
                f"Encountered list at unexpected size: {len(value)} at level: {level} expected size: "
                f"{shape[level]}"
            )
        for item in value:
            fill(item, level + 1)

    if len(shape) > _DEEPEST:
        raise errors.invalid_argument(f"JSON Value: {_quote(value)} has more than {_DEEPEST} levels of lists")
    fill(value, 0)
    array = np.empty(len(elements), dtype.numpy)
    array[:] = elements
    return array.reshape(shape)


def _element(value: Any, dtype: DType) -> Any:
    """One element of a tensor, if the JSON value is of the tensor's type."""
    if dtype is dtypes.string:
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, dict):
            return _from_base64(value)
    elif dtype is dtypes.bool:
        if isinstance(value, bool):
            return value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if dtype.is_floating:
            if _is_lossless(value, dtype):
                return value
            raise errors.invalid_argument(
                f"Cannot convert JSON value: {_quote(value)} to {_cpp_name(dtype)} without loss of precision."
            )
        if dtype.is_integer and isinstance(value, int) and dtype.min <= value <= dtype.max:
            return value
    raise errors.invalid_argument(
        f"JSON Value: {_quote(value)} Type: {_json_type(value)} is not of expected type: {_cpp_name(dtype)}"
    )


def _is_lossless(value: float, dtype: DType) -> bool:
    """Whether a type can hold a number: a whole one exactly, another if it is not too large."""
    if isinstance(value, int):
        return abs(value) <= _WHOLE[dtype]
    return not np.isfinite(value) or abs(value) <= float(dtype.max)


# The largest whole numbers up to which each floating-point type has all of them.
_WHOLE = {
    dtypes.float64: 2**53 - 1,
    dtypes.float32: 2**24 - 1,
    dtypes.half: 2**11 - 1,
    dtypes.bfloat16: 2**8 - 1,
}
_DEEPEST = 64  # dimensions of a NumPy array


def _is_base64(value: dict[str, Any]) -> bool:
    return len(value) == 1 and isinstance(value.get("b64"), str)


def _from_base64(value: dict[str, Any]) -> bytes:
    if not _is_base64(value):
        raise errors.invalid_argument(f"JSON Value: {_quote(value)} not formatted correctly for base64 data")
    text = value["b64"].rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise errors.invalid_argument("Unable to base64 decode") from None


def parse_examples(document: Mapping[str, Any]) -> list[bytes]:
    """The Examples of a classify or regress request, each with the features of the context, serialised."""
    context = _example(document["context"]) if "context" in document else b""
    if "examples" not in document:
        raise errors.invalid_argument(
            f"JSON Value: {_quote(document)} When method is classify, key 'examples' is expected and was not "
            "found"
        )
    examples = document["examples"]
    if not isinstance(examples, list):
        raise errors.invalid_argument(
            f"JSON Value: {_quote(document)} Expecting 'examples' value to be an list/array"
        )
    if not examples:
        raise errors.invalid_argument(f"JSON Value: {_quote(document)} 'examples' value is an empty array")
    return [context + _example(example) for example in examples]


def _example(value: Any) -> bytes:
    if not isinstance(value, dict):
        raise errors.invalid_argument(f"Example must be JSON object but got JSON {_json_type(value)}")
    example = Example()
    for name, content in value.items():
        feature = example.features.feature[name]
        for item in content if isinstance(content, list) else [content]:
            kind, element = _feature_element(name, item)
            found = feature.WhichOneof("kind")
            if found not in (None, kind):
                raise errors.invalid_argument(
                    f"Unexpected element type in feature: {name} expecting type: "
                    f"{found.removesuffix('_list')}"
                )
            getattr(feature, kind).value.append(element)
    return example.SerializeToString()


def _feature_element(name: str, value: Any) -> tuple[str, Any]:
    """The kind of list that a value belongs to, and the value in it."""
    match value:
        case bool():
            return "int64_list", int(value)
        case int() if value >= 2**63:
            raise errors.invalid_argument(f"Feature: {name} has uint64 element. Only int64 is supported.")
        case int():
            return "int64_list", value
        case float() if _is_lossless(value, dtypes.float32):
            return "float_list", value
        case float():
            raise errors.invalid_argument(
                f"Cannot convert JSON value: {_quote(value)} to float without loss of precision."
            )
        case str():
            return "bytes_list", value.encode()
        case dict() if _is_base64(value):
            return "bytes_list", _from_base64(value)
    raise errors.invalid_argument(
        f"Feature: {name} has element with unexpected JSON type: {_json_type(value)}"
    )


def request_json(signature: str, inputs: Arrays) -> bytes:
    """The body of a predict request, by columns, as a client writes it."""
    columns = {
        name: _mapped(array.tolist(), _base64_object) if array.dtype == object else _writable(name, array)
        for name, array in inputs.items()
    }
    return _write({"signature_name": signature, "inputs": columns})


# ------------------------------------------------------------------------------------------------- answers


def predictions_json(outputs: Arrays, is_rows: bool) -> bytes:
    """The answer to a predict request, in the form that the request had."""
    if not outputs:
        raise errors.invalid_argument("Cannot convert empty tensor map to JSON")
    if not is_rows:
        values = {name: _writable(name, array) for name, array in outputs.items()}
        return _write({"outputs": next(iter(values.values())) if len(values) == 1 else values})
    rows = None
    for name, array in outputs.items():
        if not array.ndim:
            raise errors.invalid_argument(f"Tensor name: {name} has no shape information ")
        if rows is not None and len(array) != rows:
            raise errors.invalid_argument(
                f"Tensor name: {name} has inconsistent batch size: {len(array)} expecting: {rows}"
            )
        rows = len(array)
    if len(outputs) == 1:
        ((name, array),) = outputs.items()
        return _write({"predictions": _writable(name, array)})
    columns = [_writable(name, array) for name, array in outputs.items()]
    return _write({"predictions": [dict(zip(outputs, row)) for row in zip(*columns)]})


def results_json(results: Sequence[Any]) -> bytes:
    """The answer to a classify or regress request."""
    return _write({"results": results})


def error_json(message: str) -> bytes:
    """The answer to a request that failed."""
    return orjson.dumps({"error": message.encode("utf-8", "replace").decode()})


def _writable(name: str, array: Array) -> Any:
    """What orjson writes for an array: the array itself, or lists."""
    if array.dtype == object:
        encode = _base64_object if name.endswith(_BYTES_SUFFIX) else _text
        return _mapped(array.tolist(), encode)
    if array.dtype.char in _NATIVE:
        return np.ascontiguousarray(array) if array.ndim else array[()]
    if array.dtype.kind in "fV":  # half, bfloat16
        return _writable(name, array.astype(np.float32))
    raise errors.invalid_argument(
        f"Failed to write JSON value for tensor type: {_cpp_name(dtypes.as_dtype(array.dtype))}"
    )


def _write(document: dict[str, Any]) -> bytes:
    text = orjson.dumps(document, option=_WRITE)
    # orjson writes null for what is no number; nothing else is null in an answer.
    return _write_with_infinities(document) if b"null" in text else text


def _write_with_infinities(document: dict[str, Any]) -> bytes:
    """As TensorFlow Serving writes them: NaN, Infinity, -Infinity, where JSON has no word."""

    def plain(value: Array | np.generic) -> Any:
        if value.dtype == np.float32:
            value = np.array(value.astype("U"), np.float64)  # the shortest digits that mean the number
        return value.tolist()

    return json.dumps(document, default=plain, separators=(",", ":")).encode()


def _mapped(value: Any, function: Callable[[bytes], Any]) -> Any:
    return [_mapped(item, function) for item in value] if isinstance(value, list) else function(value)


def _base64_object(value: bytes) -> dict[str, str]:
    return {"b64": base64.b64encode(value).decode()}


def _text(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:  # has no JSON string
        return _base64_object(value)


# ------------------------------------------------------------------------------------------------- messages


def _quote(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"))
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}..."


def _json_type(value: Any) -> str:
    match value:
        case None:
            return "Null"
        case bool():
            return str(value)
        case dict():
            return "Object"
        case list():
            return "Array"
        case str():
            return "String"
    return "Number"


def _cpp_name(dtype: DType) -> str:
    return _CPP_NAMES.get(dtype.name, dtype.name)


def _shape_text(array: Array) -> str:
    return f"[{','.join(map(str, array.shape))}]"
