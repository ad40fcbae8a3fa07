"""Which rows are in which slices."""

import pyarrow as pa
import pytest

from tideflow.graph.errors import InvalidArgumentError
from tideflow.pipeline.evaluation.slices import SliceSpec, slice_spec_of, slices
from tideflow.pipeline.messages.evaluation import SlicingSpec

COLUMNS = {
    "color": pa.array([[b"red"], [b"blue", b"red"], None, [b"red"], []]),
    "size": pa.array([[1], [2, 1], [3], [1], [1]]),
}


def found(**spec):
    rows = slices(COLUMNS, 5, [slice_spec_of(SlicingSpec(**spec))])
    return {key: indices.tolist() for key, indices in rows.items()}


def test_rows_of_slices():
    assert found() == {(): [0, 1, 2, 3, 4]}
    assert found(feature_keys=["color"]) == {(("color", "red"),): [0, 1, 3], (("color", "blue"),): [1]}
    assert found(feature_keys=["size", "color"]) == {
        (("color", "red"), ("size", 1)): [0, 1, 3],
        (("color", "red"), ("size", 2)): [1],
        (("color", "blue"), ("size", 1)): [1],
        (("color", "blue"), ("size", 2)): [1],
    }
    assert found(feature_values={"size": "1"}) == {(("size", 1),): [0, 1, 3, 4]}
    assert found(feature_keys=["color"], feature_values={"size": "2"}) == {
        (("color", "red"), ("size", 2)): [1],
        (("color", "blue"), ("size", 2)): [1],
    }
    assert found(feature_keys=["none"]) == found(feature_values={"none": "1"}) == {}
    assert found(feature_values={"color": "green"}) == {}


def test_which_slices_a_spec_is_of():
    spec = SliceSpec(frozenset({"color"}), frozenset({("size", 1)}))
    assert spec.matches((("color", "red"), ("size", 1)))
    assert not spec.matches((("color", "red"), ("size", 2)))
    assert not spec.matches((("color", "red"),)) and not spec.matches(())
    assert SliceSpec().matches(())


def test_what_is_refused():
    with pytest.raises(ValueError, match="should not overlap, but size"):
        slice_spec_of(SlicingSpec(feature_keys=["size"], feature_values={"size": "1"}))
    with pytest.raises(InvalidArgumentError, match="does not select a STRUCT"):
        slice_spec_of(SlicingSpec(slice_keys_sql="SELECT 1"))
    with pytest.raises(ValueError, match="beside feature_keys"):
        slice_spec_of(SlicingSpec(feature_keys=["size"], slice_keys_sql="SELECT STRUCT(size)"))
