"""One peer's side of the measuring: `python -m benchmarks.worker PEER` in the peer's own environment.

Each line of standard input, "WORK STEPS", is answered by a line of JSON: the median seconds of a step, the
value of the very first one, its page faults, the most memory that it took, and the memory the process holds.
A work is set up when it is first asked for.
"""

import functools
import importlib
import importlib.metadata
import json
import os
import platform
import resource
import statistics
import sys
import time
import traceback
from collections.abc import Callable

from benchmarks.works import Step


def main(peer: str) -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is not an answer
    library, version = LIBRARIES[peer]()
    tell(answers, python=platform.python_version(), version=version, **memory())
    begun = functools.cache(functools.partial(begin, peer, library))
    for line in sys.stdin:
        work, steps = line.split()
        try:
            tell(answers, **measure(*begun(work), int(steps)), **memory())
        except Exception as error:
            traceback.print_exc()
            tell(answers, error=f"{type(error).__name__}: {error}")


def tell(answers, **facts) -> None:
    print(json.dumps(facts), file=answers)


def begin(peer, library, work) -> tuple[Step, float]:
    """The work's step, warmed up, and the value of its first time."""
    module = importlib.import_module(f"benchmarks.works.{work}")
    if peer in ("tideflow", "tensorflow"):
        with library.Graph().as_default():
            step = module.tf1(library)
    else:
        step = getattr(module, peer)()
    if not isinstance(step, Step):
        step = Step(step)
    first = float(step.run(*step.prepare()))
    for _ in range(module.steps // 2):
        step.run(*step.prepare())
    return step, first


def measure(step: Step, first: float, steps: int) -> dict[str, float]:
    times: list[float] = []
    faults: list[float] = []
    baselines: list[float] = []
    before = forgotten_peak()
    for _ in range(steps):
        prepared = step.prepare()
        faults_before = page_faults()
        times.append(seconds_of(step.run, *prepared))
        faults.append(page_faults() - faults_before)
        if step.baseline is not None:
            baselines.append(seconds_of(step.baseline))
    measured = {
        "seconds": statistics.median(times) / step.units,
        "faults": statistics.median(faults) / step.units,
        "taken": max(memory()["peak"] - before, 0),
        "first": first,
    }
    return {**measured, "baseline": statistics.median(baselines) / step.units} if baselines else measured


def page_faults() -> int:
    """Those of this process so far that were served without the disk."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def forgotten_peak() -> int:
    """Resident bytes now; the most there ever were is counted from here on."""
    with open("/proc/self/clear_refs", "w") as references:
        references.write("5")
    return memory()["resident"]


def seconds_of(function: Callable, *arguments) -> float:
    started = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - started


def memory() -> dict[str, int]:
    """Resident bytes now, and the most there ever were."""
    with open("/proc/self/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    return {"resident": kilobytes(fields["VmRSS"]), "peak": kilobytes(fields["VmHWM"])}


def kilobytes(field: str) -> int:
    return 1024 * int(field.split()[0])


def load_tideflow():
    import tideflow as tf

    return tf, importlib.metadata.version("tideflow")


def load_tensorflow():
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    return tf, tf.__version__


def load_pytorch():
    import torch

    return torch, torch.__version__


def load_jax():
    import jax

    return jax, jax.__version__


def load_numpy():
    import numpy

    return numpy, numpy.__version__


LIBRARIES = {
    "tideflow": load_tideflow,
    "tensorflow": load_tensorflow,
    "pytorch": load_pytorch,
    "jax": load_jax,
    "numpy": load_numpy,
}

if __name__ == "__main__":
    main(sys.argv[1])
