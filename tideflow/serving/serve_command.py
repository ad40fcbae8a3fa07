"""`tideflow serve`: its start, what it says, and the event loop that it runs on."""

from __future__ import annotations

import asyncio
import logging
import sys
from argparse import Namespace
from collections.abc import Sequence

from tideflow._version import __version__
from tideflow.serving import config
from tideflow.serving.server import Server, serve

# Seconds after which a thread that computes gives Python's lock to the event loop. With Python's own, five
# milliseconds, requests are as late as that while a tiny model is loaded into the server's process.
SWITCH_INTERVAL = 0.0001

_log = logging.getLogger("tideflow.serving")


def main(arguments: Sequence[str]) -> int:
    """Serves until a signal comes; the exit status."""
    options = config.parse(arguments)
    if options.version:
        print(f"tideflow {__version__}")
        return 0
    if options.kubernetes:
        from tideflow.serving.manifests import kubernetes  # loaded when asked for

        sys.stdout.write(kubernetes(options, arguments))
        return 0
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
    for name in ("tensorflow", "absl"):
        logging.getLogger(name).setLevel(logging.WARNING)
    for line in config.without_effect(options):
        _log.warning("%s", line)
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    loop = new_event_loop()
    try:
        loop.run_until_complete(serve(options, lambda server: _say(server, options)))
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        sys.setswitchinterval(usual)
    return 0


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's loop where it is installed, otherwise asyncio's own."""
    try:
        import uvloop  # loaded when asked for
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _say(server: Server, options: Namespace) -> None:
    scheme = "https" if options.ssl_config_file else "http"
    if server.rest_address:
        print(f"REST, and a page to look at: {scheme}://{server.rest_address}/", flush=True)
    if server.grpc_address:
        print(f"gRPC: {server.grpc_address}", flush=True)
    names = server.manager.names()
    print(f"Loading {', '.join(names) if names else 'models as they come: there are none yet'}", flush=True)
