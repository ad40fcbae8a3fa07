"""TensorFlow Serving's gRPC services by their paths: predictions, models and sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import OpError
from tideflow.serving import inference, messages
from tideflow.serving.calls import CLASSIFY, DEFAULT_SIGNATURE, REGRESS, Arrays, Call, Servable
from tideflow.serving.front import Front
from tideflow.serving.grpc_server import Method, Respond
from tideflow.serving.inference import Classes, Result, Task
from tideflow.serving.metadata import signature_def
from tideflow.serving.tensors_proto import model_spec, predict_response, read_tensor, write_tensor

Answered = TypeVar("Answered")

_METADATA_FIELD = "signature_def"
_METADATA_URL = "type.googleapis.com/tensorflow.serving.SignatureDefMap"


def make_methods(front: Front) -> dict[bytes, Method]:
    """The methods of a server, by their paths."""
    services = Services(front)
    prediction, model = "tensorflow.serving.PredictionService", "tensorflow.serving.ModelService"
    methods: dict[str, tuple[Any, Callable[[Any, float, Respond], Sequence[Call]]]] = {
        f"{prediction}/Predict": (messages.PredictRequest, services.predict),
        f"{prediction}/Classify": (messages.ClassificationRequest, services.classify),
        f"{prediction}/Regress": (messages.RegressionRequest, services.regress),
        f"{prediction}/MultiInference": (messages.MultiInferenceRequest, services.multi_inference),
        f"{prediction}/GetModelMetadata": (messages.GetModelMetadataRequest, services.get_model_metadata),
        f"{model}/GetModelStatus": (messages.GetModelStatusRequest, services.get_model_status),
        f"{model}/HandleReloadConfigRequest": (messages.ReloadConfigRequest, services.reload_config),
        "tensorflow.serving.SessionService/SessionRun": (messages.SessionRunRequest, services.session_run),
    }
    return {f"/{path}".encode(): parsing(*method) for path, method in methods.items()}


def parsing(message_class: Any, method: Callable[..., Answered]) -> Callable[..., Answered]:
    """A method that is given its request as a message, and the rest of its arguments as they are."""
    parse = message_class.FromString

    def parsed(data: bytes, *rest: Any) -> Answered:
        try:
            request = parse(data)
        except DecodeError:
            raise errors.invalid_argument(
                f"The request is no {message_class.DESCRIPTOR.name} of package tensorflow.serving"
            ) from None
        return method(request, *rest)

    return parsed


class Services:
    """The methods, each with a request, a deadline and a function for the answer."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._models = front.models

    def _find(self, request: Any) -> Servable:
        """The version that a request's ModelSpec asks for."""
        if not request.HasField("model_spec"):
            raise errors.invalid_argument("Missing ModelSpec")
        return self._models.find(*_version(request.model_spec))

    # -------------------------------------------------------------------------------------------- predictions

    def predict(self, request: Any, deadline: float, respond: Respond) -> Sequence[Call]:
        """Predict: tensors in, tensors out."""
        name = request.model_spec.name
        try:
            servable = self._find(request)
            inputs = {key: read_tensor(proto, key) for key, proto in request.inputs.items()}
            signature = request.model_spec.signature_name or DEFAULT_SIGNATURE
            as_content = self._front.as_content

            def done(outcome: Arrays | OpError) -> None:
                if isinstance(outcome, OpError):
                    respond(outcome)
                    return
                specs = servable.signatures[signature].outputs
                spec = model_spec(servable.name, servable.version, signature)
                respond(predict_response(outcome, specs, spec, as_content))

            call = inference.predict_call(servable, signature, inputs, request.output_filter, deadline, done)
        except OpError as error:
            self._front.refused(name, "Predict", "GRPC", error)
            raise
        self._front.submit(servable, call, "Predict", "GRPC")
        return (call,)

    def classify(self, request: Any, deadline: float, respond: Respond) -> Sequence[Call]:
        """Classify: Examples in, labels and scores out."""
        return self._infer(request, deadline, respond, CLASSIFY, messages.ClassificationResponse)

    def regress(self, request: Any, deadline: float, respond: Respond) -> Sequence[Call]:
        """Regress: Examples in, values out."""
        return self._infer(request, deadline, respond, REGRESS, messages.RegressionResponse)

    def _infer(
        self, request: Any, deadline: float, respond: Respond, method: str, response_class: Any
    ) -> Sequence[Call]:
        api = "Classify" if method == CLASSIFY else "Regress"
        try:
            servable = self._find(request)
            signature = request.model_spec.signature_name or DEFAULT_SIGNATURE

            def done(outcome: Result | OpError) -> None:
                if isinstance(outcome, OpError):
                    respond(outcome)
                    return
                response = response_class(result=_result_message(outcome))
                response.model_spec.ParseFromString(model_spec(servable.name, servable.version, signature))
                respond(response.SerializeToString())

            call = inference.examples_call(
                servable,
                inference.METHODS[method],
                signature,
                inference.examples_of(request.input),
                deadline,
                done,
                checks_name=self._front.checks_method_names,
            )
        except OpError as error:
            self._front.refused(request.model_spec.name, api, "GRPC", error)
            raise
        self._front.submit(servable, call, api, "GRPC")
        return (call,)

    def multi_inference(self, request: Any, deadline: float, respond: Respond) -> Sequence[Call]:
        """MultiInference: several classifications and regressions of the same Examples."""
        if not request.tasks:
            raise errors.invalid_argument("MultiInferenceRequest has no tasks")
        servable = self._find(request.tasks[0])
        tasks = [
            Task(task.model_spec.name, task.model_spec.signature_name, task.method_name)
            for task in request.tasks
        ]

        def done(outcome: list[Result] | OpError) -> None:
            if isinstance(outcome, OpError):
                respond(outcome)
                return
            response = messages.MultiInferenceResponse()
            for task, result in zip(tasks, outcome):
                added = response.results.add()
                field = (
                    added.classification_result if isinstance(result, Classes) else added.regression_result
                )
                field.CopyFrom(_result_message(result))
                spec = model_spec(servable.name, servable.version, task.signature or DEFAULT_SIGNATURE)
                added.model_spec.ParseFromString(spec)
            respond(response.SerializeToString())

        examples = inference.examples_of(request.input)
        checks_names = self._front.checks_method_names
        calls = inference.multi_inference_calls(
            servable, tasks, examples, deadline, done, checks_names=checks_names
        )
        for call in calls:
            self._front.submit(servable, call, "MultiInference", "GRPC")
        return calls

    def session_run(self, request: Any, deadline: float, respond: Respond) -> Sequence[Call]:
        """SessionRun: tensors of the graph in and out, by their names or by a signature's."""
        servable = self._find(request)
        real_name = _real_names(servable, request)
        feeds = {real_name(each.name): read_tensor(each.tensor, each.name) for each in request.feed}
        fetches = [real_name(name) for name in request.fetch]

        def done(outcome: Arrays | OpError) -> None:
            if isinstance(outcome, OpError):
                respond(outcome)
                return
            response = messages.SessionRunResponse()
            for name, fetch in zip(request.fetch, fetches):
                array = outcome[fetch]
                tensor = TensorProto.FromString(write_tensor(array, dtypes.as_dtype(array.dtype)))
                response.tensor.add(name=name, tensor=tensor)
            response.model_spec.ParseFromString(model_spec(servable.name, servable.version, None))
            respond(response.SerializeToString())

        call = inference.graph_call(feeds, [*fetches, *request.target], deadline, done)
        self._front.submit(servable, call, "session_run", "GRPC")
        return (call,)

    # ------------------------------------------------------------------------------------------------- models

    def get_model_metadata(self, request: Any, deadline: float, respond: Respond) -> Sequence[Call]:
        """GetModelMetadata: the signatures of a model."""
        if not request.HasField("model_spec"):
            raise errors.invalid_argument("Missing ModelSpec")
        if not request.metadata_field:
            raise errors.invalid_argument("GetModelMetadataRequest must specify at least one metadata_field")
        for field in request.metadata_field:
            if field != _METADATA_FIELD:
                raise errors.invalid_argument(f"Metadata field {field} is not supported")
        servable = self._find(request)
        signatures = {name: signature_def(value) for name, value in servable.signatures.items()}
        response = messages.GetModelMetadataResponse()
        response.model_spec.name = servable.name
        response.model_spec.version.value = servable.version
        metadata = response.metadata[_METADATA_FIELD]
        metadata.type_url = _METADATA_URL
        metadata.value = messages.SignatureDefMap(signature_def=signatures).SerializeToString()
        respond(response.SerializeToString())
        return ()

    def get_model_status(self, request: Any, deadline: float, respond: Respond) -> Sequence[Call]:
        """GetModelStatus: the states of a model's versions."""
        if not request.HasField("model_spec"):
            raise errors.invalid_argument("Missing ModelSpec")
        response = messages.GetModelStatusResponse()
        for status in self._models.statuses(*_version(request.model_spec)):
            added = response.model_version_status.add(version=status.version, state=status.state)
            added.status.error_code = status.error.error_code if status.error else errors.OK
            added.status.error_message = status.error.message if status.error else ""
        respond(response.SerializeToString())
        return ()

    def reload_config(self, request: Any, deadline: float, respond: Respond) -> Sequence[Call]:
        """HandleReloadConfigRequest: another configuration of models in place of the current one."""

        def done(error: OpError | None) -> None:
            response = messages.ReloadConfigResponse()
            response.status.error_code = error.error_code if error else errors.OK
            response.status.error_message = error.message if error else ""
            respond(response.SerializeToString())

        if request.config.WhichOneof("config") != "model_config_list":
            raise errors.invalid_argument("Config type not supported by HandleReloadConfigRequest.")
        self._models.reload(request.config, done)
        return ()


def _version(spec: Any) -> tuple[str, int | None, str | None]:
    """The name, the version and the label of a ModelSpec."""
    if not spec.name:
        raise errors.invalid_argument("ModelSpec has no name specified.")
    choice = spec.WhichOneof("version_choice")
    if choice == "version":
        return spec.name, spec.version.value, None
    return spec.name, None, spec.version_label if choice == "version_label" else None


def _result_message(result: Result) -> Any:
    if not isinstance(result, Classes):
        return messages.RegressionResult(regressions=[{"value": value} for value in result.tolist()])
    message = messages.ClassificationResult()
    labels, scores = result
    shape = (labels if labels is not None else scores).shape  # type: ignore[union-attr]
    for row in range(shape[0]):
        classes = message.classifications.add().classes
        for column in range(shape[1]):
            added = classes.add()
            if labels is not None:
                added.label = labels[row, column].decode("utf-8", "replace")
            if scores is not None:
                added.score = scores[row, column]
    return message


def _real_names(servable: Servable, request: Any) -> Callable[[str], str]:
    """Gives the tensors' names in the graph, for names of a signature or for themselves."""
    if not request.tensor_name_is_alias:
        return lambda name: name if ":" in name else f"{name}:0"
    key = request.model_spec.signature_name or DEFAULT_SIGNATURE
    signature = servable.signatures.get(key)
    if signature is None:
        raise errors.failed_precondition(f'Serving signature key "{key}" not found.')
    known = {**signature.inputs, **signature.outputs}

    def real_name(alias: str) -> str:
        if alias not in known:
            raise errors.invalid_argument(f"Tensor alias not found in signature: {alias}")
        return known[alias].tensor_name

    return real_name
