"""ui/: what the pages say, that only who has the address is answered, and all of it in a real browser."""

import json
import re
import shutil
import threading
import urllib.error
import urllib.request

import pytest
from google.protobuf import text_format

from tests.browsers import chromium, wait_for_text
from tideflow.cli import main
from tideflow.graph.errors import UnavailableError
from tideflow.pipeline.messages.evaluation import MetricsForSlice
from tideflow.pipeline.schema import load_schema_text
from tideflow.pipeline.ui.figures import run_figures, run_list
from tideflow.pipeline.ui.message_figures import metrics_figures
from tideflow.pipeline.ui.report import page_with
from tideflow.pipeline.ui.server import make_server


@pytest.fixture
def server(store):
    made = make_server(store)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def ask(server, path, token=None, body=None):
    """Status and JSON of an answer."""
    token = server.token if token is None else token
    url = f"http://127.0.0.1:{server.server_port}/{path}"
    request = urllib.request.Request(url, body, {"X-Token": token})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


# ----------------------------------------------------------------------------------------------- the figures


def test_the_figures_say_why_a_model_was_not_pushed(store):
    assert [row["id"] for row in run_list(store)] == [3, 2, 1]
    first, second, third = (run_figures(store, store.run(number)) for number in (1, 2, 3))
    assert first["verdict"]["words"] == "The model was not pushed"
    assert [reason["node"] for reason in first["verdict"]["reasons"]] == ["Pusher"] * len(
        first["verdict"]["reasons"]
    )
    assert "auc" in first["verdict"]["reasons"][0]["words"]
    states = {node["name"]: node["state"] for node in second["nodes"]}
    assert states["ExampleValidator"] == "refused" and states["Pusher"] == "skipped"
    assert any("payment" in reason["words"] for reason in second["verdict"]["reasons"])
    assert {reason["node"] for reason in third["verdict"]["reasons"]} == {"ExampleValidator", "Pusher"}


def test_the_figures_of_statistics_anomalies_and_slices(store):
    figures = run_figures(store, store.run(3))
    json.dumps(figures, allow_nan=False)
    titles = [each["title"] for each in figures["statistics"]]
    assert titles == ["train, span 2", "eval, span 2", "train, span 1", "eval, span 1"]
    fare, payment = sorted(figures["statistics"][0]["features"], key=lambda each: each["name"])
    assert fare["type"] == "float" and sum(bucket[2] for bucket in fare["histogram"]) == pytest.approx(200)
    assert payment["unique"] == 3 and sum(count for _, count in payment["top"]) == 200
    assert {anomaly["split"] for anomaly in figures["anomalies"]} == {"train", "eval"}
    anomaly = figures["anomalies"][0]
    assert anomaly["path"] == "payment" and "+" in anomaly["diff"] and anomaly["severity"] == "ERROR"
    slices = {each["slice"]: each["metrics"]["auc"] for each in figures["evaluation"]["slices"]}
    assert list(slices) == ["Overall", "city=Bern", "city=Oslo", "city=Rome"]
    overall = slices["Overall"]["candidate"]
    assert overall["lower"] < overall["value"] < overall["upper"]
    assert slices["Overall"]["baseline"]["value"] < overall["value"]
    assert {failure["metric"] for failure in figures["evaluation"]["failures"]} == {"auc"}
    assert all("not at least 0.99" in failure["message"] for failure in figures["evaluation"]["failures"])
    assert any("roc" in plot and "calibration" in plot for plot in figures["evaluation"]["plots"])


def test_a_metric_that_is_nan_is_shown():
    text = """
        slice_key { single_slice_keys { column: "city" bytes_value: "<Bern>" } }
        metric_keys_and_values { key { name: "loss" } value { double_value { value: nan } } }
    """
    (shown,) = metrics_figures([text_format.Parse(text, MetricsForSlice())])
    assert shown == {"slice": "city=<Bern>", "metrics": {"loss": {"candidate": {"value": "nan"}}}}


def test_artifacts_that_are_gone_are_said_to_be(store, made):
    (folder,) = (
        each["outputs"]["evaluation"].uri for each in store.executions(1) if each["node"] == "Evaluate"
    )
    shutil.move(folder, made / "aside")
    try:
        figures = run_figures(store, store.run(1))
        assert figures["evaluation"]["error"] and figures["evaluation"]["slices"] == []
    finally:
        shutil.move(made / "aside", folder)


# ------------------------------------------------------------------------------------------------ the server


def test_only_who_has_the_token_is_answered(server):
    assert ask(server, "runs.json")[0] == 200
    for token in ("", "x" * 22):
        for path in ("", "runs.json", "run.json"):
            assert ask(server, path, token)[0] == 403
        assert ask(server, "accept", token, b"{}")[0] == 403
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path, body, status",
    [
        ("../../etc/passwd", None, 404),
        ("run.json?run=99", None, 404),
        ("accept", b"{", 400),
        ("accept", b'{"run": 3}', 400),
        ("accept", b'{"run": 3, "artifact": 1, "split": "train", "number": 1}', 409),
        ("accept", b" " * 100_000, 404),
    ],
)
def test_wrong_requests(server, path, body, status):
    assert ask(server, path, body=body)[0] == status


def test_a_port_that_is_taken_is_said_to_be(server, store):
    with pytest.raises(UnavailableError, match=f"--port {server.server_port}: Address already in use"):
        make_server(store, server.server_port)


def test_a_change_is_accepted_in_the_file(server, store, made):
    before = load_schema_text(str(made / "schema.pbtxt"))
    anomaly = run_figures(store, store.run(2))["anomalies"][0]
    body = {"run": 2, **{name: anomaly[name] for name in ("artifact", "split", "number")}}
    status, answer = ask(server, "accept", body=json.dumps(body).encode())
    assert status == 200 and answer["ok"], answer
    after = load_schema_text(str(made / "schema.pbtxt"))
    assert after != before and "Crypto" in str(after)
    assert [path.name for path in made.iterdir() if "schema.pbtxt" in path.name] == ["schema.pbtxt"]
    (made / "schema.pbtxt").write_text('feature { name: "other" type: INT }')
    status, answer = ask(server, "accept", body=json.dumps(body).encode())
    assert status == 409 and "was changed since this run" in answer


# ----------------------------------------------------------------------------------------------- in a browser


def test_a_report_is_one_file_that_data_cannot_break_out_of(store, made, tmp_path, capsys):
    report = tmp_path / "report.html"
    assert main(["pipeline", "show", str(made), "3", "--html", str(report)]) == 3
    text = report.read_text()
    assert "<b>Crypto" not in text and "\\u003cb>Crypto" in text
    assert not re.search(r"(src|href)=|https?://(?!www\.w3\.org)", text)
    assert page_with({"x": "</script>"}).count("</script>") == 2


@pytest.fixture(scope="module")
def browser():
    with chromium("1300,2600") as driver:
        yield driver


def count(browser, selector):
    return browser.execute_script(f"return document.querySelectorAll({selector!r}).length")


def check_log(browser):
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert [entry for entry in errors if "favicon" not in entry["message"]] == []


def test_a_person_sees_why_and_accepts(browser, server, made):
    browser.get(server.address)
    wait_for_text(browser, "trips, run 3", "The model was not pushed", "Pusher", "Anomalies in the data")
    wait_for_text(browser, "<b>Crypto</b>", "Overall", "city=Oslo", "train, span 1")
    assert count(browser, "#graph g") == 6 and count(browser, "#graph g.refused") == 2
    assert count(browser, "#slices circle") == 8 and count(browser, "#slices line.error") == 8
    assert count(browser, ".plots svg") == 3 and count(browser, ".feature") == 2
    strange = browser.find_element("css selector", ".anomaly b").text
    assert browser.find_element("css selector", ".feature b").text == strange, "it is looked at first"
    axis = browser.execute_script(
        "return [...document.querySelectorAll('#slices .axis')].map(each => each.textContent)"
    )
    assert len(axis) >= 2 and all(len(text) <= 4 for text in axis), "round numbers"
    browser.execute_script(
        "document.querySelector('g[data-node=SchemaGen]').dispatchEvent(new Event('click'))"
    )
    wait_for_text(browser, "infer_feature_shape = True", "Schema ")
    browser.execute_script("document.querySelector('.anomaly button').click()")
    wait_for_text(browser, "schema.pbtxt is changed. The next run uses it.")
    assert "Crypto" in (made / "schema.pbtxt").read_text()
    browser.execute_script(
        "const run = document.getElementById('run'); run.value = 1; run.dispatchEvent(new Event('change'))"
    )
    wait_for_text(browser, "trips, run 1", "threshold missed on")
    assert count(browser, "#graph g.refused") == 1
    check_log(browser)
    browser.get("about:blank")


def test_a_report_shows_the_same_without_a_server(browser, store, made, tmp_path):
    report = tmp_path / "report.html"
    report.write_text(page_with(run_figures(store, store.run(2))))
    browser.get(report.as_uri())
    wait_for_text(browser, "trips, run 2", "The model was not pushed", "ExampleValidator", "+")
    assert count(browser, ".anomaly button") == 0, "nobody could answer it"
    distinct = {each["diff"] for each in run_figures(store, store.run(2))["anomalies"]}
    assert count(browser, ".anomaly") == len(distinct), "what is wrong with both splits is there once"
    check_log(browser)
    browser.get("about:blank")
