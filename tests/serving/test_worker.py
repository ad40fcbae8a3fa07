"""serving/worker.py: what it does beside computing batches, which the tests of replicas see."""

import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tideflow.graph import errors
from tideflow.serving import fork_server, worker
from tideflow.serving.model_kinds import needs_main_thread
from tideflow.serving.worker_messages import LoadModel


def priority(process=0):
    """Of a process' first thread, or of the calling thread."""
    return os.getpriority(os.PRIO_PROCESS, process)


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux")
def test_loads_in_the_background_leave_the_processors_to_others():
    def priorities():
        with ThreadPoolExecutor(1) as thread:
            return priority(), thread.submit(priority).result()

    usual = priority()
    assert worker._in_background(priorities) == (19, 19)
    assert priority() == usual


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux")
def test_a_model_is_loaded_compiled_and_warmed_up_at_a_low_priority(monkeypatch, tmp_path, save_linear):
    seen = []
    for name in ("load_model", "compile_ahead", "warm_up"):

        def called(*args, real=getattr(worker, name), **named):
            seen.append(priority())
            return real(*args, **named)

        monkeypatch.setattr(worker, name, called)
    (tmp_path / "warm").touch()
    path, warm = save_linear(tmp_path / "1", 3), str(tmp_path / "warm")
    for in_background in (True, False):
        message = LoadModel(name="m", version=1, path=path, warm_up=warm, in_background=in_background)
        worker.Worker().answer(message)
    assert seen == [19] * 3 + [priority()] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="the system lists the threads of a process on Linux")
def test_a_worker_gives_its_memory_back_at_a_low_priority(monkeypatch):
    seen = []
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        descriptor = os.pidfd_open(process.pid)
        monkeypatch.setattr(
            signal,
            "pidfd_send_signal",
            lambda *order: seen.append((*order, priority(process.pid))),
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
        worker._in_background(load)


def test_programs_are_loaded_by_the_main_thread(tmp_path):
    (tmp_path / "model.py").write_text(
        "import threading\nLOADED_BY = threading.current_thread()\ndef predict_batch(x): return x + 1\n"
    )
    assert needs_main_thread(str(tmp_path)) and needs_main_thread("/nowhere", "python")
    assert not needs_main_thread(str(tmp_path), "sklearn") and not needs_main_thread("/nowhere")
    assert needs_main_thread("/nowhere", "onnx")  # its threads would stay what the loading one is
    message = LoadModel(name="m", version=1, path=str(tmp_path), trusted=True, in_background=True)
    own = worker.Worker()
    own.answer(message)
    assert own._model._function.__globals__["LOADED_BY"] is threading.main_thread()
