"""TensorFlow Serving's REST interface: paths, statuses and texts. Requests in, answers out, no sockets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeAlias
from urllib.parse import parse_qs, unquote

import numpy as np
import orjson
from google.protobuf import json_format

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.serving import inference, tensors_json, tensors_npy
from tideflow.serving.calls import CLASSIFY, DEFAULT_SIGNATURE, REGRESS, Arrays, Call, Servable, Signature
from tideflow.serving.front import Front
from tideflow.serving.inference import Classes, Result
from tideflow.serving.messages import CODE_NAMES, STATES
from tideflow.serving.metadata import signature_def
from tideflow.serving.sources import LARGEST_VERSION

JSON, TEXT = b"application/json", b"text/plain; version=0.0.4; charset=utf-8"
METRICS_PATH = "/monitoring/prometheus/metrics"
LIVE_PATH, READY_PATH, PAGE_PATH = "/healthz", "/readyz", "/"

_VERSION = r"(?:/versions/(\d+)|/labels/([^/:]+))?"
_INFER = re.compile(rf"(?i)/v1/models/([^/:]+){_VERSION}:(classify|regress|predict)")
_STATUS = re.compile(rf"(?i)/v1/models(?:/([^/:]+))?{_VERSION}(?:/(metadata))?")
_STATE_NAMES = {number: name for name, number in STATES.items()}
_METHODS = {"classify": CLASSIFY, "regress": REGRESS}

HTTP_STATUSES = {
    errors.OK: 200,
    errors.CANCELLED: 499,
    errors.INVALID_ARGUMENT: 400,
    errors.DEADLINE_EXCEEDED: 504,
    errors.NOT_FOUND: 404,
    errors.ALREADY_EXISTS: 409,
    errors.PERMISSION_DENIED: 403,
    errors.RESOURCE_EXHAUSTED: 429,
    errors.FAILED_PRECONDITION: 400,
    errors.ABORTED: 409,
    errors.OUT_OF_RANGE: 400,
    errors.UNIMPLEMENTED: 501,
    errors.UNAVAILABLE: 503,
    errors.UNAUTHENTICATED: 401,
}


class Respond(Protocol):
    """Answers a request, once."""

    def __call__(self, status: int, body: bytes, content_type: bytes = JSON) -> None: ...


class Request(NamedTuple):
    """A request as it came by HTTP. Names of headers are in lower case."""

    method: str
    target: str
    headers: dict[bytes, bytes]
    body: bytes


# Answers requests for paths of its own; False if the path is none of them.
Other: TypeAlias = Callable[[str, str, bytes, Respond], bool]


class _Route(NamedTuple):
    """A path of TensorFlow Serving's, taken apart. `action` is a method, or empty for the status."""

    model: str
    version: int | None
    label: str | None
    action: str


@lru_cache(maxsize=1024)
def _route(method: str, path: str) -> _Route:
    """What a path means. Raises an error if it means nothing."""
    pattern = {"POST": _INFER, "GET": _STATUS}.get(method)
    found = pattern.fullmatch(path) if pattern else None
    if found is None:
        raise errors.invalid_argument(f"Malformed request: {method} {path}")
    model, version, label, action = found.groups()
    if model is None:
        raise errors.invalid_argument("Missing model name in request.")
    return _Route(
        unquote(model),
        None if version is None else _version(version),
        None if label is None else unquote(label),
        (action or "").lower(),
    )


def _version(digits: str) -> int:
    plain = digits.lstrip("0") or "0"
    if len(plain) > len(str(LARGEST_VERSION)) or int(plain) > LARGEST_VERSION:
        raise errors.invalid_argument(f"Failed to convert version: {digits} to numeric.")
    return int(plain)


class Rest:
    """The REST interface of a server. `others` are asked for paths that are not TensorFlow Serving's."""

    def __init__(self, front: Front, others: Sequence[Other] = (), metrics_path: str = METRICS_PATH) -> None:
        self._front = front
        self._others = others
        self._metrics_path = metrics_path

    def handle(self, request: Request, respond: Respond) -> Call | None:
        """Answers a request, now or later. Returns the call that the answer waits for."""
        try:
            return self._handle(request, respond)
        except OpError as error:
            respond_error(respond, error)
        return None

    def _handle(self, request: Request, respond: Respond) -> Call | None:
        path, _, query = request.target.partition("?")
        if path[:4].lower() != "/v1/":
            self._handle_other(request, path, respond)
            return None
        route = _route(request.method, path)
        if not route.action:
            self._status(route, respond)
        elif route.action == "metadata":
            self._metadata(route, respond)
        else:
            try:
                if route.action == "predict":
                    return self._predict(route, request, query, respond)
                return self._infer(route, request, respond)
            except OpError as error:
                self._front.refused(route.model, route.action.capitalize(), "REST", error)
                raise
        return None

    def _handle_other(self, request: Request, path: str, respond: Respond) -> None:
        if request.method == "GET" and path == self._metrics_path:
            respond(200, self._front.metrics.prometheus_text(), TEXT)
        elif request.method == "GET" and path == LIVE_PATH:
            respond(200, b'{"status":"alive"}')
        elif request.method == "GET" and path == READY_PATH:
            is_ready = self._front.models.is_ready() and not self._front.is_draining
            respond(200 if is_ready else 503, b'{"status":"%s"}' % (b"ready" if is_ready else b"not ready"))
        elif not any(other(request.method, path, request.body, respond) for other in self._others):
            respond(404, tensors_json.error_json(f"Not found: {request.method} {path}"))

    # ---------------------------------------------------------------------------------------------- inference

    def _predict(self, route: _Route, request: Request, query: str, respond: Respond) -> Call:
        servable = self._front.models.find(route.model, route.version, route.label)
        kind = request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind in (tensors_npy.NPY, tensors_npy.NPZ):
            return self._predict_arrays(servable, request, kind, query, respond)
        document = tensors_json.parse_object(request.body)
        name = tensors_json.signature_name(document)
        specs = _signature(servable, name).inputs
        inputs, is_rows = tensors_json.parse_inputs(document, specs, request.body)

        def done(outcome: Arrays | OpError) -> None:
            if not isinstance(outcome, OpError):
                try:
                    respond(200, tensors_json.predictions_json(outcome, is_rows))
                    return
                except OpError as error:
                    outcome = error
            respond_error(respond, outcome)

        return self._submit(servable, name, inputs, done)

    def _predict_arrays(
        self, servable: Servable, request: Request, kind: bytes, query: str, respond: Respond
    ) -> Call:
        """A prediction of NumPy's files; the answer is JSON if the client accepts that."""
        name = parse_qs(query).get("signature_name", [""])[-1]
        specs = _signature(servable, name).inputs
        inputs = tensors_npy.read_body(kind, request.body, specs, self._front.limits.body)
        accepted = request.headers.get(b"accept", b"*/*")
        answer_kind = next(
            (each for each in (JSON, tensors_npy.NPZ, tensors_npy.NPY) if each in accepted), kind
        )

        def done(outcome: Arrays | OpError) -> None:
            if not isinstance(outcome, OpError):
                try:
                    if answer_kind == JSON:
                        respond(200, tensors_json.predictions_json(outcome, is_rows=False))
                    else:
                        respond(200, tensors_npy.write_body(answer_kind, outcome), answer_kind)
                    return
                except OpError as error:
                    outcome = error
            respond_error(respond, outcome)

        return self._submit(servable, name, inputs, done)

    def _submit(
        self, servable: Servable, name: str, inputs: Arrays, done: Callable[[Arrays | OpError], None]
    ) -> Call:
        deadline = self._front.clock() + self._front.timeout
        call = inference.predict_call(servable, name, inputs, (), deadline, done)
        self._front.submit(servable, call, "Predict", "REST")
        return call

    def _infer(self, route: _Route, request: Request, respond: Respond) -> Call:
        servable = self._front.models.find(route.model, route.version, route.label)
        document = tensors_json.parse_object(request.body)
        name = tensors_json.signature_name(document)
        examples = tensors_json.parse_examples(document)

        def done(outcome: Result | OpError) -> None:
            if isinstance(outcome, OpError):
                respond_error(respond, outcome)
            else:
                respond(200, tensors_json.results_json(_result_rows(outcome)))

        deadline = self._front.clock() + self._front.timeout
        method = inference.METHODS[_METHODS[route.action]]
        checks_name = self._front.checks_method_names
        call = inference.examples_call(
            servable, method, name, examples, deadline, done, checks_name=checks_name
        )
        self._front.submit(servable, call, route.action.capitalize(), "REST")
        return call

    # ------------------------------------------------------------------------------------------------- models

    def _status(self, route: _Route, respond: Respond) -> None:
        statuses = self._front.models.statuses(route.model, route.version, route.label)
        shown = [
            {
                "version": str(status.version),
                "state": _STATE_NAMES[status.state],
                "status": {
                    "error_code": CODE_NAMES[status.error.error_code if status.error else errors.OK],
                    "error_message": status.error.message if status.error else "",
                },
            }
            for status in statuses
        ]
        respond(200, orjson.dumps({"model_version_status": shown}, option=orjson.OPT_INDENT_2))

    def _metadata(self, route: _Route, respond: Respond) -> None:
        servable = self._front.models.find(route.model, route.version, route.label)
        signatures = {
            name: json_format.MessageToDict(
                signature_def(signature),
                preserving_proto_field_name=True,
                always_print_fields_with_no_presence=True,
            )
            for name, signature in servable.signatures.items()
        }
        spec = {"name": servable.name, "signature_name": "", "version": str(servable.version)}
        metadata = {"signature_def": {"signature_def": signatures}}
        respond(200, orjson.dumps({"model_spec": spec, "metadata": metadata}, option=orjson.OPT_INDENT_2))


def respond_error(respond: Respond, error: OpError) -> None:
    """Answers with an error's status and text."""
    respond(HTTP_STATUSES.get(error.error_code, 500), tensors_json.error_json(error.message))


def _signature(servable: Servable, name: str) -> Signature:
    name = name or DEFAULT_SIGNATURE
    signature = servable.signatures.get(name)
    if signature is None:
        raise errors.invalid_argument(f'Serving signature name: "{name}" not found in signature def')
    if not signature.inputs:
        raise errors.invalid_argument(f"Failed to get input map for signature: {name}")
    return signature


def _result_rows(result: Result) -> Sequence[object]:
    """Pairs of labels and scores for each example, or a value for each."""
    if not isinstance(result, Classes):
        return result  # type: ignore[return-value]  # orjson writes the array
    labels, scores = result
    shape = (scores if labels is None else labels).shape  # type: ignore[union-attr]
    values = np.zeros(shape, np.float32) if scores is None else scores
    texts = [[""] * shape[1]] * shape[0] if labels is None else labels
    return [
        [(text.decode("utf-8", "replace") if text else "", score) for text, score in zip(*row)]
        for row in zip(texts, values)
    ]
