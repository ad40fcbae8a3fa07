"""`tideflow serve` as a program, by the example that `make serve` runs."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tideflow.cli import main
from tideflow.serving import serve_command

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow(reason="it trains a network, and starts a server as a program")
def test_the_served_digits_are_read(tmp_path):
    command = [sys.executable, ROOT / "examples" / "serve_digits.py", "--once", "--steps=100"]
    flags = [f"--models={tmp_path / 'models'}", "--port=-1", "--rest_api_port=-1"]
    done = subprocess.run([*command, *flags], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    shares = re.findall(r"(http|grpc)://\S+: ([\d.]+)% of 360 unseen digits right", done.stdout)
    assert [kind for kind, _ in shares] == ["http", "grpc"] and float(shares[0][1]) > 85
    assert shares[0][1] == shares[1][1]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "Name the models to serve"),
        (["/no/such/place"], "/no/such/place cannot be read"),
        (["/", "--host=0.0.0.0"], "Give it tokens"),
        (["/", "--ssl_config_file=/no/such/file"], "/no/such/file; No such file"),
        (["/", "--token_file=/no/such/file"], "/no/such/file; No such file"),
        (["/", "--request_log=/no/such/place/log"], "there is no directory /no/such/place"),
    ],
)
def test_what_is_refused(capsys, arguments, words):
    assert main(["serve", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_the_event_loop_waits_for_no_other_thread_for_long(monkeypatch, tmp_path):
    seen, usual = [], sys.getswitchinterval()

    async def serve(options, started):
        seen.append(sys.getswitchinterval())

    monkeypatch.setattr(serve_command, "serve", serve)
    assert main(["serve", str(tmp_path)]) == 0
    assert seen[0] < 0.0005 and sys.getswitchinterval() == usual


@pytest.mark.parametrize("flag, other", [("port", "rest_api_port"), ("rest_api_port", "port")])
def test_a_port_that_is_taken(capsys, tmp_path, flag, other):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", str(tmp_path), f"--{flag}={port}", f"--{other}=-1"]) == 2
    assert (
        f"Port {port} of 127.0.0.1 cannot be listened at: Address already in use" in capsys.readouterr().err
    )
