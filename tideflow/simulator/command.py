"""`tideflow simulate`: every experiment, the tables, the pictures."""

from __future__ import annotations

import time
from pathlib import Path

from tideflow.simulator import experiments, machines, pictures, report


def simulate(folder: Path, calibrate_first: bool = False, processes: int | None = None) -> None:
    """Runs all, prints the tables, and leaves them with the pictures in a folder."""
    if calibrate_first:
        from tideflow.simulator import calibrate  # loaded when asked for

        calibrate.write(machines.CALIBRATION)
    measured = machines.calibration()
    jobs = experiments.jobs(machines.tideflow_machine(measured))
    largest = max(job.workers for job, _ in jobs.values())
    print(f"== Simulating {len(jobs)} clusters of up to {largest:,} workers")
    began = time.perf_counter()
    outcomes = experiments.run_all(jobs, processes)
    print(f"== Done in {time.perf_counter() - began:.0f} s\n")
    print(report.as_text(outcomes))
    paths = pictures.draw_all(outcomes, folder)
    page = folder / "results.md"
    page.write_text(report.as_markdown(outcomes, measured), encoding="utf-8")
    print("\n" + "\n".join(map(str, [*paths, page])))
