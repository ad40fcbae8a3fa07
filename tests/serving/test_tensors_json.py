"""serving/tensors_json.py: requests to arrays and back, with TensorFlow Serving's refusals."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tideflow.graph import dtypes, errors
from tideflow.serving import tensors_json
from tideflow.serving.calls import TensorSpec


def parsed(text, dtype=dtypes.float32, names=("x",)):
    body = text.encode()
    specs = {name: TensorSpec(dtype, None, f"{name}:0") for name in names}
    inputs, is_rows = tensors_json.parse_inputs(tensors_json.parse_object(body), specs, body)
    return (inputs["x"] if names == ("x",) else inputs), is_rows


@pytest.mark.parametrize(
    ("text", "dtype", "value", "is_rows"),
    [
        ('{"instances": [[1, 2.5], [3, 4]]}', dtypes.float32, [[1, 2.5], [3, 4]], True),
        ('{"instances": [{"x": 1}, {"x": 2}]}', dtypes.int32, [1, 2], True),
        ('{"inputs": {"x": [[1]]}}', dtypes.int64, [[1]], False),
        ('{"inputs": 7}', dtypes.uint8, 7, False),
        ('{"inputs": []}', dtypes.float32, [], False),
        ('{"inputs": [true, false]}', dtypes.bool, [True, False], False),
        ('{"instances": ["a", {"b64": "AAE"}]}', dtypes.string, [b"a", b"\0\1"], True),
        ('{"instances": [{"b64": "AAE="}]}', dtypes.string, [b"\0\1"], True),
        ('{"inputs": [18446744073709551615]}', dtypes.uint64, [2**64 - 1], False),
        ('{"inputs": [NaN, -Inf, Infinity]}', dtypes.float32, [np.nan, -np.inf, np.inf], False),
        ('{"inputs": ["Inf", "NaN"], "extra": NaN}', dtypes.string, [b"Inf", b"NaN"], False),
    ],
)
def test_values_become_arrays_of_the_signatures_type(text, dtype, value, is_rows):
    array, rows = parsed(text, dtype)
    assert (array.dtype, rows) == (np.dtype(dtype.numpy), is_rows)
    assert array.tolist() == value if dtype is dtypes.string else np.array_equal(array, value, equal_nan=True)


@pytest.mark.parametrize(
    ("text", "dtype", "phrase"),
    [
        ("", dtypes.float32, "JSON Parse error: The document is empty"),
        ("{", dtypes.float32, "JSON Parse error: .* at offset: 1"),
        ('{"inputs": [NaN}', dtypes.float32, "JSON Parse error: "),
        ("[1]", dtypes.float32, r"JSON Value: \[1\] Is not object"),
        ("{}", dtypes.float32, "Missing 'inputs' or 'instances' key"),
        ('{"inputs": 1, "instances": [1]}', dtypes.float32, "expecting only one of 'inputs' or 'instances'"),
        ('{"instances": 1}', dtypes.float32, "Excepting 'instances' to be an list/array"),
        ('{"instances": []}', dtypes.float32, "No values in 'instances' array"),
        ('{"instances": [[1, 2], [3]]}', dtypes.float32, "element: 1 .*Expecting tensor size: 2 but got: 1"),
        (
            '{"instances": [[[1, 2]], [[1], [2]]]}',
            dtypes.float32,
            r"Expecting shape \[1,2\] but got: \[2,1\]",
        ),
        (
            '{"inputs": [[1, 2], [3]]}',
            dtypes.float32,
            "list at unexpected size: 1 at level: 1 expected size: 2",
        ),
        ('{"inputs": [1, [2]]}', dtypes.float32, "list at unexpected level: 1 expected < 1"),
        ('{"inputs": [[1], 2]}', dtypes.float32, "2 found at incorrect level: 2 .*Expected at level: 2"),
        ('{"inputs": ["1"]}', dtypes.float32, 'JSON Value: "1" Type: String is not of expected type: float'),
        ('{"inputs": [1, true]}', dtypes.float32, "Type: True is not of expected type: float"),
        ('{"inputs": [0, false]}', dtypes.int32, "Type: False is not of expected type: int32"),
        ('{"inputs": [null]}', dtypes.float64, "Type: Null is not of expected type: double"),
        ('{"inputs": [2.0]}', dtypes.int32, "JSON Value: 2.0 Type: Number is not of expected type: int32"),
        ('{"inputs": [3000000000]}', dtypes.int32, "is not of expected type: int32"),
        ('{"inputs": [-1]}', dtypes.uint8, "is not of expected type: uint8"),
        ('{"inputs": [16777217, 0.5]}', dtypes.float32, "16777217 to float without loss of precision"),
        ('{"inputs": [1e39]}', dtypes.float32, "to float without loss of precision"),
        ('{"inputs": [1]}', dtypes.string, "JSON Value: 1 Type: Number is not of expected type: string"),
        ('{"inputs": [{"b64": "*"}]}', dtypes.string, "Unable to base64 decode"),
        ('{"inputs": [{"b64": 1}]}', dtypes.string, "not formatted correctly for base64 data"),
        ('{"inputs": {"y": 1}}', dtypes.float32, "Missing named input: x in 'inputs' object"),
        ('{"instances": [{"x": 1}, {"y": 1}]}', dtypes.float32, "element: 1 .*keys must be equal to: x"),
        ('{"instances": [{"x": 1}, 2]}', dtypes.float32, "Expecting object but got list at item 1"),
        ('{"instances": [1, {"x": 1}]}', dtypes.float32, "Expecting value/list but got object at item 1"),
        ('{"inputs": ' + "[" * 2000 + "]" * 2000 + "}", dtypes.float32, "JSON Parse error: depth limit"),
        ('{"inputs": ' + "[" * 900 + "]" * 900 + "}", dtypes.float32, "more than 64 levels"),
        ('{"inputs": ' + "[" * 9000 + "NaN" + "]" * 9000 + "}", dtypes.float32, "JSON Parse error: "),
        ('{"inputs": [NaN, ' + "9" * 5000 + "]}", dtypes.float32, "JSON Parse error: "),
        ('{"inputs": ["\\ud800"], "more": NaN}', dtypes.string, "JSON Parse error: "),
    ],
)
def test_refusals_are_tensorflow_servings(text, dtype, phrase):
    with pytest.raises(errors.InvalidArgumentError, match=phrase):
        parsed(text, dtype)


def test_several_inputs_need_objects():
    both = ("x", "y")
    assert parsed('{"instances": [{"x": 1, "y": 2}]}', names=both)[0]["y"].tolist() == [2]
    with pytest.raises(
        errors.InvalidArgumentError, match="instances is a plain list, but expecting list of objects"
    ):
        parsed('{"instances": [1]}', names=both)
    with pytest.raises(
        errors.InvalidArgumentError, match="inputs is a plain value/list, but expecting an object"
    ):
        parsed('{"inputs": [1]}', names=both)


numbers = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(width=32),
    st.booleans(),
    st.none(),
    st.sampled_from(["1", "inputs"]),
)
nested = st.recursive(numbers, lambda inner: st.lists(inner, max_size=3), max_leaves=12)


@given(nested, st.sampled_from([dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.half]))
def test_the_quick_ways_make_what_the_careful_one_does(value, dtype):
    for text in (json.dumps({"inputs": value}), json.dumps({"inputs": {"x": value}})):
        check_against_careful_way(text, dtype)


def check_against_careful_way(text, dtype):
    value = tensors_json.parse_object(text.encode())["inputs"]  # orjson has floats for the largest integers
    value = value["x"] if isinstance(value, dict) else value
    try:
        expected = tensors_json._dense(value, dtype)
    except errors.InvalidArgumentError as error:
        with pytest.raises(errors.InvalidArgumentError, match=re.escape(error.message)):
            parsed(text, dtype)
        return
    array, _ = parsed(text, dtype)
    assert array.dtype == expected.dtype
    assert np.array_equal(array, expected, equal_nan=True)


@pytest.mark.parametrize(
    ("outputs", "is_rows", "text"),
    [
        ({"y": np.float32([[0.1, 3]])}, True, '{"predictions":[[0.1,3.0]]}'),
        ({"y": np.float32([0.1, np.nan, -np.inf])}, True, '{"predictions":[0.1,NaN,-Infinity]}'),
        ({"y": np.array(True)}, False, '{"outputs":true}'),
        ({"y": np.array(2, np.float16)}, False, '{"outputs":2.0}'),
        ({"y": np.array([b"a", b"\xff"], object)}, False, '{"outputs":["a",{"b64":"/w=="}]}'),
        (
            {"y": np.int64([[1], [2]]), "s_bytes": np.array([b"a", b"b"], object)},
            True,
            '{"predictions":[{"y":[1],"s_bytes":{"b64":"YQ=="}},{"y":[2],"s_bytes":{"b64":"Yg=="}}]}',
        ),
        ({"a": np.int8([1]), "b": np.float64(0.5)}, False, '{"outputs":{"a":[1],"b":0.5}}'),
    ],
)
def test_answers_have_the_form_of_their_request(outputs, is_rows, text):
    assert tensors_json.predictions_json(outputs, is_rows) == text.encode()


def test_answers_in_rows_need_as_many_rows_in_all_outputs():
    with pytest.raises(errors.InvalidArgumentError, match="y has no shape information"):
        tensors_json.predictions_json({"y": np.array(1)}, True)
    with pytest.raises(errors.InvalidArgumentError, match="b has inconsistent batch size: 2 expecting: 1"):
        tensors_json.predictions_json({"a": np.zeros(1), "b": np.zeros(2)}, True)


def test_examples_take_over_the_context():
    from tideflow.graph.example_proto import Example

    document = json.loads(
        '{"context": {"a": 1.5}, "examples": [{"b": ["x", {"b64": "AA=="}]}, {"c": [1, true]}]}'
    )
    first, second = map(Example.FromString, tensors_json.parse_examples(document))
    assert first.features.feature["a"].float_list.value == [1.5]
    assert first.features.feature["b"].bytes_list.value == [b"x", b"\0"]
    assert second.features.feature["c"].int64_list.value == [1, 1]
    for text, phrase in {
        '{"x": 1}': "key 'examples' is expected and was not found",
        '{"examples": {}}': "Expecting 'examples' value to be an list/array",
        '{"examples": []}': "'examples' value is an empty array",
        '{"examples": [1]}': "Example must be JSON object but got JSON Number",
        '{"examples": [{"a": [1, 2.5]}]}': "Unexpected element type in feature: a expecting type: int64",
        '{"examples": [{"a": null}]}': "Feature: a has element with unexpected JSON type: Null",
        '{"examples": [{"a": 9223372036854775808}]}': "has uint64 element. Only int64 is supported",
    }.items():
        with pytest.raises(errors.InvalidArgumentError, match=phrase):
            tensors_json.parse_examples(json.loads(text))
