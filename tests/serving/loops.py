"""Servers for tests: a front end on a loop in a thread of its own, or a whole one on the running loop."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import uvloop

from tests.serving.fake_models import FakeModels
from tideflow.serving import config
from tideflow.serving.front import Front
from tideflow.serving.metrics import Metrics
from tideflow.serving.server import Server

PORTS = ["--port=-1", "--rest_api_port=-1"]


@dataclass
class Running:
    """A front end that listens."""

    port: int
    server: Any  # the factory of its connections
    front: Front
    loop: asyncio.AbstractEventLoop

    @property
    def servable(self):
        return self.front.models.servable

    def call(self, function, *arguments):
        """Calls a function on the loop's thread, and waits for what it returns."""

        async def within():
            return function(*arguments)

        return asyncio.run_coroutine_threadsafe(within(), self.loop).result(120)

    def wait_for(self, condition):
        """Waits until a condition holds; the loop's thread looks at each of its turns."""

        async def within():
            while not condition():
                await asyncio.sleep(0.001)

        asyncio.run_coroutine_threadsafe(asyncio.wait_for(within(), 120), self.loop).result(120)


@contextmanager
def listening(make_server, tls=None, make_loop=uvloop.new_event_loop, **front_options):
    """A front end made by `make_server(front)`, listening until the end of the block."""
    loop = make_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    front = Front(FakeModels(), Metrics(), loop.time, **front_options)
    server = make_server(front)

    async def start():
        return await loop.create_server(server, "127.0.0.1", 0, ssl=tls)

    try:
        listener = asyncio.run_coroutine_threadsafe(start(), loop).result(120)
        running = Running(listener.sockets[0].getsockname()[1], server, front, loop)
        yield running

        async def stop():
            listener.close()
            front.is_draining = True
            server.drain()
            while server.connections:
                await asyncio.sleep(0.001)

        asyncio.run_coroutine_threadsafe(asyncio.wait_for(stop(), 120), loop).result(120)
        assert (front.in_flight, front.unread) == (0, 0)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(120)
        loop.close()


@asynccontextmanager
async def served(workers, *flags):
    """A whole server that has loaded its models."""
    server = Server(config.parse([*flags, *PORTS]), workers)
    try:
        await server.start()
        await server.ready()
        yield server
    finally:
        await server.stop(0.0)


def make_certificate(folder):
    """A certificate of localhost for the tests, and a server's TLS with it."""
    if not shutil.which("openssl"):
        pytest.skip("needs openssl")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    )
    command = [*command.split(), "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    return certificate, tls
