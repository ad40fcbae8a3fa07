"""Experiments on live traffic: a candidate beside the baseline, in a running `tideflow serve`."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tideflow.graph import errors


def start_experiment(
    url: str,
    name: str,
    baseline: str,
    candidate: str,
    candidate_dir: str | Path,
    *,
    share: float = 0.1,
    input_type: str = "strings",
    output_name: str = "",
    default_output: Any = None,
    latency_slo_micros: int = 100_000,
    policy: Mapping[str, Any] | None = None,
    timeout: float = 60.0,
) -> None:
    """Starts an A/B experiment in a running `tideflow serve`.

    The candidate is served beside the baseline, under a name of its own, and an application of the server
    (`/NAME/predict`) divides users among the two. Each user keeps the same model.

    Args:
      url: The server's REST address, `http://HOST:PORT`.
      name: The application's name.
      baseline: The model that is served now.
      candidate: The name that the candidate gets.
      candidate_dir: The folder of the candidate's version, with a number for its name.
      share: The share of users that the candidate answers.
      input_type: What queries are: "integers", "floats", "doubles", "strings" or "bytes".
      output_name: The output of the models that answers, such as "scores" of a classifier; their first one
        if empty.
      default_output: The answer when no model answers in time.
      latency_slo_micros: How long a query may take.
      policy: Another selection policy than shares, such as `{"name": "exp3"}`, which learns from feedback.
      timeout: How long, in seconds, the server may take for each step.
    """
    if not 0 < share < 1:
        raise ValueError(f"the candidate's share must be between 0 and 1, not {share}")
    folder = Path(candidate_dir).absolute()
    if not folder.name.isdecimal():
        raise ValueError(f"{folder} is no version: its name is no number")
    shares = {"name": "shares", "shares": {baseline: 1 - share, candidate: share}}
    model = {"model_name": candidate, "model_version": folder.name, "model_data_path": str(folder)}
    application = {
        "name": name,
        "input_type": input_type,
        "default_output": default_output,
        "latency_slo_micros": latency_slo_micros,
        "output_name": output_name,
        "policy": dict(policy) if policy is not None else shares,
    }
    _ask(url, "add_model", model, timeout)
    _ask(url, "add_app", application, timeout)
    _ask(url, "add_model_links", {"app_name": name, "model_names": [baseline, candidate]}, timeout)


def stop_experiment(url: str, name: str, candidate: str, version: int, timeout: float = 60.0) -> None:
    """Ends an experiment: the application goes, and then the candidate.

    Args:
      url: The server's REST address.
      name: The application's name.
      candidate: The candidate's name.
      version: The candidate's version.
      timeout: How long, in seconds, the server may take for each step.
    """
    _ask(url, "delete_app", {"name": name}, timeout)
    _ask(url, "delete_versioned_model", {"model_name": candidate, "model_version": version}, timeout)


def _ask(url: str, action: str, body: Mapping[str, Any], timeout: float) -> None:
    request = urllib.request.Request(
        f"{url.rstrip('/')}/admin/{action}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace").strip()
        raise errors.failed_precondition(f"{url} refused {action}: {text}") from None
    except OSError as error:
        raise errors.unavailable(f"{url} does not answer: {error}") from None
