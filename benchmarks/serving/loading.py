"""What loading and unloading other models does to a server: the latency of a model that is served meanwhile,
and the memory that is there after the last one has gone.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import grpc
import numpy as np

import tideflow as tf
from benchmarks.serving import models
from benchmarks.serving.driver import say
from benchmarks.serving.load import Load, by_wrk, json_body, picture
from benchmarks.serving.servers import Address, tideflow
from tests.serving.soak import configure, memory, tree

MB = 1 << 20
LARGE, MIDDLE, SMALL = 1024 * MB, 256 * MB, 16 * MB
_BLOCK = 16 * MB
_ROUNDS = 7
_LOADS = 20
_CLIENTS = (1, 8)
_PLACES = {  # where a served model is computed, and the flags for that
    "the server's own process": ("--tiny_models_in_process=true",),
    "a process of its own": ("--tiny_models_in_process=false",),
}
_EVERY_CORE = f"0-{(os.cpu_count() or 1) - 1}"


def loading(work: Path, pictures: Path, seconds: float) -> str:
    """Latencies of a small model, without and with a model of 1 GB that is loaded all the time."""
    models.make(work / "models")
    large = _save(work / "large", LARGE)
    lines = [
        "| the model is in | clients | p50, ms | p99, ms | p50 while 1 GB loads | p99 while 1 GB loads "
        "| p99, times | requests/s | while 1 GB loads | loads |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for place, flags in _PLACES.items():
        with tideflow(work / "models", *flags, cores=_EVERY_CORE) as address:
            for clients in _CLIENTS:
                say(f"1 GB is loaded beside a model in {place}, {clients} clients")
                lines.append(f"| {place} | {clients} | {_beside(address, work, large, clients, seconds)} |")
    return "\n".join(lines)


def _beside(address: Address, work: Path, large: Path, clients: int, seconds: float) -> str:
    """A row of the table: medians of rounds, each without loads and with them."""
    url, body = address.rest.format(model="mlp"), json_body(picture())
    usual: list[Load] = []
    meanwhile: list[Load] = []
    loads = 0
    by_wrk(url, body, clients, 1.0, address.pid)
    for _ in range(_ROUNDS):
        _settled(address.pid)  # else the end of a large model is part of what is usual
        usual.append(by_wrk(url, body, clients, seconds, address.pid))
        with _loaded_again_and_again(address, work, large) as counted:
            meanwhile.append(by_wrk(url, body, clients, seconds, address.pid))
        loads += len(counted)

    def middle(of: list[Load], name: str) -> float:
        return median(getattr(load, name) for load in of)

    times = " | ".join(
        f"{middle(of, name) * 1e3:.2f}" for of in (usual, meanwhile) for name in ("p50", "p99")
    )
    ratio = median(one.p99 / other.p99 for one, other in zip(meanwhile, usual))
    rates = " | ".join(f"{middle(of, 'rate'):,.0f}" for of in (usual, meanwhile))
    return f"{times} | **{ratio:.2f} ×** | {rates} | {loads}"


@contextlib.contextmanager
def _loaded_again_and_again(address: Address, work: Path, large: Path) -> Iterator[list[None]]:
    """Loads and unloads a model until the block ends; the list has an item for each load."""
    served = {"mlp": work / "models" / "mlp"}
    is_over, counted = threading.Event(), []

    def load() -> None:
        with _channel(address) as channel:
            while not is_over.is_set():
                configure(channel, **served, large=large)
                counted.append(None)
                configure(channel, **served)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        yield counted
    finally:
        is_over.set()
        thread.join()


def unloading(work: Path, pictures: Path, seconds: float) -> str:
    """The memory of a server before models are loaded and unloaded, and after."""
    models.make(work / "models")
    lines = [
        f"| the model was in | its size, MB | before, MB | after 1 | after {_LOADS} loads and unloads |",
        "|---|--:|--:|--:|--:|",
    ]
    for (place, flags), size in zip(_PLACES.items(), (SMALL, MIDDLE)):
        say(f"{_LOADS} loads and unloads of {size // MB} MB in {place}")
        other = _save(work / f"other-{size // MB}", size)
        served = {"mlp": work / "models" / "mlp"}
        with tideflow(work / "models", *flags) as address, _channel(address) as channel:
            configure(channel, **served)
            found = [_settled(address.pid)]
            for _ in range(_LOADS):
                configure(channel, **served, other=other)
                configure(channel, **served)
                found.append(_settled(address.pid))
        shown = " | ".join(f"{each / MB:.0f}" for each in (found[0], found[1], found[-1]))
        lines.append(f"| {place} | {size // MB} | {shown} |")
    return "\n".join(lines)


def _settled(pid: int) -> int:
    """The bytes of a server's processes, once those that were told to end have ended."""
    before = -1
    while (now := len(tree(pid))) != before:
        before = now
        threading.Event().wait(0.2)
    return sum(map(memory, tree(pid)))


def _channel(address: Address) -> grpc.Channel:
    return grpc.insecure_channel(address.grpc.split("/")[2])


def _save(folder: Path, size: int) -> Path:
    """A SavedModel with so many bytes of variables."""
    path = folder / "1"
    if not path.exists():
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None, 3], name="x")
            numbers = np.random.default_rng(0).random(_BLOCK // 4, np.float32)
            fed = tf.placeholder(tf.float32, numbers.shape)
            blocks = [
                tf.Variable(fed, name=f"block{number}", validate_shape=True)
                for number in range(size // _BLOCK)
            ]
            session.run(tf.global_variables_initializer(), {fed: numbers})
            y = x * tf.add_n([block[0] for block in blocks])
            tf.saved_model.simple_save(session, str(path), {"x": x}, {"y": y})
    return folder
