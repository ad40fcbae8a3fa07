"""Tables and pictures, from outcomes that are made up; and the command that makes them from real ones."""

import re
from dataclasses import replace

import pytest

from tideflow import cli
from tideflow.simulator import experiments, machines, paper, report
from tideflow.simulator.experiments import Outcome
from tideflow.simulator.network import NEVER, Machine

HERE = Machine(message_seconds=50e-6, latency=50e-6, bytes_per_second=1e9)


@pytest.fixture
def outcomes():
    """As if every step took a second more for each backup that is missing, and one otherwise."""
    found = dict.fromkeys(experiments.jobs(HERE), Outcome((1.0, 1.0), 50.0, 0))
    for backups in experiments.BACKUPS:
        found["backups", backups] = Outcome((1.0 + max(0, 3 - backups),), 50.0, 0)
    return found


def test_every_number_of_the_paper_has_a_row(outcomes):
    rows = report.rows(outcomes)
    published = [row.published for row in rows]
    for seconds in (*paper.NULL_STEP_SECONDS.values(), *paper.SPARSE_SECONDS):
        assert pytest.approx(1e3 * seconds) in published
    assert published.count(paper.INCEPTION_IMAGES_PER_SECOND) == 2
    assert sum(row.fitted for row in rows) == 5


def test_an_error_is_relative_to_what_was_published():
    row = report.Row("a step", 4.0, 5.0, " ms", fitted=False)
    assert row.cells() == ["a step", "4 ms", "5 ms", "+25%", "predicted"]
    assert report.Row("backups", 4, 3, "", fitted=False).error == "-1"


def test_the_best_number_of_backups_is_found(outcomes):
    best = {row.what: row.simulated for row in report.rows(outcomes) if "backups with" in row.what}
    assert list(best.values()) == [3, 3]
    assert experiments.normalized_speedup(outcomes, 3) == pytest.approx(4 * 50 / 53)


def test_images_are_batches_of_32():
    assert report.images(Outcome((1.0,), gradients_per_second=2.0, dropped=0)) == 64


def test_synchronous_steps_count_what_they_need_and_others_what_is_sent():
    machine = Machine(message_seconds=0.0, latency=1.0, bytes_per_second=1e12)
    job = experiments.null_job("scalar", 4, machine)
    outcome = experiments.simulate(job, 3)
    assert len(outcome.seconds) == 2
    assert outcome.gradients_per_second == pytest.approx(4 / outcome.median, rel=1e-6)


def test_several_processes_find_what_one_does():
    jobs = {("a", n): (experiments.null_job("sparse", n, HERE), 2) for n in (1, 2, 3)}
    assert experiments.run_all(jobs, processes=2) == experiments.run_all(jobs, processes=1)


def test_the_command_draws_and_prints(outcomes, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(experiments, "run_all", lambda jobs, processes: {key: outcomes[key] for key in jobs})
    assert cli.main(["simulate", "--out", str(tmp_path / "made")]) == 0
    printed = capsys.readouterr().out
    for name in ("null_steps", "inception", "backups", "scale"):
        picture = tmp_path / "made" / f"{name}.png"
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert str(picture) in printed
    page = (tmp_path / "made" / "results.md").read_text()
    assert "| null step, scalar, 100 workers | 8.8 ms | 1000 ms |" in page
    assert re.search(r"^10,000 ", printed, re.MULTILINE)


def test_servers_in_groups_take_as_long_as_each_for_itself():
    quiet = {"straggling": NEVER, "spread": 0.0}
    apart = replace(experiments.inception_job(60, servers=8, groups=8), **quiet)
    grouped = replace(experiments.inception_job(60, servers=8, groups=4), **quiet)
    medians = [experiments.simulate(job, 2).median for job in (apart, grouped)]
    assert medians[1] == pytest.approx(medians[0], rel=0.05)


def test_what_was_measured_is_kept_with_date_and_machine():
    measured = machines.calibration()
    assert {"date", "machine", "load_average"} <= set(measured)
    machine = machines.tideflow_machine(measured, gigabits=1.0)
    assert machine.bytes_per_second == pytest.approx(125e6)
    assert machine.message_seconds == measured["message_seconds"] > 0
    assert machines.several(machine, 3).bytes_per_second == pytest.approx(375e6)
