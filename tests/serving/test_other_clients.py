"""Other people's clients of TensorFlow Serving, in environments of their own (tests/serving/make-clients)."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.serving.loops import listening
from tests.serving.test_grpc_server import grpc_server
from tests.serving.test_http1 import rest_server
from tideflow.serving.messages import ModelServerConfig

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("other_clients.py")


def seen_by(environment, what, port):
    """What a client in an environment sees of a server."""
    python = ROOT / ".oracles" / environment / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{environment} is not there: tests/serving/make-clients makes it")
    command = [python, SCRIPT, what, f"127.0.0.1:{port}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow(reason="another process imports TensorFlow")
@pytest.mark.parametrize("environment", ["serving21", "serving115"])
def test_stubs_of_tensorflow_serving(environment):
    with listening(grpc_server) as running:
        seen = seen_by(environment, "api", running.port)
        assert isinstance(running.front.models.config, ModelServerConfig)
        (model,) = running.front.models.config.model_config_list.config
    assert (model.name, list(model.model_version_policy.specific.versions)) == ("other", [7])
    size = seen.pop("length")
    assert seen == {
        "predict": [2.5, 3.0, 3.5, 4.0],
        "array": [[2.5, 3.0], [3.5, 4.0]],
        "version": 3,
        "two": [2, 4],
        "strings": ["78", "ff"],
        "classes": [["long", size], ["short", -size]],
        "value": size,
        "multi": ["classification_result", "regression_result"],
        "signatures": ["any", "classify", "regress", "serving_default", "two"],
        "shape": [-1, 2],
        "state": "AVAILABLE",
        "reloaded": 0,
        "session": ["y:0", [[2.5, 3.0]]],
        "error": ["NOT_FOUND", "Servable not found for request: Latest(no)"],
    }


@pytest.mark.slow(reason="another process imports a client")
@pytest.mark.parametrize(("what", "make_server"), [("ovms_grpc", grpc_server), ("ovms_rest", rest_server)])
def test_ovmsclient(what, make_server):
    with listening(make_server) as running:
        seen = seen_by("serving21", what, running.port)
    assert seen.pop("inputs", None) == (
        {"shape": [-1, 2], "dtype": "DT_FLOAT"} if what == "ovms_grpc" else None
    )
    assert seen == {
        "predict": [[2.5, 3.0]],
        "status": {"3": "AVAILABLE"},
        "error": "ModelNotFoundError",
    }
