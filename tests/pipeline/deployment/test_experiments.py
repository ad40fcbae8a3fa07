"""An A/B experiment in a real server."""

import asyncio
import json

import pytest

import tideflow as tf
from tests.serving.test_server import ask, served
from tideflow.pipeline.deployment import CanaryResult, bless, push, start_experiment, stop_experiment


def test_users_are_divided_among_two_models(serving_loop, workers, tmp_path, save_linear):
    folders = {}
    for name, weight in (("taxi", 1), ("new", 2)):
        model = save_linear(tmp_path / f"{name}-model", weight)
        place = tmp_path / ("models" if name == "taxi" else "candidates") / name
        folders[name] = push(model, place, bless(model, None, CanaryResult(ok=True)))

    def experiment(address):
        url = f"http://{address}"
        options = {"share": 0.5, "input_type": "doubles", "latency_slo_micros": 20_000_000}
        start_experiment(url, "odd", "taxi", "new", folders["new"], output_name="z", **options)
        _, body = ask(address, "POST", "/odd/predict", {"input": [1.0, 1.0, 1.0], "uid": 1})
        assert "has no output z" in json.loads(body)["default_explanation"]
        stop_experiment(url, "odd", "new", 1)
        options["output_name"] = "y"
        start_experiment(url, "ab", "taxi", "new", folders["new"], **options)
        said = {}
        for user in range(40):
            query = {"input": [1.0, 1.0, 1.0], "uid": user}
            for _ in range(2):
                status, body = ask(address, "POST", "/ab/predict", query)
                assert status == 200
                said.setdefault(user, set()).add(str(json.loads(body)["output"]))
        with pytest.raises(tf.errors.FailedPreconditionError, match="refused add_model"):
            start_experiment(url, "ab", "taxi", "new", folders["new"], **options)
        stop_experiment(url, "ab", "new", 1)
        assert ask(address, "POST", "/ab/predict", {"input": [1.0, 1.0, 1.0]})[0] == 404
        return said

    async def test():
        async with served(workers, str(tmp_path / "models")) as server:
            return await asyncio.get_running_loop().run_in_executor(None, experiment, server.rest_address)

    said = serving_loop(test())
    assert all(len(answers) == 1 for answers in said.values())  # a user keeps his model
    shares = [sum(answers == {text} for answers in said.values()) for text in set().union(*said.values())]
    assert len(shares) == 2 and min(shares) > 5


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        start_experiment("http://localhost:1", "ab", "old", "new", tmp_path / "1", share=1.0)
    with pytest.raises(ValueError, match="is no version"):
        start_experiment("http://localhost:1", "ab", "old", "new", tmp_path / "x")
    with pytest.raises(tf.errors.UnavailableError, match="does not answer"):
        start_experiment("http://127.0.0.1:1", "ab", "old", "new", tmp_path / "1")
