"""Clipper's REST interface: `/{app}/predict`, `/{app}/update` and `/admin/*`. Requests in, answers out.

What cannot be parsed is answered with the schema that was expected.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
import orjson

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.serving.applications import Answer, Application, Applications, input_array
from tideflow.serving.calls import Array, Servable, VersionStatus
from tideflow.serving.clipper_schemas import (
    ADD_APP,
    ADD_MODEL,
    APP,
    LINKS,
    MODEL,
    NAME,
    PREDICT_BATCH,
    PREDICT_ONE,
    UPDATE,
    USER,
    VERBOSE,
    Schema,
    SchemaError,
    parse,
)
from tideflow.serving.messages import CODE_NAMES, ModelConfig
from tideflow.serving.metrics import Metrics
from tideflow.serving.rest import HTTP_STATUSES, Respond
from tideflow.serving.versions import State

TEXT = b"text/plain; charset=utf-8"
SUCCESS = b"Success!"

_QUERY = re.compile(r"/([^/]+)/(predict|update)")


class Models(Protocol):
    """The models of the server (`manager.Manager`)."""

    def find(self, name: str, version: int | None = None, label: str | None = None) -> Servable:
        """The version that answers."""

    def statuses(self, name: str) -> Sequence[VersionStatus]:
        """The versions of a model."""

    def names(self) -> list[str]:
        """The names of the models."""

    def configs(self) -> list[Any]:
        """The models that are to be served, as ModelConfigs."""

    def configure(self, configs: list[Any], done: Callable[[OpError | None], None]) -> None:
        """Serves these models, and no others."""


class Clipper:
    """Clipper's interface to the applications of a server. `handle` is one of the `others` of `rest.Rest`."""

    def __init__(
        self, applications: Applications, models: Models, metrics: Metrics, clock: Callable[[], float]
    ):
        self._applications, self._models, self._metrics, self._clock = applications, models, metrics, clock
        self._queries = 0

    def handle(self, method: str, path: str, body: bytes, respond: Respond) -> bool:
        """Answers a request, now or later; False if it is for none of these paths."""
        query = _QUERY.fullmatch(path) if method == "POST" else None
        name = path.removeprefix("/admin/") if path.startswith("/admin/") else ""
        try:
            if query is not None and query[1] != "admin":
                (self._predict if query[2] == "predict" else self._update)(query[1], body, respond)
            elif method == "GET" and path in ("/metrics", "/admin/metrics"):
                respond(200, orjson.dumps(self._figures()))
            elif name == "ping":
                respond(200, b"PONG", TEXT)
            elif name in _ADMIN:
                schema, action = _ADMIN[name]
                action(self, parse(body, schema), respond)
            else:
                return False
        except SchemaError as error:
            _refuse(respond, str(error), query is not None, "Json error", 400)
        except OpError as error:
            status = HTTP_STATUSES.get(error.error_code, 500)
            _refuse(respond, error.message, query is not None, "Request error", status)
        return True

    # ---- queries

    def _predict(self, name: str, body: bytes, respond: Respond) -> None:
        application = self._applications.find(name)
        asked = parse(body, PREDICT_ONE, PREDICT_BATCH)
        is_batch = "input" not in asked
        values = [
            _input(application, each) for each in (asked["input_batch"] if is_batch else [asked["input"]])
        ]
        version = int(asked["version"]) if "version" in asked else None
        user, began = str(asked.get("uid", "")), self._clock()
        answers: dict[int, Answer] = {}
        first = self._queries
        self._queries += len(values)

        def respond_all() -> None:
            made = [_as_json(first + index, answers[index]) for index in range(len(values))]
            result = {"batch_predictions": made} if is_batch else made[0]
            respond(200, orjson.dumps(result, option=orjson.OPT_SERIALIZE_NUMPY))
            self._metrics.record_request(name, "Predict", "REST", "OK", self._clock() - began, len(values))

        def answered(index: int, answer: Answer) -> None:
            answers[index] = answer
            if len(answers) == len(values):
                respond_all()

        for index, value in enumerate(values):
            self._applications.predict(name, value, user, partial(answered, index), version)
        if not values:
            respond_all()

    def _update(self, name: str, body: bytes, respond: Respond) -> None:
        application = self._applications.find(name)
        told = parse(body, UPDATE)
        began = self._clock()

        def done(error: OpError | None) -> None:
            if error is None:
                respond(200, orjson.dumps("Feedback received"))
            else:
                _refuse(respond, error.message, True, "Query processing error", 400)
            status = "OK" if error is None else CODE_NAMES[error.error_code]
            self._metrics.record_request(name, "Update", "REST", status, self._clock() - began, 1)

        value = _input(application, told["input"])
        self._applications.update(name, value, told["label"], str(told["uid"]), done)

    # ---- administration of applications

    def _add_app(self, asked: dict[str, Any], respond: Respond) -> None:
        self._applications.add(
            Application(
                asked["name"],
                asked["input_type"],
                asked["default_output"],
                asked["latency_slo_micros"] / 1e6,
                asked.get("policy", "single"),
                asked.get("confidence_threshold", 0.0),
                asked.get("output_name", ""),
                asked.get("per_user", False),
            )
        )
        respond(200, SUCCESS, TEXT)

    def _delete_app(self, asked: dict[str, Any], respond: Respond) -> None:
        self._applications.delete(asked["name"])
        respond(200, SUCCESS, TEXT)

    def _add_model_links(self, asked: dict[str, Any], respond: Respond) -> None:
        self._applications.link(asked["app_name"], asked["model_names"])
        respond(200, SUCCESS, TEXT)

    def _delete_model_links(self, asked: dict[str, Any], respond: Respond) -> None:
        self._applications.unlink(asked["app_name"], asked["model_names"])
        respond(200, SUCCESS, TEXT)

    def _get_all_applications(self, asked: dict[str, Any], respond: Respond) -> None:
        found = self._applications.applications
        respond(
            200,
            orjson.dumps([_described(each) for each in found.values()] if asked.get("verbose") else [*found]),
        )

    def _get_application(self, asked: dict[str, Any], respond: Respond) -> None:
        respond(200, orjson.dumps(_described(self._applications.find(asked["name"]))))

    def _get_linked_models(self, asked: dict[str, Any], respond: Respond) -> None:
        respond(200, orjson.dumps(self._applications.find(asked["app_name"]).models))

    def _get_state(self, asked: dict[str, Any], respond: Respond) -> None:
        self._applications.state(
            asked["app_name"], str(asked["uid"]), lambda state: respond(200, orjson.dumps(state))
        )

    # ---- administration of models

    def _add_model(self, asked: dict[str, Any], respond: Respond) -> None:
        name, version, path = asked["model_name"], str(asked["model_version"]), asked["model_data_path"]
        if name in self._models.names():
            raise errors.already_exists(
                f"Model {name} is served already: its versions are the folders under its base path"
            )
        base = path.rstrip("/").removesuffix(f"/{version}")
        added = ModelConfig(name=name, base_path=base)
        added.model_version_policy.specific.versions.append(int(version))

        def loaded(error: OpError | None) -> None:
            """A model that cannot be loaded is not kept; that another one could not be is nothing to it."""
            try:
                statuses = self._models.statuses(name)
            except OpError:  # it has no version
                statuses = []
            if error is None or any(each.state == State.AVAILABLE for each in statuses):
                respond(200, SUCCESS, TEXT)
                return
            self._models.configure(self._with_versions(name, set()), lambda error: None)
            _report(respond, next((each.error for each in statuses if each.error), error))

        self._models.configure([*self._models.configs(), added], loaded)

    def _delete_versioned_model(self, asked: dict[str, Any], respond: Respond) -> None:
        name, version = asked["model_name"], int(asked["model_version"])
        wanted = self._in_use(name)
        if version not in wanted:
            raise errors.not_found(f"No model with name {name} and version {version} found")
        self._configure(self._with_versions(name, wanted - {version}), respond)

    def _set_model_version(self, asked: dict[str, Any], respond: Respond) -> None:
        """Queries are answered by this version from now on; one that is not loaded is loaded first."""
        name, version = asked["model_name"], int(asked["model_version"])

        def loaded(error: OpError | None) -> None:
            try:
                if error is not None:
                    raise error
                self._applications.set_version(name, version)
                respond(200, SUCCESS, TEXT)
            except OpError as trouble:
                _report(respond, trouble)

        in_use = self._in_use(name)
        if version in in_use:
            loaded(None)
        else:
            self._models.configure(self._with_versions(name, in_use | {version}), loaded)

    def _in_use(self, name: str) -> set[int]:
        return {each.version for each in self._models.statuses(name) if each.state == State.AVAILABLE}

    def _with_versions(self, name: str, versions: set[int]) -> list[Any]:
        """The configuration with these versions of a model, or without the model where there are none."""
        made = []
        for each in self._models.configs():
            if each.name == name:
                if not versions:
                    continue
                changed = ModelConfig()
                changed.CopyFrom(each)
                changed.model_version_policy.Clear()
                changed.model_version_policy.specific.versions.extend(sorted(versions))
                each = changed
            made.append(each)
        return made

    def _configure(self, configs: list[Any], respond: Respond) -> None:
        def done(error: OpError | None) -> None:
            if error is None:
                respond(200, SUCCESS, TEXT)
            else:
                _report(respond, error)

        self._models.configure(configs, done)

    def _model(self, name: str, status: VersionStatus) -> dict[str, Any]:
        try:
            current = self._models.find(name, self._applications.versions.get(name)).version
        except OpError:
            current = None
        return {
            "model_name": name,
            "model_version": str(status.version),
            "is_current_version": status.version == current,
            "state": State(status.state).name,
            "error": status.error.message if status.error else "",
            "linked_apps": [
                each.name for each in self._applications.applications.values() if name in each.models
            ],
        }

    def _all_models(self) -> list[dict[str, Any]]:
        names = self._models.names()
        return [self._model(name, status) for name in names for status in self._statuses(name)]

    def _statuses(self, name: str) -> Sequence[VersionStatus]:
        try:
            return self._models.statuses(name)
        except OpError:  # none found yet
            return []

    def _get_all_models(self, asked: dict[str, Any], respond: Respond) -> None:
        found = self._all_models()
        short = [f"{each['model_name']}:{each['model_version']}" for each in found]
        respond(200, orjson.dumps(found if asked.get("verbose") else short))

    def _get_model(self, asked: dict[str, Any], respond: Respond) -> None:
        wanted = [each for each in self._all_models() if _names(each, asked)]
        respond(200, orjson.dumps(wanted[0] if wanted else {}))

    def _containers(self) -> list[dict[str, Any]]:
        """The replicas of the versions that answer."""
        found = []
        for each in self._all_models():
            if each["state"] == "AVAILABLE":
                servable = self._models.find(each["model_name"], int(each["model_version"]))
                for index, _ in enumerate(getattr(servable, "replicas", ["in process"])):
                    found.append(
                        {
                            "model_id": f"{each['model_name']}:{each['model_version']}",
                            "model_name": each["model_name"],
                            "model_version": each["model_version"],
                            "model_replica_id": str(index),
                        }
                    )
        return found

    def _get_all_containers(self, asked: dict[str, Any], respond: Respond) -> None:
        found = self._containers()
        short = [f"{each['model_id']}:{each['model_replica_id']}" for each in found]
        respond(200, orjson.dumps(found if asked.get("verbose") else short))

    def _get_container(self, asked: dict[str, Any], respond: Respond) -> None:
        wanted = [
            each
            for each in self._containers()
            if _names(each, asked) and each["model_replica_id"] == str(asked["replica_id"])
        ]
        respond(200, orjson.dumps(wanted[0] if wanted else {}))

    def _figures(self) -> dict[str, Any]:
        cache = self._applications.cache
        return {
            "requests": self._metrics.totals(),
            "latencies": self._metrics.recent(self._clock()),
            "cache": {
                "hits": cache.hits,
                "misses": cache.misses,
                "joins": cache.joins,
                "evictions": cache.evictions,
                "entries": len(cache),
                "bytes": cache.size,
            },
            "applications": {
                name: {
                    "models": each.models,
                    "queries": self._applications.queries.get(name, 0),
                    "defaults": self._applications.defaults.get(name, 0),
                    "weights": self._applications.weights.get(name, {}),
                }
                for name, each in self._applications.applications.items()
            },
        }


_ADMIN: dict[str, tuple[Schema, Callable[[Clipper, dict[str, Any], Respond], None]]] = {
    "add_app": (ADD_APP, Clipper._add_app),
    "delete_app": (NAME, Clipper._delete_app),
    "add_model_links": (LINKS, Clipper._add_model_links),
    "delete_model_links": (LINKS, Clipper._delete_model_links),
    "get_all_applications": (VERBOSE, Clipper._get_all_applications),
    "get_application": (NAME, Clipper._get_application),
    "get_linked_models": (APP, Clipper._get_linked_models),
    "get_state": ({**APP, "uid": USER}, Clipper._get_state),
    "add_model": (ADD_MODEL, Clipper._add_model),
    "delete_versioned_model": (MODEL, Clipper._delete_versioned_model),
    "set_model_version": (MODEL, Clipper._set_model_version),
    "get_all_models": (VERBOSE, Clipper._get_all_models),
    "get_model": (MODEL, Clipper._get_model),
    "get_all_containers": (VERBOSE, Clipper._get_all_containers),
    "get_container": ({**MODEL, "replica_id": USER}, Clipper._get_container),
}


def _report(respond: Respond, error: OpError) -> None:
    respond(HTTP_STATUSES.get(error.error_code, 500), error.message.encode(), TEXT)


def _refuse(respond: Respond, text: str, is_query: bool, kind: str, status: int) -> None:
    """An error in Clipper's form: an object for queries, plain text for administration."""
    if is_query:
        respond(status, orjson.dumps({"error": kind, "cause": text}))
    else:
        respond(status, text.encode(), TEXT)


def _names(model: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    wanted = asked["model_name"], str(asked["model_version"])
    return (model["model_name"], model["model_version"]) == wanted


def _described(application: Application) -> dict[str, Any]:
    return {
        "name": application.name,
        "input_type": application.input_type,
        "default_output": application.default_output,
        "latency_slo_micros": round(application.objective * 1e6),
        "linked_models": application.models,
        "policy": application.policy,
        "confidence_threshold": application.threshold,
        "output_name": application.output,
        "per_user": application.per_user,
    }


def _input(application: Application, value: Any) -> Array:
    if application.input_type == "bytes" and isinstance(value, str):
        try:
            value = base64.b64decode(value, validate=True)
        except binascii.Error as error:
            raise errors.invalid_argument(f"an input of type bytes is a base64 string: {error}") from None
    return input_array(application.input_type, value)


def _as_json(query: int, answer: Answer) -> dict[str, Any]:
    made = {
        "query_id": query,
        "output": _output(answer.output),
        "default": bool(answer.explanation),
        "confidence": answer.confidence,
        "models": answer.models,
    }
    return made | ({"default_explanation": answer.explanation} if answer.explanation else {})


def _output(value: Any) -> Any:
    """What JSON can hold of an output: bytes that are no text go as base64."""
    if isinstance(value, np.ndarray):
        return _output(value.tolist())
    if isinstance(value, list):
        return [_output(each) for each in value]
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"b64": base64.b64encode(value).decode()}
    return value
