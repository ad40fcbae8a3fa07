"""Manifests for Kubernetes: documents that parse, and a command that `tideflow serve` takes."""

import pytest
import yaml

from tideflow.cli import main
from tideflow.serving import config


def documents(capsys, *arguments):
    assert main(["serve", *arguments, "--kubernetes"]) == 0
    return {one["kind"]: one for one in yaml.safe_load_all(capsys.readouterr().out)}


def test_a_deployment_with_its_service_and_autoscaler(capsys):
    found = documents(capsys, "models", "--name", "digits", "--replicas=2", "--image=me/digits:3", "--port=7")
    assert list(found) == ["Secret", "Service", "Deployment", "HorizontalPodAutoscaler"]
    assert {one["metadata"]["name"] for one in found.values()} == {"digits", "digits-token"}
    (container,) = found["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "me/digits:3"
    program, command, *flags = container["command"]
    assert (program, command) == ("tideflow", "serve")
    options = config.parse(flags)
    assert (options.models, options.host, options.replicas, options.port) == ("/models", "0.0.0.0", 2, 8500)


def test_tls_is_asked_by_the_probes(capsys):
    found = documents(capsys, "--model_config_file=/models/all", "--ssl_config_file=/keys")
    (container,) = found["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"]["scheme"] == "HTTPS"
    assert "--model_config_file=/models/all" in container["command"]


@pytest.mark.parametrize("name", ["Digits", "a_b", ""])
def test_names_that_kubernetes_does_not_take(capsys, name):
    assert main(["serve", "models", "--kubernetes", f"--name={name}"]) == 2
    assert "is not a name of small letters" in capsys.readouterr().err
