"""Clipper's REST interface: its answers, its administration, and errors that say what was expected."""

import asyncio
import base64
from types import SimpleNamespace

import numpy as np
import orjson
import pytest

from tests.serving.test_applications import Fake
from tests.serving.test_applications import Models as FoundModels
from tideflow.graph import errors
from tideflow.graph.dtypes import string
from tideflow.serving.applications import Applications
from tideflow.serving.clipper import Clipper
from tideflow.serving.clipper_schemas import LINKS, schema_text
from tideflow.serving.messages import ModelConfig
from tideflow.serving.metrics import Metrics
from tideflow.serving.selection_state import States


class Models(FoundModels):
    """A manager to whom `configure` is to load what is asked for."""

    def __init__(self, *models):
        super().__init__({model.name: model for model in models})
        self.configured = [ModelConfig(name=name, base_path=f"/models/{name}") for name in self]

    def names(self):
        return [each.name for each in self.configured]

    def configs(self):
        return self.configured

    def statuses(self, name):
        if name not in self:
            raise errors.not_found(f"Could not find any versions of model {name}")
        return [SimpleNamespace(version=self[name].version, state=30, error=None)]

    def configure(self, configs, done):
        self.configured = configs
        for each in configs:
            versions = each.model_version_policy.specific.versions
            if versions and each.base_path != "/broken":
                self[each.name] = Fake(each.name, lambda x: x[0], version=max(versions))
        for name in self.keys() - {each.name for each in configs}:
            del self[name]
        broken = [each.name for each in configs if each.base_path == "/broken"]
        done(errors.data_loss("it is cut short") if broken else None)


class Client:
    """Requests, and the answers to them."""

    def __init__(self, models, states):
        self.clipper = Clipper(
            Applications(models, states), models, Metrics(), asyncio.get_running_loop().time
        )

    async def ask(self, path, document=None, method="POST"):
        answer = asyncio.get_running_loop().create_future()

        def respond(status, body, content_type=b"application/json"):
            answer.set_result((status, orjson.loads(body) if b"json" in content_type else body.decode()))

        body = (
            document if isinstance(document, bytes) else b"" if document is None else orjson.dumps(document)
        )
        assert self.clipper.handle(method, path, body, respond)
        return await asyncio.wait_for(answer, 120)


def running(main, *models):
    async def all_of_it():
        states = States()
        try:
            await main(Client(Models(*models), states))
        finally:
            states.close()

    asyncio.run(all_of_it())


APP = {"name": "app", "input_type": "doubles", "default_output": "-1.0", "latency_slo_micros": 10_000_000}


def test_a_program_of_clippers_first_steps():
    async def main(client):
        assert await client.ask("/admin/ping", method="GET") == (200, "PONG")
        assert await client.ask("/admin/add_app", APP) == (200, "Success!")
        status, answer = await client.ask("/app/predict", {"input": [1.0, 2.0]})
        assert status == 200 and answer["default"] is True and answer["output"] == "-1.0"
        assert answer["default_explanation"] == "No connected models found for query"
        links = {"app_name": "app", "model_names": ["double"]}
        assert await client.ask("/admin/add_model_links", links) == (200, "Success!")
        _, answer = await client.ask("/app/predict", {"input": [1.0, 2.0]})
        assert answer == {
            "query_id": 1,
            "output": [2.0, 4.0],
            "default": False,
            "confidence": 1.0,
            "models": ["double"],
        }
        _, answer = await client.ask("/app/predict", {"input_batch": [[1, 2], [3, 4]]})
        assert [each["output"] for each in answer["batch_predictions"]] == [[2.0, 4.0], [6.0, 8.0]]
        assert [each["query_id"] for each in answer["batch_predictions"]] == [2, 3]
        assert await client.ask("/app/predict", {"input_batch": []}) == (200, {"batch_predictions": []})
        assert (await client.ask("/app/update", {"uid": 0, "input": [1, 2], "label": 1}))[0] == 200
        assert await client.ask("/admin/get_linked_models", {"app_name": "app"}) == (200, ["double"])
        assert await client.ask("/admin/get_all_applications", {"verbose": False}) == (200, ["app"])
        _, (described,) = await client.ask("/admin/get_all_applications", {"verbose": True})
        assert APP.items() <= described.items()
        assert (await client.ask("/admin/get_application", {"name": "app"}))[1] == described
        assert await client.ask("/admin/get_state", {"app_name": "app", "uid": 0}) == (200, {})
        _, figures = await client.ask("/metrics", method="GET")
        assert figures["requests"] == {"app": {"OK": 5}} and figures["cache"]["hits"] == 1
        assert figures["applications"]["app"]["queries"] == 4
        assert (await client.ask("/admin/delete_model_links", links))[0] == 200
        assert (await client.ask("/admin/delete_app", {"name": "app"}))[0] == 200
        status, answer = await client.ask("/app/predict", {"input": [1]})
        assert (status, answer["cause"]) == (404, "No application with name app found")

    running(main, Fake("double", lambda x: x[0] * 2))


def test_learning_by_feedback_over_rest():
    async def main(client):
        await client.ask("/admin/add_app", APP | {"policy": {"name": "exp4", "rate": 1.0}})
        await client.ask("/admin/add_model_links", {"app_name": "app", "model_names": ["a", "b"]})
        for number in range(20):
            body = {"uid": "u", "input": [number, 0.0], "label": 1}
            assert await client.ask("/app/update", body) == (200, "Feedback received")
        _, answer = await client.ask("/app/predict", {"input": [1.0, 2.0], "uid": "u"})
        assert np.argmax(answer["output"]) == 1
        _, state = await client.ask("/admin/get_state", {"app_name": "app", "uid": "u"})
        assert state["weights"]["b"] > 0.99

    running(main, Fake("a", lambda x: np.float32([1, 0])), Fake("b", lambda x: np.float32([0, 1])))


@pytest.mark.parametrize(
    ("path", "body", "cause"),
    [
        (
            "/app/predict",
            b"{",
            'unexpected end of data: line 1 column 2 (char 1). Expected JSON schema: {"input" :=',
        ),
        ("/app/predict", b"[]", "the body is not an object"),
        ("/app/predict", b"{}", "JSON object does not have required key: input"),
        ("/app/predict", b'{"input": 3}', "the value of key input is not of its type"),
        ("/app/predict", b'{"input_batch": 3}', "the value of key input_batch is not of its type"),
        ("/app/update", b'{"uid": 3, "input": [1]}', 'label. Expected JSON schema: {"uid" := string | int'),
        ("/admin/add_app", b'{"name": "x"}', '"latency_slo_micros" := int'),
        (
            "/admin/add_app",
            b'{"name": "x", "input_type": "words"}',
            "the value of key input_type is not of its type",
        ),
        (
            "/admin/get_model",
            b'{"model_name": "m", "model_version": "one"}',
            "model_version is not of its type",
        ),
        ("/admin/get_all_models", b'{"verbose": 1}', '{"verbose"? := bool}'),
    ],
)
def test_an_error_says_what_was_expected(path, body, cause):
    async def main(client):
        await client.ask("/admin/add_app", APP)
        status, answer = await client.ask(path, body)
        assert status == 400
        if path.startswith("/app"):
            assert answer["error"] == "Json error"
            answer = answer["cause"]
        assert (
            answer.startswith("Error parsing JSON: ")
            and cause in answer
            and "Expected JSON schema: {" in answer
        )

    running(main)


def test_other_errors():
    async def main(client):
        await client.ask("/admin/add_app", APP)
        assert await client.ask("/admin/add_app", APP) == (409, "Application app already exists")
        status, text = await client.ask("/admin/add_app", APP | {"name": "Bad Name"})
        assert status == 400 and "lower-case" in text
        status, answer = await client.ask("/app/predict", {"input": ["a"]})
        assert (status, answer["error"]) == (400, "Request error")
        assert "list of numbers" in answer["cause"]
        status, text = await client.ask(
            "/admin/add_model_links", {"app_name": "app", "model_names": ["nobody"]}
        )
        assert (status, text) == (404, "Servable not found for request: Latest(nobody)")
        for path in ("/", "/app", "/admin/unknown", "/app/other"):
            assert not client.clipper.handle("POST", path, b"", print)
        assert not client.clipper.handle("GET", "/app/predict", b"", print)

    running(main)


def test_bytes_and_strings():
    async def main(client):
        for input_type in ("bytes", "strings"):
            await client.ask("/admin/add_app", APP | {"name": input_type, "input_type": input_type})
            await client.ask("/admin/add_model_links", {"app_name": input_type, "model_names": ["echo"]})
        _, answer = await client.ask("/strings/predict", {"input": "hé"})
        assert answer["output"] == "hé"
        for raw, output in ((b"abc", "abc"), (b"\xff\0", {"b64": "/wA="})):
            _, answer = await client.ask("/bytes/predict", {"input": base64.b64encode(raw).decode()})
            assert answer["output"] == output
        status, answer = await client.ask("/bytes/predict", {"input": "?"})
        assert status == 400 and "base64" in answer["cause"]

    running(main, Fake("echo", lambda x: x[0], dtype=string, shape=(None,), output=(None,)))


def test_models_are_added_listed_moved_and_deleted():
    async def main(client):
        model = {"model_name": "m", "model_version": "3"}
        assert (await client.ask("/admin/add_model", model | {"model_data_path": "/data/m/3"})) == (
            200,
            "Success!",
        )
        assert client.clipper._models.configured[-1].base_path == "/data/m"
        assert (await client.ask("/admin/add_model", model | {"model_data_path": "/data/m"}))[0] == 409
        assert await client.ask("/admin/get_all_models") == (200, ["old:1", "m:3"])
        _, described = await client.ask("/admin/get_model", model)
        assert described["is_current_version"] and described["state"] == "AVAILABLE"
        assert await client.ask("/admin/get_model", model | {"model_version": 9}) == (200, {})
        assert await client.ask("/admin/get_all_containers") == (200, ["old:1:0", "m:3:0"])
        _, container = await client.ask("/admin/get_container", model | {"replica_id": 0})
        assert container["model_id"] == "m:3"
        assert await client.ask("/admin/set_model_version", model | {"model_version": 5}) == (200, "Success!")
        assert client.clipper._applications.versions == {"m": 5}
        status, _ = await client.ask("/admin/delete_versioned_model", model)
        assert status == 404
        status, _ = await client.ask("/admin/delete_versioned_model", model | {"model_version": 5})
        assert status == 200 and client.clipper._models.names() == ["old"]

    running(main, Fake("old", lambda x: x[0]))


def test_a_model_that_cannot_be_loaded_is_not_kept():
    async def main(client):
        model = {"model_name": "m", "model_version": "3", "model_data_path": "/broken/3"}
        assert await client.ask("/admin/add_model", model) == (500, "it is cut short")
        assert [each.name for each in client.clipper._models.configured] == ["old"]
        assert (await client.ask("/admin/add_model", model | {"model_data_path": "/data/m"}))[0] == 200

    running(main, Fake("old", lambda x: x[0]))


def test_schemas_read_as_clippers():
    assert schema_text(LINKS) == '{"app_name" := string, "model_names" := [string]}'
