"""Files of records written by TensorFlow are read here, and ours there, whatever is in them."""

import pickle
import random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from record_files import KINDS
from runner import ORACLE, SUBJECT, run


def batches_of_records(count):
    """Batches that hypothesis thinks of, and one of large records."""
    found = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(st.binary(max_size=300), max_size=20))
    def collect(records):
        found.append(records)

    collect()
    large = random.Random(7)
    return found + [[large.randbytes(size) for size in (0, 1 << 12, 300_000, 1, 1 << 18)]]


@pytest.mark.parametrize(("writer", "reader"), [(ORACLE, SUBJECT), (SUBJECT, ORACLE)])
def test_record_files_of_one_are_read_by_the_other(writer, reader, oracle, tmp_path):
    batches = batches_of_records(60)
    records, folder, found = tmp_path / "records.pickle", tmp_path / "files", tmp_path / "found.pickle"
    records.write_bytes(pickle.dumps(batches, 2))
    folder.mkdir()
    for side, arguments in ((writer, ("write", records, folder)), (reader, ("read", folder, found))):
        run(side, "record_files.py", *arguments)
    assert pickle.loads(found.read_bytes()) == {
        f"{number}.{kind}": batch for number, batch in enumerate(batches) for kind in KINDS
    }
