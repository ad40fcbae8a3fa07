"""CSV files: types, quotes, faulty rows with their lines, wrong files, and parts of large ones."""

import csv
import gzip
import io
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.graph.errors import InvalidArgumentError, NotFoundError
from tideflow.pipeline.data import csv_rows
from tideflow.pipeline.data.csv_files import csv_sources
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import WiderTypes, find_sources


def read(path, part_bytes=1 << 24, **options):
    """All rows of a file as columns, and its faults."""
    sources = find_sources(path, part_bytes=part_bytes, **options)
    while True:
        faults, columns = Faults(), {}
        try:
            for source in sources:
                for block in source.blocks(faults):
                    for name, column in block.to_pydict().items():
                        columns.setdefault(name, []).extend(column)
            return columns, faults
        except WiderTypes as wider:
            sources = [source.widened(wider.types) for source in sources]


def written(tmp_path, text, name="in.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_cells_are_lists_of_one_and_empty_ones_are_missing(tmp_path):
    columns, faults = read(written(tmp_path, 'i,f,s,none\n1,2.5,x,\n,,"",\n\n-3,nan,"y,""z""\n2",\n'))
    assert columns["i"] == [[1], None, [-3]]
    assert columns["s"] == [[b"x"], None, [b'y,"z"\n2']]
    assert columns["none"] == [None, None, None]
    assert columns["f"][:2] == [[2.5], None]
    assert math.isnan(columns["f"][2][0])
    assert not len(faults)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "+2", " 3 ", "1_000"], [1, 2, 3, 1000]),
        (["1", "2.5", "-inf"], [1.0, 2.5, -math.inf]),
        (["1", "0x1F"], [b"1", b"0x1F"]),
        (["1", "99999999999999999999"], [b"1", b"99999999999999999999"]),
        (["1.5", "99999999999999999999"], [b"1.5", b"99999999999999999999"]),
        (["1.5", "1e30"], [1.5, pytest.approx(1e30)]),
        (["9223372036854775807"], [2**63 - 1]),
    ],
)
@pytest.mark.parametrize("rows_before", [0, 40_000])
def test_a_column_has_the_narrowest_type_of_all_its_cells(tmp_path, cells, expected, rows_before):
    rows = ["a"] + ["1"] * rows_before * (cells[0] == "1") + cells  # what is late is not in the sample
    columns, _ = read(written(tmp_path, "\n".join(rows)), part_bytes=1 << 15)
    assert [values[0] for values in columns["a"][-len(cells) :]] == expected


def test_faulty_rows_are_set_aside_with_their_lines(tmp_path):
    text = b'a,b\n1,"x\ny"\n2\n3,4,5\n6,5" pipe\n7,\xff\xfe\n8,"open\n9,z\n'
    columns, faults = read(written(tmp_path, text))
    assert columns == {"a": [[1], [6], [7], [9]], "b": [[b"x\ny"], [b'5" pipe'], [b"\xff\xfe"], [b"z"]]}
    assert [(fault.line, fault.reason, fault.text) for fault in faults.first] == [
        (4, "1 field instead of 2", "2"),
        (5, "3 fields instead of 2", "3,4,5"),
        (8, "a quote is not closed", '8,"open\n'),
    ]
    faults.write(tmp_path / "faults.json")
    assert (tmp_path / "faults.json").read_text().count("\n") == 3


def test_cells_that_do_not_fit_given_types_make_rows_faulty(tmp_path):
    path = written(tmp_path, "a,b\n1,1\nx,2\n3,y\n4.5,4\n")
    columns, faults = read(path, types={"a": "int", "b": "int"})
    assert columns == {"a": [[1]], "b": [[1]]}
    assert [(fault.line, fault.reason) for fault in sorted(faults.first)] == [
        (3, "column a is no int"),
        (4, "column b is no int"),
        (5, "column a is no int"),
    ]
    with pytest.raises(InvalidArgumentError, match="must be one of int, float, bytes"):
        find_sources(path, types={"a": "integer"})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        (b"\x7fELF\0\0\0", "not text"),
        (b"a,a\n1,2\n", "the column a is there twice"),
        (b"\xff\xfa,b\n1,2\n", "not UTF-8"),
    ],
)
def test_a_wrong_file_is_one_fault(tmp_path, data, reason):
    columns, faults = read(written(tmp_path, data))
    assert columns == {}
    assert [(fault.line, reason in fault.reason) for fault in faults.first] == [(0, True)]


def test_names_delimiters_marks_and_compression(tmp_path):
    assert read(written(tmp_path, "a\tb,c\n1\t2\n", "in.tsv"))[0] == {"a": [[1]], "b,c": [[2]]}
    assert read(written(tmp_path, "1;2\n"), delimiter=";", column_names=["x", "y"])[0] == {
        "x": [[1]],
        "y": [[2]],
    }
    marked = written(tmp_path, b"\xef\xbb\xbfa\r\n1\r\n")
    assert read(marked)[0] == {"a": [[1]]}
    assert read(marked, column_names=["n"])[0] == {"n": [[b"a"], [b"1"]]}
    assert read(written(tmp_path, gzip.compress(b'a\n"1\n2"\n'), "in.csv.gz"))[0] == {"a": [[b"1\n2"]]}
    with pytest.raises(NotFoundError, match="No data at"):
        find_sources(tmp_path / "none" / "*.csv")
    with pytest.raises(InvalidArgumentError, match="suffix that is not known"):
        find_sources(written(tmp_path, "a", "in.odd"))


def test_files_with_other_columns_have_their_own_and_types_of_all(tmp_path):
    written(tmp_path, "a,b\n1,2\n", "1.csv")
    written(tmp_path, "b,c\nx,3\n", "2.csv")
    sources = find_sources(tmp_path)
    assert [source.names for source in sources] == [("a", "b"), ("b", "c")]
    assert [source.types["b"] for source in sources] == ["bytes", "bytes"]


FIELDS = st.text(st.sampled_from('ab ,"\n'), max_size=6) | st.integers().map(str)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=12),
    st.integers(20, 90),
    st.integers(1, 60),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_parts_of_a_file_have_all_its_rows(tmp_path_factory, rows, part_bytes, chunk_bytes, quoting):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", quoting=quoting).writerows([("x", "y"), *rows])
    path = tmp_path_factory.mktemp("csv") / "in.csv"
    path.write_bytes(text.getvalue().encode())
    sources = csv_sources([str(path)], part_bytes, types={"x": "bytes", "y": "bytes"})
    assert [source.begin for source in sources[1:]] == [source.end for source in sources[:-1]]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csv_rows.chunks, "__defaults__", (",", chunk_bytes))
        columns, faults = read(path, part_bytes, types={"x": "bytes", "y": "bytes"})
    found = list(zip(columns.get("x", []), columns.get("y", []), strict=True))
    assert found == [tuple([field.encode()] if field else None for field in row) for row in rows]
    assert not len(faults)


def test_a_row_of_many_bytes_is_read_and_one_of_too_many_is_a_fault(tmp_path, monkeypatch):
    large = "x" * (csv_rows.CHUNK_BYTES + 5)
    path = written(tmp_path, f'a,b\n1,"{large}"\n2,y\n')
    assert [values[0] for values in read(path)[0]["b"]] == [large.encode(), b"y"]
    monkeypatch.setattr(csv_rows, "LARGEST_ROW", 1 << 20)
    columns, faults = read(path)
    assert columns["a"] == [[2]]
    assert faults.first[0].line == 2
    assert len(faults.first[0].text) <= 1000


@pytest.mark.parametrize("line", ["{0},{0}.5,name {0}", '{0},{0}.5,"name\n{0}"'], ids=["plain", "quoted"])
def test_a_compressed_file_that_is_cut_off_or_damaged_keeps_the_rows_before_it(tmp_path, line):
    numbers = [(number * 7919) % 10**6 for number in range(300)]
    whole = gzip.compress(("i,f,s\n" + "".join(line.format(each) + "\n" for each in numbers)).encode())
    spoilt = bytearray(whole)
    spoilt[-8] ^= 1  # the checksum
    found = {}
    for cut in [*range(0, len(whole), 61), len(whole) - 9, len(whole) - 1]:
        columns, faults = read(written(tmp_path, whole[:cut], "in.csv.gz"))
        found[cut] = [each[0] for each in columns.get("i", [])]
        assert numbers[: len(found[cut])] == found[cut]
        assert all(len(value) == 1 for column in columns.values() for value in column)
        damage = [fault for fault in faults.first if f"GZIP data are cut off at byte {cut}" in fault.reason]
        assert len(damage) == 1
        assert str(damage[0]).startswith(str(tmp_path / "in.csv.gz"))
    assert found[len(whole) - 1] == numbers  # only the checksum is missing
    assert 0 < len(found[61 * (len(whole) // 122)]) < len(numbers)
    columns, faults = read(written(tmp_path, bytes(spoilt), "in.csv.gz"))
    assert "incorrect data check" in faults.first[-1].reason


def test_types_are_not_guessed_from_a_row_that_is_cut_off(tmp_path):
    data = gzip.compress(b"i\n12\n-", mtime=0)[:-8]
    columns, faults = read(written(tmp_path, data, "in.csv.gz"))
    assert columns == {"i": [[12]]}
    assert [(fault.line, fault.text) for fault in faults.first] == [(3, "-")]


def test_zero_bytes_and_carriage_returns(tmp_path):
    (tmp_path / "zero.csv").write_bytes(b"a,b\nx\0y,1\nz,2\n")
    assert values_and_faults(tmp_path / "zero.csv") == ([b"x\0y", b"z"], [])
    (tmp_path / "binary.csv").write_bytes(b"a\0b\n1\n")
    assert values_and_faults(tmp_path / "binary.csv") == ([], ["the file is not text: it has zero bytes"])
    (tmp_path / "old.csv").write_bytes(b"a,b\rx,1\ry,2\r")
    (reason,) = values_and_faults(tmp_path / "old.csv")[1]
    assert reason.startswith("lines end with a carriage return alone")


def values_and_faults(path):
    """The values of column a, and the reasons of faults."""
    faults = Faults()
    blocks = [block for source in find_sources(path) for block in source.blocks(faults)]
    return [value for block in blocks for (value,) in block.column("a").to_pylist()], list(faults.counts)
