"""Statistics of blocks: the same whatever the parts, true counts, slices, weights, and refusals."""

import math
import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.graph.errors import InvalidArgumentError
from tideflow.pipeline.data.sources import Blocks
from tideflow.pipeline.messages.schema import Schema
from tideflow.pipeline.statistics import StatsOptions, generate_statistics
from tideflow.pipeline.statistics.datasets import Statistics

KINDS = {"i": pa.int64(), "f": pa.float32(), "s": pa.binary(), "w": pa.float32()}


def block_of(**columns):
    arrays = [pa.array(rows, pa.list_(KINDS[name[0]])) for name, rows in columns.items()]
    return pa.RecordBatch.from_arrays(arrays, list(columns))


def of(*blocks, **options):
    found = generate_statistics([Blocks([block]) for block in blocks], StatsOptions(**options))
    return (
        found.datasets[0]
        if len(found.datasets) == 1
        else {dataset.name: dataset for dataset in found.datasets}
    )


def features(dataset):
    return {".".join(feature.path.step): feature for feature in dataset.features}


VALUES = st.none() | st.lists(st.integers(-3, 3), max_size=3)
# Sums of numbers of very different sizes are rounded otherwise in another order.
FLOATS = st.floats(-1e5, 1e5, width=32) | st.sampled_from([math.nan, math.inf, -math.inf, 0.1])
ROWS = st.lists(
    st.tuples(VALUES, st.lists(FLOATS, max_size=2), st.lists(st.binary(max_size=2), max_size=2)),
    min_size=1,
    max_size=25,
)
SCHEMA = text_format.Parse('feature { name: "i" type: INT int_domain { is_categorical: true } }', Schema())


@settings(max_examples=20)
@given(ROWS, st.lists(st.integers(0, 25), max_size=3), st.booleans(), st.randoms(use_true_random=False))
def test_statistics_do_not_depend_on_the_parts(rows, cuts, is_weighted, order):
    columns = dict(zip("ifs", map(list, zip(*rows, strict=True)), strict=True))
    whole = block_of(**columns, i2=columns["i"], w=[[n % 4 / 2] for n in range(len(rows))])
    options = StatsOptions(
        schema=SCHEMA,
        weight_feature="w" if is_weighted else None,
        slice_features=[{"i": None}],
        cross_features=True,
    )
    accumulator = Statistics(options)
    places = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    states = [accumulator.add(accumulator.create(), whole[begin:end]) for begin, end in pairwise(places)]
    order.shuffle(states)
    alone = accumulator.extract(accumulator.add(accumulator.create(), whole))
    merged = accumulator.extract(accumulator.merge([pickle.loads(pickle.dumps(state)) for state in states]))
    assert_close(alone, merged)


def assert_close(first, second):
    """Messages are equal but for the rounding of sums."""
    assert [field.name for field, _ in first.ListFields()] == [field.name for field, _ in second.ListFields()]
    for (field, one), (_, other) in zip(first.ListFields(), second.ListFields(), strict=True):
        if field.name in ("mean", "std_dev", "covariance", "correlation"):
            assert one == pytest.approx(other, rel=1e-6, abs=1e-6, nan_ok=True)
        elif field.message_type is None:
            assert one == other or (one != one and other != other)
        elif hasattr(one, "ListFields"):
            assert_close(one, other)
        else:
            assert len(one) == len(other)
            for a, b in zip(sorted(one, key=_name), sorted(other, key=_name), strict=True):
                assert_close(a, b)


def _name(message):
    return str(message.path) if hasattr(message, "path") else ""


def test_numbers():
    numbers = features(of(block_of(f=[[1.0, 2.0], None, [0.0], [math.nan]], i=[[5], [5], [], [7]])))
    common = numbers["f"].num_stats.common_stats
    assert (common.num_non_missing, common.num_missing, common.tot_num_values) == (3, 1, 4)
    assert (common.min_num_values, common.max_num_values) == (1, 2)
    f = numbers["f"].num_stats
    assert (f.mean, f.num_zeros, f.min, f.median, f.max) == (1.0, 1, 0.0, 1.0, 2.0)
    assert f.std_dev == pytest.approx(math.sqrt(2 / 3))
    assert [histogram.num_nan for histogram in f.histograms] == [1, 1]
    assert sum(bucket.sample_count for bucket in f.histograms[0].buckets) == pytest.approx(3)
    assert numbers["i"].num_stats.common_stats.min_num_values == 0


def test_rare_values_have_their_true_counts():
    rows = [[b"id%d" % n] for n in range(30_000)] + [[b"twice"], [b"twice"], [b"\xff"]]
    stats = features(of(block_of(s=rows[:7]), block_of(s=rows[7:])))["s"].string_stats
    assert stats.unique == 30_002
    assert [(each.value, each.frequency) for each in stats.top_values][:3] == [
        ("twice", 2),
        ("__BYTES_VALUE__", 1),
        ("id9999", 1),
    ]
    assert stats.invalid_utf8_count == 1
    assert len(stats.rank_histogram.buckets) == 1000


def test_slices_are_data_sets_of_their_own():
    block = block_of(s=[[b"x"], [b"y", b"x"], None], i=[[1], [2], [3]], f=[[1.0], [2.0], [3.0]])
    found = of(block, slice_features=[{"s": None}, {"s": ["x"], "i": [2, 3]}])
    assert {name: dataset.num_examples for name, dataset in found.items()} == {
        "All Examples": 3,
        "s_x": 2,
        "s_y": 1,
        "i_2_s_x": 1,
    }
    assert features(found["s_x"])["f"].num_stats.mean == 1.5
    with pytest.raises(InvalidArgumentError, match="not valid integers"):
        of(block, slice_features=[{"i": ["two"]}])
    with pytest.raises(InvalidArgumentError, match="must be valid UTF-8"):
        of(block_of(s=[[b"\xff"]]), slice_features=[{"s": None}])


def by_parity(block):
    parity = np.array(block.column("i").flatten().to_pylist()) % 2
    yield "odd", block.filter(pa.array(parity == 1))


def test_slices_by_functions_and_samples():
    block = block_of(i=[[n] for n in range(1000)])
    assert of(block, slice_functions=[by_parity])["odd"].num_examples == 500
    sample = of(block[:300], block[300:], sample_rate=0.25)
    assert 180 < sample.num_examples < 320
    assert_close(sample, of(block, sample_rate=0.25))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"w": [[1.0], []]}, "must have exactly one value in each example"),
        ({"w": [[1.0], None]}, "must have exactly one value in each example"),
        ({}, "not present"),
    ],
)
def test_weights_must_be_one_number_a_row(weights, message):
    with pytest.raises(InvalidArgumentError, match=message):
        of(block_of(i=[[1], [2]], **weights), weight_feature="w")
    with pytest.raises(InvalidArgumentError, match="must be of numeric type"):
        of(block_of(s=[[b"1"]]), weight_feature="s")


def test_a_feature_has_one_type():
    text = pa.RecordBatch.from_arrays([pa.array([[b"x"]], pa.list_(pa.binary()))], ["i"])
    with pytest.raises(
        InvalidArgumentError, match=r"Cannot determine the type of feature i\. Found values of types"
    ):
        of(block_of(i=[[1]]), text)
    never = pa.RecordBatch.from_arrays([pa.nulls(2, pa.list_(pa.binary()))], ["i"])
    assert features(of(never, block_of(i=[[1]])))["i"].num_stats.common_stats.num_missing == 2


def test_a_label_must_be_categorical():
    schema = text_format.Parse(
        'feature { name: "f" type: FLOAT } feature { name: "s" type: BYTES }', Schema()
    )
    with pytest.raises(InvalidArgumentError, match="The label f is no categorical feature"):
        of(block_of(f=[[1.0]], s=[[b"x"]]), schema=schema, label_feature="f")


def test_no_rows_are_statistics_too():
    assert of(block_of(i=[])).num_examples == 0
    assert generate_statistics([], StatsOptions()).datasets[0].num_examples == 0
