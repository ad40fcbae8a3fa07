"""serving/worker.py: what it does beside computing batches, which the tests of replicas see."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.serving.soak import save_model
from tideflow import process
from tideflow.graph import errors
from tideflow.serving import worker
from tideflow.serving.fork_server import ForkServer
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


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux")
@pytest.mark.parametrize("in_background", [True, False])
def test_a_large_model_that_loads_in_the_background_takes_breaks(monkeypatch, tmp_path, in_background):
    path = str(save_model(tmp_path / "1", floats=1 << 20))
    breaks = []
    monkeypatch.setattr(process.time, "sleep", breaks.append)
    own = worker.Worker()
    own.answer(LoadModel(name="m", version=1, path=path, in_background=in_background))
    pieces = (4 << 20) // (128 << 10)
    assert len(breaks) >= 2 * pieces if in_background else not breaks  # to read it, and to copy it
    (variable,) = own._model._session.graph.get_collection("variables")
    found = own._model._session.run(variable)
    assert found.shape == (1 << 20,) and (found == 2).all()


THREADED = """
import threading
threading.Thread(target=input, daemon=True).start()
print("started", flush=True)
input()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux")
def test_a_worker_gives_its_memory_back_at_a_low_priority(monkeypatch, fork_server):
    seen = []
    command = [sys.executable, "-c", THREADED]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **streams, start_new_session=True) as process:
        process.stdout.readline()
        descriptor = os.pidfd_open(process.pid)
        threads = [int(thread) for thread in os.listdir(f"/proc/{process.pid}/task")]
        monkeypatch.setattr(
            signal, "pidfd_send_signal", lambda *order: seen.append((*order, [*map(priority, threads)]))
        )
        fork_server._workers[descriptor], fork_server._descriptors[7] = (7, process.pid), descriptor
        assert fork_server._obey(b'{"kill": 7}') and fork_server._obey(b'{"kill": 8}')
        os.close(descriptor)
        process.kill()
    assert seen == [(descriptor, signal.SIGKILL, [19, 19])]


@pytest.mark.skipif(sys.platform != "linux", reason="processes have descriptors on Linux")
@pytest.mark.parametrize("program, code", [("exit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)])
def test_the_end_of_a_worker_is_told_at_once_and_it_is_reaped_later(monkeypatch, fork_server, program, code):
    told, times = [], iter([10.0, 11.5, 12.0])
    monkeypatch.setattr(fork_server, "_report", lambda **event: told.append(event))
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", program], os.environ)
    descriptor = os.pidfd_open(pid)
    fork_server._workers[descriptor], fork_server._descriptors[7] = (7, pid), descriptor
    fork_server._poll.register(descriptor)
    fork_server._report_end(descriptor)
    assert told == [{"number": 7, "ended": code}]
    assert fork_server._reap() == 500  # milliseconds until then
    assert os.path.exists(f"/proc/{pid}")
    assert fork_server._reap() is None
    assert not os.path.exists(f"/proc/{pid}")


@pytest.fixture
def fork_server():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ForkServer(ours)


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
