"""serving/worker.py: what it does beside computing batches, which the tests of replicas see."""

import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from tideflow.graph import errors
from tideflow.serving import fork_server, worker
from tideflow.serving.model_kinds import is_program
from tideflow.serving.worker_messages import LoadModel


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux")
def test_loads_in_the_background_leave_the_processors_to_others():
    def priority():
        return os.getpriority(os.PRIO_PROCESS, 0)

    usual = priority()
    assert worker._at_low_priority(priority) == min(19, usual + 10)
    assert priority() == usual


@pytest.mark.skipif(sys.platform != "linux", reason="the system lists the threads of a process on Linux")
def test_a_worker_gives_its_memory_back_at_the_lowest_priority(monkeypatch):
    seen = []
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        descriptor = os.pidfd_open(process.pid)
        monkeypatch.setattr(
            signal,
            "pidfd_send_signal",
            lambda *order: seen.append((*order, os.getpriority(os.PRIO_PROCESS, process.pid))),
        )
        ours, theirs = socket.socketpair()
        with ours, theirs:
            server = fork_server.ForkServer(ours)
            server._workers[descriptor], server._descriptors[7] = (7, process.pid), descriptor
            assert server._obey(b'{"kill": 7}') and server._obey(b'{"kill": 8}')
        os.close(descriptor)
        process.kill()
    assert seen == [(descriptor, signal.SIGKILL, 19)]


def test_what_a_load_in_the_background_raises_is_raised():
    def load():
        raise errors.data_loss("cut short")

    with pytest.raises(errors.DataLossError, match="cut short"):
        worker._at_low_priority(load)


def test_programs_are_loaded_by_the_main_thread(tmp_path):
    (tmp_path / "model.py").write_text(
        "import threading\nLOADED_BY = threading.current_thread()\ndef predict_batch(x): return x + 1\n"
    )
    assert is_program(str(tmp_path)) and is_program("/nowhere", "python")
    assert not is_program(str(tmp_path), "sklearn") and not is_program("/nowhere")
    message = LoadModel(name="m", version=1, path=str(tmp_path), trusted=True, in_background=True)
    own = worker.Worker()
    own.answer(message)
    assert own._model._function.__globals__["LOADED_BY"] is threading.main_thread()
