"""TensorFlow's own clients, of both versions, on a Tideflow server: they train, share, fail, are killed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import runner

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "tensorflow_clients.md"
SECONDS = 120


@pytest.fixture
def target():
    """That of a server in a process of its own."""
    command = [sys.executable, "-m", "tideflow", "server", "--tensorflow-clients", "localhost:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=runner.ROOT) as server:
        server.stdout.readline()
        yield server.stdout.readline().split()[-1]
        server.terminate()


def start(side, *arguments):
    python = runner.ENVIRONMENTS / side / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no environment {side}")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.Popen(
        [str(python), *arguments],
        env={**environment, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def client(side, *arguments, program="client_program.py"):
    """What a run of the client's program told."""
    with start(side, str(HERE / program), *arguments) as process:
        out, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, out
    return json.loads(out.splitlines()[-1])


@pytest.mark.parametrize("side", ["tf1", "tf2"])
def test_clients_train_share_fail_and_are_killed(side, target):
    first = client(side, target, "first")
    assert first["losses"][0] == 20.0 and first["losses"][2] < 20.0
    assert first["steps"] == 3 and first["word"] == "word" and first["late"]
    assert first["bad"] == "bad" and "CPU:0" in first["devices"][0]
    with start(side, str(HERE / "client_program.py"), target, "wait") as waiting:
        assert waiting.stdout.readline() == "waiting\n"
        waiting.kill()
    # The step of the killed client takes no word, and the variables go on where they were.
    after = client(side, target, "next")
    assert after["steps"] == 7 and after["word"] == "word" and after["losses"][0] < first["losses"][2]


def test_pipelines_of_tensorflow_2(target):
    """They have op types that came after 1.15."""
    here, there = (client("tf2", *given, program="client_pipelines.py") for given in ([], [target]))
    assert there == here and len(here["interleaved"]) == 6


@pytest.mark.parametrize("side", ["tf1", "tf2"])
def test_the_program_of_the_page(side, target, tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    script = tmp_path / "program.py"
    script.write_text(program.replace("grpc://localhost:2222", target))
    with start(side, str(script)) as process:
        out, _ = process.communicate(timeout=SECONDS)
    assert out.splitlines()[-1] == "3.000"
