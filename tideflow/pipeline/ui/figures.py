"""What the pages show of a run, as plain dictionaries: read from the metadata and from its artifacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tideflow.graph.errors import OpError
from tideflow.pipeline import evaluation, validation
from tideflow.pipeline.orchestration import metadata
from tideflow.pipeline.orchestration.artifacts import Artifact
from tideflow.pipeline.orchestration.data_components import load_anomalies, load_statistics
from tideflow.pipeline.orchestration.metadata import Metadata
from tideflow.pipeline.ui import message_figures

_UNREADABLE = (OSError, ValueError, OpError)


def run_list(store: Metadata) -> list[dict[str, Any]]:
    """All runs, newest first.

    Args:
        store: the metadata.
    """
    return [
        {name: row[name] for name in ("id", "pipeline", "state", "started", "ended")} for row in store.runs()
    ]


def run_figures(store: Metadata, run: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that the page of a run shows.

    Args:
        store: the metadata.
        run: the run's row.
    """
    executions = {each["node"]: each for each in store.executions(run["id"])}  # of several, the last
    outputs = [artifact for each in executions.values() for artifact in each["outputs"].values()]
    inputs = [artifact for each in executions.values() for artifact in each["inputs"].values()]
    figures = {
        "run": {name: run[name] for name in ("id", "pipeline", "state", "started", "ended", "root")},
        "nodes": [_node(name, facts, executions.get(name)) for name, facts in run["plan"].items()],
        "verdict": verdict(run, executions),
        "statistics": _statistics(_of_type("ExampleStatistics", outputs, inputs)),
        "anomalies": _anomalies(_of_type("ExampleAnomalies", outputs)),
        "evaluation": _evaluation(_of_type("ModelEvaluation", outputs)),
    }
    return figures


def _of_type(name: str, *groups: Sequence[Artifact]) -> list[Artifact]:
    found = {each.id: each for group in groups for each in group if each.type_name == name}
    return list(found.values())


def _node(name: str, facts: Mapping[str, Any], execution: Mapping[str, Any] | None) -> dict[str, Any]:
    figures = {"name": name, "component": facts["component"], "after": facts["after"], "state": "waiting"}
    if execution is None:
        return figures
    return figures | {
        "state": execution["state"],
        "seconds": (execution["ended"] or execution["started"]) - execution["started"],
        "reasons": execution["refusals"],
        "error": execution["error"] or "",
        "attempt": execution["attempt"],
        "parameters": execution["parameters"],
        "inputs": _artifacts(execution["inputs"]),
        "outputs": _artifacts(execution["outputs"]),
    }


def _artifacts(found: Mapping[str, Artifact]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "id": artifact.id,
            "type": artifact.type_name,
            "uri": str(artifact.uri),
            "properties": artifact.properties,
        }
        for name, artifact in found.items()
    ]


def verdict(run: Mapping[str, Any], executions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Whether the run's model was pushed, and if not, every reason why.

    Args:
        run: the run's row.
        executions: by node.
    """
    pushed = [
        artifact.properties
        for each in executions.values()
        for artifact in each["outputs"].values()
        if artifact.type_name == "PushedModel" and artifact.properties.get("pushed")
    ]
    if pushed:
        words = f"The model was pushed: version {pushed[-1]['version']} in {pushed[-1]['destination']}"
        return {"kind": "good", "words": words, "reasons": []}
    reasons = []
    for name, each in executions.items():
        if each["state"] == metadata.FAILED:
            error = (each["error"] or "").strip().splitlines()[-1:]
            reasons += [{"node": name, "words": word} for word in error]
        elif each["state"] == metadata.REFUSED:
            reasons += [{"node": name, "words": word} for word in each["refusals"]]
    has_pusher = any(facts["component"] == "Pusher" for facts in run["plan"].values())
    if run["state"] == metadata.RUNNING:
        return {"kind": "busy", "words": "The run has not ended", "reasons": reasons}
    if has_pusher:
        return {"kind": "bad", "words": "The model was not pushed", "reasons": reasons}
    kind = "good" if run["state"] == metadata.COMPLETE else "bad"
    return {"kind": kind, "words": f"The run is {run['state']}", "reasons": reasons}


def _statistics(artifacts: Sequence[Any]) -> list[dict[str, Any]]:
    """One entry for each split of this run and of the span before."""
    found: list[dict[str, Any]] = []
    for artifact in artifacts:
        span = artifact.properties.get("span")
        for split in artifact.splits:
            title = split if span is None else f"{split}, span {span}"
            try:
                datasets = message_figures.statistics_figures(load_statistics(artifact, split))
            except _UNREADABLE as error:
                found.append({"title": title, "error": str(error), "rows": 0, "features": []})
                continue
            for dataset in datasets:
                is_whole = len(datasets) == 1 or dataset["name"] in ("", "All Examples")
                found.append(dataset | {"title": title if is_whole else f"{title}, {dataset['name']}"})
    return found


def _anomalies(artifacts: Sequence[Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for artifact in artifacts:
        for split in artifact.splits:
            try:
                fixes = validation.fixes(load_anomalies(artifact, split))
            except _UNREADABLE as error:
                found.append({"split": split, "error": str(error)})
                continue
            found += [
                {
                    "artifact": artifact.id,
                    "split": split,
                    "number": fix.number,
                    "path": fix.path,
                    "severity": str(fix.severity),
                    "description": fix.description,
                    "diff": fix.diff,
                    "data": fix.data,
                }
                for fix in fixes
            ]
    return found


def _evaluation(artifacts: Sequence[Artifact]) -> dict[str, Any] | None:
    if not artifacts:
        return None
    folder = str(artifacts[-1].uri)
    try:
        return {
            "slices": message_figures.metrics_figures(evaluation.load_metrics(folder)),
            "plots": message_figures.plots_figures(evaluation.load_plots(folder)),
            "failures": message_figures.failures_figures(evaluation.load_validation_result(folder)),
        }
    except _UNREADABLE as error:
        return {"error": str(error), "slices": [], "plots": [], "failures": []}
