"""Statistics in files, and `tideflow stats`."""

import os

import pytest

from tideflow.cli import main
from tideflow.graph.errors import InvalidArgumentError, NotFoundError
from tideflow.pipeline.statistics import generate_statistics, load_statistics, write_statistics


@pytest.fixture
def table(tmp_path):
    (tmp_path / "in.csv").write_text("n,s,w\n1,x,1\n2,y,0.5\n,x,1\n")
    return tmp_path / "in.csv"


@pytest.mark.parametrize("name", ["stats.pbtxt", "stats.pb", "stats.tfrecord", "FeatureStats"])
def test_statistics_are_written_and_read(tmp_path, table, name):
    statistics = generate_statistics(table)
    write_statistics(statistics, tmp_path / name)
    assert load_statistics(tmp_path / name) == statistics
    assert sorted(os.listdir(tmp_path)) == sorted(["in.csv", name])


def test_several_files_are_read_together_and_others_refused(tmp_path, table):
    for number in range(2):
        write_statistics(generate_statistics(table), tmp_path / f"stats-{number}")
    assert len(load_statistics(tmp_path / "stats-*").datasets) == 2
    with pytest.raises(NotFoundError, match="No statistics at"):
        load_statistics(tmp_path / "none")
    (tmp_path / "wrong.pb").write_bytes(b"\xff")
    with pytest.raises(InvalidArgumentError, match="is no DatasetFeatureStatisticsList"):
        load_statistics(tmp_path / "wrong.pb")


def test_the_command_prints_a_table_and_writes_the_message(tmp_path, table, capsys):
    out = tmp_path / "stats.pbtxt"
    assert (
        main(["stats", str(table), "--out", str(out), "--weights", "w", "--slices", "s,n=1", "--crosses"])
        == 0
    )
    printed = capsys.readouterr().out
    assert "All Examples: 3 rows, 3 features" in printed
    assert "n_1_s_x: 1 row," in printed
    assert "s: 2 different; 'x' 2, 'y' 1" in printed
    assert load_statistics(out).datasets[0].weighted_num_examples == 2.5


def test_the_command_says_which_rows_are_faulty(tmp_path, table, capsys):
    with table.open("a") as file:
        file.write("4,z\n")
    faults = tmp_path / "faults.json"
    assert main(["stats", str(table), "--faults", str(faults)]) == 1
    assert "in.csv:5: 2 fields instead of 3: 4,z" in capsys.readouterr().err
    assert '"line": 5' in faults.read_text()
    assert main(["stats", str(tmp_path / "none.csv")]) == 2
    assert "No data at" in capsys.readouterr().err
    assert main(["stats", str(table), "--slices", "nothing"]) == 2
    assert "--slices nothing: the data have no such feature; they have " in capsys.readouterr().err
    assert main(["stats", str(table), "--out", str(tmp_path / "no" / "x.pb")]) == 2
    assert f"there is no folder {tmp_path / 'no'}" in capsys.readouterr().err
