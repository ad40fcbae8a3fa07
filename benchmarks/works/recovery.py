"""From the kill of a training program to the next one's first step: noticed, started, restored, resumed."""

import atexit
import shutil
import subprocess
import sys
import tempfile

from benchmarks.peers import ROOT
from benchmarks.works import Step

title = "recovery: kill -9 to the first step restored (a new process, 64 MB)"
steps = 1
shared = False
reach = {"tensorflow": 1.0}

SAVED_BY = 12  # steps after which there is a checkpoint


class Training:
    """A training program in a process of its own, which is started anew where it ended."""

    def __init__(self, engine):
        self.engine = engine
        self.folder = tempfile.mkdtemp(prefix="recovery")
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self):
        command = [sys.executable, "-m", "benchmarks.trainer", self.engine, self.folder]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, cwd=ROOT, text=True, **pipes)

    def next_step(self):
        """The step that it has come to."""
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the training program ended with {self.process.wait()}")
        return int(line)

    def kill(self):
        self.process.kill()
        self.process.wait()


def tf1(tf):
    training = Training("tideflow" if tf.__name__ == "tideflow" else "tensorflow")

    def prepare():
        training.start()
        first = training.next_step()
        while training.next_step() < first + SAVED_BY:
            pass
        return ()

    def recover():
        training.kill()
        training.start()
        step = training.next_step()
        training.kill()
        return step > 1

    return Step(recover, prepare)
