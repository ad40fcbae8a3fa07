"""`tideflow pipeline ui`: a small server of the page, for the user of this machine who has its address.

The address has a random token in it, without which nothing is answered: other users of the machine can reach
the port, but do not know the token.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.pipeline.orchestration.metadata import Metadata
from tideflow.pipeline.ui.accepting import Accepting
from tideflow.pipeline.ui.figures import run_figures, run_list
from tideflow.pipeline.ui.report import page

_LARGEST_BODY = 1 << 16
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"


def serve(store: Metadata, port: int) -> None:
    """Serves until it is interrupted.

    Args:
        store: the metadata.
        port: on the loopback; 0 for any that is free.
    """
    server = make_server(store, port)
    print(f"Runs, to look at: {server.address}", flush=True)
    try:
        server.serve_forever(poll_interval=0.2)
    finally:
        server.server_close()


class PageServer(ThreadingHTTPServer):
    """The server, with what its requests share."""

    daemon_threads = True

    def __init__(self, store: Metadata, port: int) -> None:
        self.store, self.accepting = store, Accepting(store)
        self.token = secrets.token_urlsafe(16)
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://127.0.0.1:{self.server_port}/?token={self.token}"


def make_server(store: Metadata, port: int = 0) -> PageServer:
    """Listens, and serves when `serve_forever` is called.

    Args:
        store: the metadata.
        port: on the loopback; 0 for any that is free.

    Raises:
        UnavailableError: If the port cannot be had.
    """
    try:
        return PageServer(store, port)
    except (OSError, OverflowError) as error:
        words = getattr(error, "strerror", None) or error
        raise errors.unavailable(f"--port {port}: {words}. Another one, or 0 for any, will do") from None


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    timeout = 30  # of a client that sends nothing

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        if not self._is_known(query):
            return
        if parts.path == "/":
            self._answer(200, page().encode(), "text/html; charset=utf-8")
        elif parts.path == "/runs.json":
            self._answer_json(200, run_list(self.server.store))
        elif parts.path == "/run.json":
            self._run(query)
        else:
            self._answer(404, b"There is no such page.", "text/plain")

    def do_POST(self) -> None:
        parts = urlsplit(self.path)
        if not self._is_known({}):
            return
        size = int(self.headers.get("Content-Length") or 0)
        if parts.path != "/accept" or not 0 < size <= _LARGEST_BODY:
            self._answer_json(404, {"ok": False, "words": "There is no such request."})
            return
        try:
            asked = json.loads(self.rfile.read(size))
            words = self.server.accepting.accept(
                int(asked["run"]), int(asked["artifact"]), str(asked["split"]), int(asked["number"])
            )
        except (ValueError, KeyError, TypeError, OSError) as error:
            self._answer_json(400, {"ok": False, "words": str(error)})
        except OpError as error:
            self._answer_json(409, {"ok": False, "words": error.message})
        else:
            self._answer_json(200, {"ok": True, "words": words})

    def _run(self, query: Mapping[str, str]) -> None:
        number = query.get("run", "")
        try:
            row = self.server.store.run(int(number) if number.isdecimal() else None)
        except OpError as error:
            self._answer_json(404, {"error": error.message})
            return
        figures = run_figures(self.server.store, row)
        self._answer_json(200, figures | {"can_accept": self.server.accepting.file_of(row["id"]) is not None})

    def _is_known(self, query: Mapping[str, str]) -> bool:
        """Whether the client knows the token; if not, it is told where to find it."""
        given = self.headers.get("X-Token") or query.get("token", "")
        if hmac.compare_digest(given.encode(), self.server.token.encode()):
            return True
        self._answer(403, b"Open the address that `tideflow pipeline ui` printed.", "text/plain")
        return False

    def _answer_json(self, status: int, value: Any) -> None:
        self._answer(status, json.dumps(value).encode(), "application/json")

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests are not printed: their addresses have the token in them."""
