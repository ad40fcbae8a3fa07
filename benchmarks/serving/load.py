"""Load by wrk and h2load, and what it cost the server."""

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import grpc
import numpy as np
import orjson

from tideflow.graph.own_protos import make_messages
from tideflow.serving.messages import PredictRequest

SERVER_CORES, LOAD_CORES = ("0", "1") if (os.cpu_count() or 1) == 2 else ("0", "1-3")
_LONGEST = 300  # seconds of a load generator whose server hangs
_PREFIX = 5  # bytes that gRPC puts before a message
_LUA = """
wrk.method = "POST"
wrk.body = io.open("BODY", "rb"):read("*a")
wrk.headers["Content-Type"] = "application/json"
done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\\nJSON {"requests": %d, "microseconds": %d, "errors": %d, "p50": %d, "p99": %d, "p999": %d}\\n',
    summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
"""


@dataclass(frozen=True)
class Load:
    """What a load generator saw. Latencies are in seconds."""

    rate: float
    p50: float
    p99: float
    p999: float
    errors: int
    cpu: float  # seconds of the server's, a request


def picture() -> np.ndarray:
    """A picture, as floats of three digits."""
    return np.random.default_rng(0).random(784).round(3).astype(np.float32)


def json_body(picture: np.ndarray) -> bytes:
    """A row as TensorFlow Serving's REST interface takes it."""
    return orjson.dumps({"instances": [[round(float(value), 3) for value in picture]]})


def json_body_of_x(picture: np.ndarray) -> bytes:
    """A row as the argument `x` of a function, as BentoML takes it."""
    return orjson.dumps({"x": [[round(float(value), 3) for value in picture]]})


def grpc_body(model: str, picture: np.ndarray) -> bytes:
    """A PredictRequest of TensorFlow Serving's."""
    request = PredictRequest()
    request.model_spec.name = model
    tensor = request.inputs["x"]
    tensor.dtype = 1
    for size in (1, picture.size):
        tensor.tensor_shape.dim.add(size=size)
    tensor.tensor_content = picture.tobytes()
    return _framed(request.SerializeToString())


_V2 = make_messages(
    "infer",
    {
        "InferInputTensor": {"name": "string", "datatype": "string", "shape": "repeated int64"},
        "ModelInferRequest": {
            "model_name": "string",
            "inputs": "5 repeated InferInputTensor",
            "raw_input_contents": "7 repeated bytes",
        },
    },
    package="benchmarks.serving",
)


def json_body_v2(picture: np.ndarray) -> bytes:
    """A row as the Open Inference Protocol takes it: Triton's, MLServer's."""
    values = [round(float(value), 3) for value in picture]
    tensor = {"name": "x", "shape": [1, picture.size], "datatype": "FP32", "data": values}
    return orjson.dumps({"inputs": [tensor]})


def grpc_body_v2(model: str, picture: np.ndarray) -> bytes:
    """A ModelInferRequest of the same protocol."""
    request = _V2["ModelInferRequest"](model_name=model, raw_input_contents=[picture.tobytes()])
    request.inputs.add(name="x", datatype="FP32", shape=[1, picture.size])
    return _framed(request.SerializeToString())


def _framed(message: bytes) -> bytes:
    """A message with the prefix that gRPC puts before it."""
    return b"\0" + len(message).to_bytes(_PREFIX - 1, "big") + message


def by_wrk(url: str, body: bytes, clients: int, seconds: float, pid: int) -> Load:
    """Requests by HTTP/1.1, one after another on each of the connections."""
    with _file(body) as path, _file(_LUA.replace("BODY", path).encode(), ".lua") as script:
        command = ["wrk", "-t1", f"-c{clients}", f"-d{max(1, round(seconds))}s", "-s", script, url]
        began = cpu_seconds(pid)
        text = _output(command)
        spent = cpu_seconds(pid) - began
    found = json.loads(next(line for line in text.splitlines() if line.startswith("JSON"))[5:])
    count = max(found["requests"], 1)
    return Load(
        found["requests"] / found["microseconds"] * 1e6,
        *(found[key] / 1e6 for key in ("p50", "p99", "p999")),
        found["errors"],
        spent / count,
    )


def check_grpc(url: str, body: bytes) -> None:
    """Raises an error unless a call is answered well: h2load does not look at gRPC's own status."""
    parts = urlsplit(url)
    with grpc.insecure_channel(parts.netloc) as channel:
        channel.unary_unary(parts.path)(body[_PREFIX:], timeout=30)


def by_h2load(url: str, body: bytes, clients: int, seconds: float, pid: int) -> Load:
    """Unary calls of gRPC by HTTP/2, one after another on each of the connections."""
    headers = ["-H", "content-type: application/grpc", "-H", "te: trailers"]
    with _file(body) as path, _file(b"") as log:
        command = ["h2load", "-t1", f"-c{clients}", "-m1", f"-D{max(1, round(seconds))}", f"--log-file={log}"]
        began = cpu_seconds(pid)
        text = _output([*command, "-d", path, *headers, url])
        spent = cpu_seconds(pid) - began
        rows = [line.split() for line in Path(log).read_text().splitlines()]
    times = np.array([float(row[2]) for row in rows]) / 1e6 if rows else np.array([np.inf])
    errors = sum(row[1] != "200" for row in rows)
    rate = next(line for line in text.splitlines() if line.startswith("finished in"))
    return Load(
        float(rate.split(",")[1].split()[0]),
        *(float(np.quantile(times, share)) for share in (0.5, 0.99, 0.999)),
        errors,
        spent / max(len(rows), 1),
    )


def _output(command: list[str]) -> str:
    made = subprocess.run(
        ["taskset", "-c", LOAD_CORES, *command], capture_output=True, text=True, timeout=_LONGEST
    )
    if made.returncode:
        raise RuntimeError(f"{command[0]}: {made.stderr or made.stdout}")
    return made.stdout


@contextlib.contextmanager
def _file(content: bytes, suffix: str = "") -> Iterator[str]:
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(content)
        file.flush()
        yield file.name


def cpu_seconds(pid: int) -> float:
    """What a process and all that came of it have used of processors."""
    parents: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            parents.setdefault(int(fields[1]), []).append(int(folder.name))
            spent[int(folder.name)] = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    total, left = 0.0, [pid]
    while left:
        one = left.pop()
        total += spent.get(one, 0.0)
        left += parents.get(one, [])
    return total
