"""The servers that are measured: how each is started, which models it has, and the bodies of its requests."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers import QUIET, ROOT
from benchmarks.serving import models, numpy_models
from benchmarks.serving.load import (
    SERVER_CORES,
    grpc_body,
    grpc_body_v2,
    json_body,
    json_body_of_x,
    json_body_v2,
)

HERE = Path(__file__).parent
PEERS = Path(os.environ.get("SERVING_PEERS", ROOT / ".oracles"))  # where `make-peers` put them
PREDICT = "/tensorflow.serving.PredictionService/Predict"
START_SECONDS = 120
_STOP_SECONDS = 40


@dataclass(frozen=True)
class Address:
    """Where a server answers, and what it is."""

    rest: str  # a URL with {model}
    grpc: str  # a URL; "" where there is no gRPC
    version: str
    pid: int


@dataclass(frozen=True)
class Server:
    """A server that takes part."""

    title: str
    start: Callable[[Path], "contextlib.AbstractContextManager[Address]"]
    python: Path = Path(sys.executable)
    models: tuple[str, ...] = numpy_models.NAMES
    body: Callable[[np.ndarray], bytes] = json_body
    message: Callable[[str, np.ndarray], bytes] | None = None  # a gRPC request; None where there is no gRPC

    @property
    def interfaces(self) -> tuple[str, ...]:
        """REST, and gRPC where the server has it."""
        return ("REST",) if self.message is None else ("REST", "gRPC")


@contextlib.contextmanager
def process(
    command: Sequence[str], cores: str = SERVER_CORES, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """A process on the server's core, ended with the block. It is killed if it does not say in time that it
    answers (`said`).
    """
    started = subprocess.Popen(
        ["taskset", "-c", cores, *command],
        cwd=ROOT,
        env={**os.environ, **QUIET, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.communicate(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            started.kill()
            started.communicate()


def said(process: "subprocess.Popen[str]", begins: str = "") -> str:
    """The next line that a process prints and that begins so."""
    assert process.stdout is not None
    late = threading.Timer(START_SECONDS, process.kill)
    late.start()
    try:
        for line in process.stdout:
            if line.startswith(begins):
                return line.strip()
    finally:
        late.cancel()
    raise RuntimeError(f"it ended before it answered (exit code {process.wait()})")


def wait_for(url: str, process: "subprocess.Popen[str]") -> None:
    """Waits until a URL is answered well."""
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError) as error:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{url} is not answered: {error}") from None
            time.sleep(0.1)


@contextlib.contextmanager
def tideflow(folder: Path, *flags: str, cores: str = SERVER_CORES) -> Iterator[Address]:
    """`tideflow serve` of a folder of models, once they are loaded."""
    command = [sys.executable, "-m", "tideflow", "serve"]
    version = subprocess.run([*command, "--version"], capture_output=True, text=True, cwd=ROOT).stdout
    with process([*command, str(folder), "--port=-1", "--rest_api_port=-1", *flags], cores) as started:
        rest, grpc = (said(started).rsplit(" ", 1)[1] for _ in range(2))
        wait_for(f"{rest}readyz", started)
        url = f"{rest}v1/models/{{model}}:predict"
        yield Address(url, f"http://{grpc}{PREDICT}", version.split()[-1], started.pid)


@contextlib.contextmanager
def _tensorflow(folder: Path) -> Iterator[Address]:
    script = str(HERE / "tensorflow_server.py")
    with process([str(SERVERS["tensorflow"].python), script, str(folder), *models.MODELS]) as started:
        found = json.loads(said(started, "{"))
        rest = f"http://127.0.0.1:{found['rest']}/v1/models/{{model}}:predict"
        yield Address(rest, f"http://127.0.0.1:{found['grpc']}{PREDICT}", found["version"], started.pid)


@contextlib.contextmanager
def _mlserver(folder: Path) -> Iterator[Address]:
    home = folder.parent / "mlserver"
    home.mkdir(exist_ok=True)
    numpy_models.write_weights(home)
    rest, grpc, metrics = _free_ports(3)
    ports = {"http_port": rest, "grpc_port": grpc, "metrics_port": metrics}
    settings = {"host": "127.0.0.1", "parallel_workers": 0, "debug": False, **ports}
    (home / "settings.json").write_text(json.dumps(settings))
    for name in numpy_models.NAMES:
        (home / name).mkdir(exist_ok=True)
        one = {"name": name, "implementation": "mlserver_model.NumpyModel", "parameters": {"uri": str(home)}}
        (home / name / "model-settings.json").write_text(json.dumps(one))
    python = SERVERS["mlserver"].python
    with process([str(python.with_name("mlserver")), "start", str(home)], PYTHONPATH=str(HERE)) as started:
        for name in numpy_models.NAMES:
            wait_for(f"http://127.0.0.1:{rest}/v2/models/{name}/ready", started)
        yield _v2_address(rest, grpc, _version(python, "mlserver"), started.pid)


@contextlib.contextmanager
def _triton(folder: Path) -> Iterator[Address]:
    numpy_models.write_weights(folder.parent)
    rest, grpc = _free_ports(2)
    python = SERVERS["triton"].python
    command = [str(python), str(HERE / "triton_server.py"), str(folder.parent), str(rest), str(grpc)]
    library = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_config_var('LIBDIR'))"],
        capture_output=True,
        text=True,
    ).stdout.strip()  # the server's binary looks for a shared libpython
    with process(command, LD_LIBRARY_PATH=library) as started:
        said(started, "ready")
        yield _v2_address(rest, grpc, _version(python, "nvidia-pytriton"), started.pid)


@contextlib.contextmanager
def _bentoml(folder: Path) -> Iterator[Address]:
    numpy_models.write_weights(folder.parent)
    (rest,) = _free_ports(1)
    python = SERVERS["bentoml"].python
    options = ["--host=127.0.0.1", f"--port={rest}", f"--working-dir={HERE}", "--do-not-track", "--quiet"]
    command = [str(python.with_name("bentoml")), "serve", "bentoml_service:Models", *options]
    settings = {"WEIGHTS": str(folder.parent), "PYTHONPATH": str(HERE), "BENTOML_HOME": str(folder.parent)}
    with process(command, **settings) as started:
        wait_for(f"http://127.0.0.1:{rest}/readyz", started)
        yield Address(f"http://127.0.0.1:{rest}/{{model}}", "", _version(python, "bentoml"), started.pid)


@contextlib.contextmanager
def _ray_serve(folder: Path) -> Iterator[Address]:
    numpy_models.write_weights(folder.parent)
    (rest,) = _free_ports(1)
    python = SERVERS["rayserve"].python
    command = [str(python), str(HERE / "ray_server.py"), str(folder.parent), str(rest)]
    with process(command, PYTHONPATH=str(HERE), RAY_USAGE_STATS_ENABLED="0") as started:
        said(started, "ready")
        yield Address(f"http://127.0.0.1:{rest}/{{model}}", "", _version(python, "ray"), started.pid)


def _v2_address(rest: int, grpc: int, version: str, pid: int) -> Address:
    """Of the Open Inference Protocol."""
    path = "/inference.GRPCInferenceService/ModelInfer"
    url = f"http://127.0.0.1:{rest}/v2/models/{{model}}/infer"
    return Address(url, f"http://127.0.0.1:{grpc}{path}", version, pid)


def _version(python: Path, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True).stdout.strip()


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


_ALL = tuple(models.MODELS)
SERVERS = {
    "tideflow": Server("Tideflow", tideflow, models=_ALL, message=grpc_body),
    "tensorflow": Server(
        "TensorFlow in process, http.server and grpcio",
        _tensorflow,
        PEERS / "tf2/bin/python",
        _ALL,
        message=grpc_body,
    ),
    "triton": Server(
        "Triton (pytriton)",
        _triton,
        PEERS / "triton/bin/python",
        body=json_body_v2,
        message=grpc_body_v2,
    ),
    "mlserver": Server(
        "MLServer", _mlserver, PEERS / "mlserver/bin/python", body=json_body_v2, message=grpc_body_v2
    ),
    "bentoml": Server("BentoML", _bentoml, PEERS / "bentoml/bin/python", body=json_body_of_x),
    "rayserve": Server("Ray Serve", _ray_serve, PEERS / "rayserve/bin/python"),
}
