"""The paper's experiment with backup workers, at a size that fits one machine, with a picture.

Real processes train together by SyncReplicasOptimizer (sync_replicas.py); stragglers are put in on purpose,
the same ones every time. A dashed line shows what the simulator expects of the same stragglers, with messages
that cost what was measured of this runtime.

    python examples/backup_workers.py --need 4 --backups 3 --out out/backup_workers.png
"""

from pathlib import Path

import numpy as np
from cluster_task import run
from sync_replicas import compare, experiment_flags, turn, work


def expected(options):
    """The seconds of a step with each number of backups, as the simulator has it."""
    from tideflow.simulator import experiments, machines
    from tideflow.simulator.training import Job

    machine = machines.tideflow_machine(machines.calibration())
    found = []
    for backups in range(options.backups + 1):
        rngs = [np.random.RandomState(worker) for worker in range(options.need + backups)]
        job = Job(
            workers=len(rngs),
            servers=options.ps,
            worker=machine,
            server=machine,
            backups=backups,
            computing=lambda worker, rngs=rngs: turn(rngs[worker], options)[0],
        )
        found.append(float(np.mean(experiments.simulate(job, options.steps).seconds)))
    return found


def draw(path, options, real, simulated):
    """Step times, and what they bring when the backups' machines are counted too."""
    from tideflow.simulator.pictures import APART, TOGETHER, figure_of, from_zero, legend, prepare

    n, backups = options.need, np.arange(options.backups + 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    with figure_of(path, 2) as (times, gains):
        prepare(times, f"{n} workers with backups", "backup workers", "milliseconds a step")
        prepare(gains, "t(0)/t(b) x n/(n+b)", "backup workers", "normalized speedup")
        for seconds, style, colour, label in (
            (real, "o-", TOGETHER, "real processes"),
            (simulated, "s--", APART, "simulated"),
        ):
            seconds = np.array(seconds)
            times.plot(backups, 1000 * seconds, style, color=colour, label=label)
            gains.plot(backups, seconds[0] / seconds * n / (n + backups), style, color=colour, label=label)
        for axes in (times, gains):
            axes.set_xticks(backups)
            from_zero(axes)
            legend(axes, loc="lower right")


def compare_and_draw(options, arguments):
    """The experiment, and what the simulator expects of it."""
    real, simulated = compare(options, arguments), expected(options)
    print("simulated: " + "   ".join(f"{backups}: {1000 * t:.1f} ms" for backups, t in enumerate(simulated)))
    draw(options.out, options, real, simulated)
    print(f"picture: {options.out}")


def main():
    parser = experiment_flags(__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/backup_workers.png"), help="the picture")
    parser.set_defaults(need=4, backups=3, steps=100)
    run(work, parser.parse_args(), alone=compare_and_draw)


if __name__ == "__main__":
    main()
