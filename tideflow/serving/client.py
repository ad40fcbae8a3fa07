"""A client of TensorFlow Serving's interface, ours or another's, that needs neither TensorFlow nor torch.

    with Client("http://localhost:8501") as client:
        client.predict("digits", {"image": images})["scores"]

Addresses are `http://`, `https://`, `grpc://` or `grpcs://`. Errors are those of `tf.errors`.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias
from urllib.parse import quote, urlsplit

import numpy as np
from google.protobuf import json_format
from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import OpError
from tideflow.graph.tensor_proto import make_ndarray, tensor_proto
from tideflow.serving import messages
from tideflow.serving.calls import DEFAULT_SIGNATURE, Array, Arrays, Signature
from tideflow.serving.metadata import signature_of
from tideflow.serving.tensors_json import parse_examples, parse_inputs, parse_object, request_json

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import ArrayLike

Examples: TypeAlias = Sequence[Mapping[str, Any]]  # features by name: numbers, strings, or lists of them

_CODES = {  # of HTTP's statuses, where several errors share one
    400: errors.INVALID_ARGUMENT,
    401: errors.UNAUTHENTICATED,
    403: errors.PERMISSION_DENIED,
    404: errors.NOT_FOUND,
    409: errors.ABORTED,
    413: errors.RESOURCE_EXHAUSTED,
    429: errors.RESOURCE_EXHAUSTED,
    499: errors.CANCELLED,
    501: errors.UNIMPLEMENTED,
    503: errors.UNAVAILABLE,
    504: errors.DEADLINE_EXCEEDED,
}


class Model(NamedTuple):
    """A model that is asked: its latest version, another version, or the one with a label."""

    name: str
    version: int | None = None
    label: str | None = None


class Status(NamedTuple):
    """The state of a version of a model, AVAILABLE say, and the error that it ended with."""

    version: int
    state: str
    error: OpError | None


class _Transport(Protocol):
    """How a server is reached."""

    def predict(self, model: Model, signature: str, inputs: Arrays, specs: Signature) -> Arrays: ...

    def infer(self, method: str, model: Model, signature: str, examples: Examples) -> Any: ...

    def signatures(self, model: Model) -> dict[str, Signature]: ...

    def statuses(self, model: Model) -> list[Status]: ...

    def close(self) -> None: ...


class Client:
    """A connection to a server.

    Args:
      url: The server's address.
      token: The bearer token that the server asks for.
      timeout: The seconds that a request may take.
      certificate: The PEM file of the certificate that the server's is checked by, if not the system's.
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = 30.0, certificate: str | None = None
    ) -> None:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        transports = {"http": _Rest, "https": _Rest, "grpc": _Grpc, "grpcs": _Grpc}
        if parts.scheme not in transports or not parts.hostname:
            raise ValueError(f"{url!r} is no address of a server: http://HOST:PORT or grpc://HOST:PORT")
        is_secure = parts.scheme in ("https", "grpcs")
        make: Any = transports[parts.scheme]
        self._transport: _Transport = make(parts.netloc, is_secure, token, timeout, certificate)
        self._signatures: dict[Model, dict[str, Signature]] = {}

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._transport.close()

    def predict(
        self,
        model: str | Model,
        inputs: Mapping[str, ArrayLike] | ArrayLike,
        signature: str = DEFAULT_SIGNATURE,
    ) -> Arrays:
        """Predicts.

        Args:
          model: The model, by its name alone or with a version or a label.
          inputs: Arrays by the signature's names, or one array where the signature takes one.
          signature: The name of the signature.

        Returns:
          The outputs, as arrays by the signature's names.
        """
        model = _as_model(model)
        specs = self._signature(model, signature)
        given = inputs if isinstance(inputs, Mapping) else {_only_input(specs): inputs}
        return self._transport.predict(model, signature, _typed(given, specs), specs)

    def classify(
        self, model: str | Model, examples: Examples, signature: str = DEFAULT_SIGNATURE
    ) -> list[list[tuple[str, float]]]:
        """Classifies.

        Args:
          model: The model, by its name alone or with a version or a label.
          examples: For each example its features by name.
          signature: The name of the signature.

        Returns:
          For each example, labels with their scores.
        """
        rows = self._transport.infer("classify", _as_model(model), signature, examples)
        return [[(label, score) for label, score in row] for row in rows]

    def regress(self, model: str | Model, examples: Examples, signature: str = DEFAULT_SIGNATURE) -> Array:
        """Regresses.

        Args:
          model: The model, by its name alone or with a version or a label.
          examples: For each example its features by name.
          signature: The name of the signature.

        Returns:
          A value for each example.
        """
        return np.array(self._transport.infer("regress", _as_model(model), signature, examples), np.float32)

    def signatures(self, model: str | Model) -> dict[str, Signature]:
        """What a model takes and gives, by the names of its signatures.

        Args:
          model: The model, by its name alone or with a version or a label.
        """
        return self._transport.signatures(_as_model(model))

    def statuses(self, model: str | Model) -> list[Status]:
        """The states of a model's versions.

        Args:
          model: The model, by its name alone or with a version or a label.
        """
        return self._transport.statuses(_as_model(model))

    def _signature(self, model: Model, name: str) -> Signature:
        """A signature, asked for once: the next version of a model has the same, or clients would fail."""
        known = self._signatures.get(model)
        if known is None or name not in known:
            known = self._signatures[model] = self._transport.signatures(model)
        if name not in known:
            raise errors.invalid_argument(f'Serving signature name: "{name}" not found in signature def')
        return known[name]


def _as_model(model: str | Model) -> Model:
    return Model(model) if isinstance(model, str) else model


def _only_input(signature: Signature) -> str:
    if len(signature.inputs) != 1:
        raise errors.invalid_argument(
            f"The signature takes {len(signature.inputs)} inputs, and one was given without a name: "
            f"{','.join(sorted(signature.inputs))}"
        )
    return next(iter(signature.inputs))


def _typed(inputs: Mapping[str, ArrayLike], signature: Signature) -> Arrays:
    """The inputs in the signature's types. Those that it does not know are left to the server to refuse."""
    arrays = {}
    for name, value in inputs.items():
        spec = signature.inputs.get(name)
        if spec is not None and spec.dtype is dtypes.string:
            array = np.array(value, object)
            encoded = [item.encode() if isinstance(item, str) else item for item in array.reshape(-1)]
            array = np.empty(array.shape, object)
            array.reshape(-1)[:] = encoded
        else:
            array = np.asarray(value, None if spec is None else spec.dtype.numpy)
        arrays[name] = array
    return arrays


# ----------------------------------------------------------------------------------------------------- REST


class _Rest:
    """A server's REST interface, over one connection that is kept."""

    def __init__(
        self, address: str, is_secure: bool, token: str | None, timeout: float, certificate: str | None
    ) -> None:
        make: Callable[..., http.client.HTTPConnection] = http.client.HTTPConnection
        options: dict[str, Any] = {"timeout": timeout}
        if is_secure:
            make = http.client.HTTPSConnection
            options["context"] = ssl.create_default_context(cafile=certificate)
        self._connection = make(address, **options)
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def close(self) -> None:
        self._connection.close()

    def predict(self, model: Model, signature: str, inputs: Arrays, specs: Signature) -> Arrays:
        body = request_json(signature, inputs)
        document, text = self._ask("POST", f"{_path(model)}:predict", body)
        # Outputs have the form of inputs by columns.
        return parse_inputs({"inputs": document["outputs"]}, specs.outputs, text)[0]

    def infer(self, method: str, model: Model, signature: str, examples: Examples) -> Any:
        rows = [{name: _json_value(value) for name, value in row.items()} for row in examples]
        body = json.dumps({"signature_name": signature, "examples": rows}).encode()
        return self._ask("POST", f"{_path(model)}:{method}", body)[0]["results"]

    def signatures(self, model: Model) -> dict[str, Signature]:
        document, _ = self._ask("GET", f"{_path(model)}/metadata")
        return {
            name: signature_of(json_format.ParseDict(value, SignatureDef(), ignore_unknown_fields=True))
            for name, value in document["metadata"]["signature_def"]["signature_def"].items()
        }

    def statuses(self, model: Model) -> list[Status]:
        document, _ = self._ask("GET", _path(model))
        codes = {name: number for number, name in messages.CODE_NAMES.items()}
        return [
            Status(
                int(each["version"]),
                each["state"],
                _error(
                    codes.get(each["status"]["error_code"], errors.UNKNOWN), each["status"]["error_message"]
                ),
            )
            for each in document["model_version_status"]
        ]

    def _ask(self, method: str, path: str, body: bytes | None = None) -> tuple[dict[str, Any], bytes]:
        """An answer, and its text."""
        was_open = self._connection.sock is not None
        try:
            try:
                answer = self._exchange(method, path, body)
            except (ConnectionError, http.client.RemoteDisconnected):
                if not was_open:
                    raise
                answer = self._exchange(method, path, body)  # the server had closed a connection not in use
            text = answer.read()
        except TimeoutError:
            self._connection.close()
            raise errors.deadline_exceeded(f"No answer from {self._connection.host} in time") from None
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise errors.unavailable(f"No answer from {self._connection.host}: {error}") from None
        document = parse_object(text)
        if answer.status != 200:
            raise errors.make_error(
                None,
                None,
                str(document.get("error", answer.reason)),
                _CODES.get(answer.status, errors.UNKNOWN),
            )
        return document, text

    def _exchange(self, method: str, path: str, body: bytes | None) -> http.client.HTTPResponse:
        try:
            self._connection.request(method, path, body, self._headers)
            return self._connection.getresponse()
        except BaseException:
            self._connection.close()
            raise


def _path(model: Model) -> str:
    path = f"/v1/models/{quote(model.name, safe='')}"
    if model.version is not None:
        return f"{path}/versions/{model.version}"
    return path if model.label is None else f"{path}/labels/{quote(model.label, safe='')}"


def _json_value(value: Any) -> Any:
    """A feature as TensorFlow Serving's JSON has it: bytes in base64."""
    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return [_json_value(item) for item in value] if isinstance(value, (list, tuple)) else value


# ----------------------------------------------------------------------------------------------------- gRPC


class _Grpc:
    """A server's gRPC interface, by grpcio."""

    def __init__(
        self, address: str, is_secure: bool, token: str | None, timeout: float, certificate: str | None
    ) -> None:
        import grpc  # loaded when asked for

        self._grpc = grpc
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        if is_secure:
            root = None
            if certificate is not None:
                with open(certificate, "rb") as file:
                    root = file.read()
            self._channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(root), options)
        else:
            self._channel = grpc.insecure_channel(address, options)
        self._timeout = timeout
        self._metadata = [] if token is None else [("authorization", f"Bearer {token}")]

    def close(self) -> None:
        self._channel.close()

    def predict(self, model: Model, signature: str, inputs: Arrays, specs: Signature) -> Arrays:
        request = messages.PredictRequest(model_spec=_spec(model, signature))
        for name, array in inputs.items():
            spec = specs.inputs.get(name)
            dtype = dtypes.as_dtype(array.dtype) if spec is None else spec.dtype
            request.inputs[name].CopyFrom(tensor_proto(array, dtype))
        response = self._ask("PredictionService/Predict", request, messages.PredictResponse)
        return {name: make_ndarray(tensor) for name, tensor in response.outputs.items()}

    def infer(self, method: str, model: Model, signature: str, examples: Examples) -> Any:
        is_classify = method == "classify"
        kind = messages.ClassificationRequest if is_classify else messages.RegressionRequest
        request = kind(model_spec=_spec(model, signature))
        rows = [{name: _json_value(value) for name, value in row.items()} for row in examples]
        request.input.example_list.examples.extend(parse_examples({"examples": rows}))
        if not is_classify:
            response = self._ask("PredictionService/Regress", request, messages.RegressionResponse)
            return [each.value for each in response.result.regressions]
        response = self._ask("PredictionService/Classify", request, messages.ClassificationResponse)
        return [[(each.label, each.score) for each in row.classes] for row in response.result.classifications]

    def signatures(self, model: Model) -> dict[str, Signature]:
        request = messages.GetModelMetadataRequest(model_spec=_spec(model), metadata_field=["signature_def"])
        response = self._ask("PredictionService/GetModelMetadata", request, messages.GetModelMetadataResponse)
        found = messages.SignatureDefMap.FromString(response.metadata["signature_def"].value)
        return {name: signature_of(value) for name, value in found.signature_def.items()}

    def statuses(self, model: Model) -> list[Status]:
        request = messages.GetModelStatusRequest(model_spec=_spec(model))
        response = self._ask("ModelService/GetModelStatus", request, messages.GetModelStatusResponse)
        names = {number: name for name, number in messages.STATES.items()}
        return [
            Status(each.version, names[each.state], _error(each.status.error_code, each.status.error_message))
            for each in response.model_version_status
        ]

    def _ask(self, path: str, request: Any, response_class: Any) -> Any:
        call = self._channel.unary_unary(
            f"/tensorflow.serving.{path}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response_class.FromString,
        )
        try:
            return call(request, timeout=self._timeout, metadata=self._metadata)
        except self._grpc.RpcError as error:
            raise errors.make_error(None, None, error.details() or "", error.code().value[0]) from None


def _spec(model: Model, signature: str = "") -> Any:
    spec = messages.ModelSpec(name=model.name, signature_name=signature)
    if model.version is not None:
        spec.version.value = model.version
    elif model.label is not None:
        spec.version_label = model.label
    return spec


def _error(code: int, message: str) -> OpError | None:
    return errors.make_error(None, None, message, code) if code else None
