"""The real `tensorboard` program on a directory that the tour (examples/tensorboard_tour.py) has written."""

import importlib.util
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

_TOUR = Path(__file__).parents[2] / "examples" / "tensorboard_tour.py"
_START_SECONDS = 240  # on a busy machine


@pytest.fixture(scope="session")
def tour(tmp_path_factory) -> Path:
    """A log directory with one of everything."""
    spec = importlib.util.spec_from_file_location("tensorboard_tour", _TOUR)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    logdir = tmp_path_factory.mktemp("tour")
    for rate in (0.01, 0.001):
        module.train(str(logdir / f"rate_{rate:g}"), rate)
    return logdir


@pytest.fixture(scope="session")
def board(tour):
    """The address of a TensorBoard that has read the tour."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(tour), "--port", "0"]
    command += ["--host", "127.0.0.1", "--load_fast", "false"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    killer = threading.Timer(_START_SECONDS, process.kill)  # ends the reading below, whatever happens
    killer.start()
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                break
        else:
            pytest.fail(f"tensorboard did not start: {''.join(said)}")
        while get(f"{found[0]}/data/plugin/graphs/info").count(b'"profile": true') < 2:
            assert process.poll() is None, "tensorboard ended before it had read the directory"
            time.sleep(0.1)
        killer.cancel()
        yield found[0]
    finally:
        killer.cancel()
        process.kill()
        process.wait()
        process.stderr.close()


def get(url: str, body: bytes | None = None) -> bytes:
    """What the server answers."""
    headers = {} if body is None else {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=_START_SECONDS) as answer:
        return answer.read()


@pytest.fixture(scope="session")
def ask(board):
    """Asks a plugin of TensorBoard for data."""

    def ask(path: str, body: bytes | None = None) -> bytes:
        try:
            return get(f"{board}/data/{path}", body)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error} {error.read()[:500]!r}") from error

    return ask
