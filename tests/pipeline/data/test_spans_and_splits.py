"""Spans and versions by pattern, and splits by hash."""

import pyarrow as pa
import pytest

from tideflow.graph.errors import InvalidArgumentError
from tideflow.pipeline.data.spans import find_spans
from tideflow.pipeline.data.splits import row_hashes, split_block


def touched(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def found(folder, pattern, **options):
    spans = find_spans(f"{folder}/{pattern}", **options)
    return [
        (each.span, each.version, [path[len(str(folder)) + 1 :] for path in each.files]) for each in spans
    ]


def test_spans_are_found_with_their_newest_versions(tmp_path):
    touched(
        tmp_path,
        "s-2/v10/a.csv",
        "s-2/v9/a.csv",
        "s-2/v10/b.csv",
        "s-11/v1/a.csv",
        "s-x/v1/a.csv",
        "s-3/v1/.hidden",
    )
    assert found(tmp_path, "s-{SPAN}/v{VERSION}/*") == [
        (2, 10, ["s-2/v10/a.csv", "s-2/v10/b.csv"]),
        (11, 1, ["s-11/v1/a.csv"]),
    ]
    assert [each[:2] for each in found(tmp_path, "s-{SPAN}/v{VERSION}", all_versions=True)] == [
        (2, 9),
        (2, 10),
        (11, 1),
    ]
    assert found(tmp_path, "s-{SPAN:02}/v1/a.csv") == [(11, None, ["s-11/v1/a.csv"])]
    assert found(tmp_path, "s-11/v1/*.csv") == [(0, None, ["s-11/v1/a.csv"])]
    assert found(tmp_path, "none-{SPAN}/*") == []


def test_days_are_spans(tmp_path):
    touched(tmp_path, "1970-01-02/x.csv", "2024-02-29/x.csv", "2023-02-29/x.csv")
    assert [each[0] for each in found(tmp_path, "{YYYY}-{MM}-{DD}/*.csv")] == [1, 19782]


@pytest.mark.parametrize("pattern", ["{YYYY}/{MM}/*", "{SPAN}/{YYYY}-{MM}-{DD}", "{VERSION}/*", "{SPAM}/*"])
def test_wrong_patterns_are_refused(pattern):
    with pytest.raises(InvalidArgumentError):
        find_spans(pattern)


def block_of(order=1):
    columns = {
        "id": pa.array([[n] for n in range(3000)], pa.list_(pa.int64())),
        "user": pa.array([[b"u%d" % (n % 40)] for n in range(3000)], pa.list_(pa.binary())),
        "f": pa.array([None if n % 3 else [n / 7, n] for n in range(3000)], pa.list_(pa.float32())),
    }
    names = list(columns)[::order]
    return pa.RecordBatch.from_arrays([columns[name] for name in names], names)


def test_a_row_is_in_the_same_split_wherever_it_stands():
    block = block_of()
    splits = split_block(block, {"train": 2, "eval": 1})
    assert sum(rows.num_rows for rows in splits.values()) == 3000
    assert 1900 < splits["train"].num_rows < 2100
    assert splits["train"].column("id").flatten().to_pylist() == sorted(
        splits["train"].column("id").flatten().to_pylist()
    )
    assert row_hashes(block[100:200]).tolist() == row_hashes(block)[100:200].tolist()
    assert row_hashes(block_of(-1)).tolist() == row_hashes(block).tolist()
    assert len(set(row_hashes(block).tolist())) == 3000
    wider = block.append_column("none", pa.nulls(3000, pa.list_(pa.binary())))
    assert row_hashes(wider).tolist() == row_hashes(block).tolist()


def test_rows_that_agree_in_the_given_features_stay_together():
    splits = split_block(block_of(), {"a": 1, "b": 1, "c": 2}, ["user"])
    users = [set(rows.column("user").flatten().to_pylist()) for rows in splits.values()]
    assert sum(map(len, users)) == 40
    assert all(users)
    with pytest.raises(InvalidArgumentError, match="which they do not have"):
        split_block(block_of(), {"a": 1}, ["none"])
    with pytest.raises(InvalidArgumentError, match="shares above zero"):
        split_block(block_of(), {"a": 0})
