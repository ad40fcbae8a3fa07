"""serving/page.py in a real browser: what a person sees of a server."""

import json
from types import SimpleNamespace

import pytest

from tests.browsers import chromium, wait_for_text
from tests.serving.loops import listening
from tests.serving.test_http1 import BODY, PREDICT, ask
from tideflow.graph import errors
from tideflow.serving.access import Access
from tideflow.serving.cache import PredictionCache
from tideflow.serving.http1 import HttpServer
from tideflow.serving.metrics import BatchRecord
from tideflow.serving.page import Page
from tideflow.serving.rest import Rest

APPLICATIONS = SimpleNamespace(
    applications={
        "digits": SimpleNamespace(models=["half", "<b>odd</b>"], policy={"name": "exp3"}, objective=0.02)
    },
    queries={"digits": 41},
    defaults={"digits": 2},
    weights={"digits": {"half": 0.75, "<b>odd</b>": 0.25}},
)


def page_server(front):
    cache = PredictionCache(1000)
    cache.hits, cache.misses = 3, 1
    page = Page(front, [cache], APPLICATIONS)
    return HttpServer(front, Rest(front, [page.handle]).handle)


def make_traffic(running, headers=None):
    """Requests, a batch trace and a version that failed."""
    for _ in range(5):
        ask(running, "POST", PREDICT, BODY, headers)
    ask(running, "POST", PREDICT, b"", headers)
    now = running.loop.time()
    running.front.metrics.batches["half"] = [
        BatchRecord(now - 30 + index / 2, 1 + index % 7, 0, 4 + index // 10, 0.002, 0.001, "FULL")
        for index in range(60)
    ]
    models = running.front.models
    found = models.statuses("half")
    failed = type(found[0])(4, 50, errors.data_loss("variables are cut short"))
    models.statuses = lambda name: [failed, *found]


def test_the_figures_of_the_page():
    with listening(page_server) as running:
        make_traffic(running)
        figures = json.loads(ask(running, "GET", "/page.json")[2])
        assert ask(running, "GET", "/")[1]["Content-Type"] == "text/html; charset=utf-8"
        assert ask(running, "POST", "/page.json", b"")[0] == 404
    (model,) = figures["models"]
    assert [(each["version"], each["state"]) for each in model["versions"]] == [(4, "END"), (3, "AVAILABLE")]
    assert model["versions"][0]["error"] == "DATA_LOSS: variables are cut short"
    assert model["totals"] == {"OK": 5, "INVALID_ARGUMENT": 1}
    assert model["recent"]["p99"] > 0
    assert len(model["batches"]) == 60
    assert figures["cache"]["hits"] == 3
    assert figures["applications"][0]["weights"]["half"] == 0.75


@pytest.fixture(scope="module")
def browser():
    with chromium() as driver:
        yield driver


def test_the_page_shows_models_batches_cache_and_weights(browser):
    with listening(page_server) as running:
        browser.get(f"http://127.0.0.1:{running.port}/")
        wait_for_text(browser, "ready", "3 available", "no requests yet")
        make_traffic(running)
        wait_for_text(
            browser, "ready", "half", "3 available", "4 failed", "DATA_LOSS: variables are cut short"
        )
        wait_for_text(browser, "INVALID_ARGUMENT 1", "why the latest 60 batches closed: full 60")
        wait_for_text(browser, "75 %", "<b>odd</b>", "exp3", "Prediction cache")
        charts = "return document.querySelectorAll('svg circle').length"
        assert browser.execute_script(charts) == 60
        for _ in range(20):
            ask(running, "POST", PREDICT, BODY)
        wait_for_text(browser, "26\nrequests")  # without being loaded again
        assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
        browser.get("about:blank")


def test_the_page_asks_for_the_token(browser):
    with listening(page_server, access=Access(frozenset({b"secret"}))) as running:
        browser.get(f"http://127.0.0.1:{running.port}/")
        wait_for_text(browser, "The server asks for a token")
        browser.execute_script(
            "document.getElementById('token').value = 'secret';"
            "document.querySelector('#login button').click()"
        )
        wait_for_text(browser, "ready", "half")
        browser.get("about:blank")
