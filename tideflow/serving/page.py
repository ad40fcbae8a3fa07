"""The page of a server (`/`): its models, requests, batches, cache and applications, live.

One HTML file, which asks for `/page.json` once a second. The file needs no token itself, so that a browser
can load it and ask its user for one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any

import orjson

from tideflow.graph.errors import OpError
from tideflow.serving.applications import Applications
from tideflow.serving.cache import PredictionCache
from tideflow.serving.front import Front
from tideflow.serving.messages import CODE_NAMES, STATES
from tideflow.serving.rest import PAGE_PATH, Respond

DATA_PATH = "/page.json"
_HTML = b"text/html; charset=utf-8"
_SHOWN_BATCHES = 150
_STATE_NAMES = {number: name for name, number in STATES.items()}


class Page:
    """Answers requests for the page and for what it shows."""

    def __init__(
        self,
        front: Front,
        caches: Sequence[PredictionCache] = (),
        applications: Applications | None = None,
    ) -> None:
        self._front, self._caches, self._applications = front, caches, applications
        self._begin = front.clock()
        self._html = resources.files(__package__).joinpath("page.html").read_bytes()

    def handle(self, method: str, path: str, body: bytes, respond: Respond) -> bool:
        """Answers, if the path is one of the page's."""
        if method != "GET" or path not in (PAGE_PATH, DATA_PATH):
            return False
        if path == PAGE_PATH:
            respond(200, self._html, _HTML)
        else:
            respond(200, orjson.dumps(self.figures()))
        return True

    def figures(self) -> dict[str, Any]:
        """What the page shows."""
        front, metrics = self._front, self._front.metrics
        now = front.clock()
        totals, recent = metrics.totals(), metrics.recent(now)
        return {
            "uptime": now - self._begin,
            "is_ready": front.models.is_ready() and not front.is_draining,
            "in_flight": max(0, front.in_flight - 1),  # the others than this one
            "models": [
                {
                    "name": name,
                    "versions": self._versions(name),
                    "totals": totals.get(name, {}),
                    "recent": recent.get(name, {}),
                    "batches": self._batches(name, now),
                }
                for name in front.models.names()
            ],
            "cache": _cache_figures(self._caches),
            "applications": self._application_figures(),
        }

    def _versions(self, name: str) -> list[dict[str, Any]]:
        try:
            statuses = self._front.models.statuses(name)
        except OpError:  # none yet
            return []
        return [
            {
                "version": status.version,
                "state": _STATE_NAMES[status.state],
                "error": f"{CODE_NAMES[status.error.error_code]}: {status.error.message}"
                if status.error
                else "",
            }
            for status in statuses
        ]

    def _batches(self, name: str, now: float) -> list[dict[str, Any]]:
        """The latest batches, with their ages in seconds."""
        latest = self._front.metrics.batches.get(name, ())
        shown = itertools.islice(latest, max(0, len(latest) - _SHOWN_BATCHES), None)
        return [asdict(batch) | {"time": now - batch.time} for batch in shown]

    def _application_figures(self) -> list[dict[str, Any]]:
        if self._applications is None:
            return []
        found = self._applications
        return [
            {
                "name": name,
                "models": each.models,
                "policy": each.policy if isinstance(each.policy, str) else each.policy["name"],
                "objective": each.objective,
                "queries": found.queries.get(name, 0),
                "defaults": found.defaults.get(name, 0),
                "weights": found.weights.get(name, {}),
            }
            for name, each in found.applications.items()
        ]


def _cache_figures(caches: Sequence[PredictionCache]) -> dict[str, int]:
    return {
        "hits": sum(cache.hits for cache in caches),
        "misses": sum(cache.misses for cache in caches),
        "joins": sum(cache.joins for cache in caches),
        "evictions": sum(cache.evictions for cache in caches),
        "entries": sum(len(cache) for cache in caches),
        "bytes": sum(cache.size for cache in caches),
    }
