"""The messages of `tensorflow.MasterService`. Fetched tensors are not part of the answers here, and fed ones
are taken from large requests before these are parsed: `tensors.py` does both, without needless copies.
"""

from __future__ import annotations

from tensorboard.compat.proto import config_pb2, graph_pb2, tensor_pb2  # noqa: F401  (types that the schema names)

from tideflow.graph.own_protos import make_messages

SERVICE = "tensorflow.MasterService"

_MESSAGES = make_messages(
    "master",
    {
        "CreateSessionRequest": {
            "graph_def": "tensorboard.GraphDef",
            "config": "tensorboard.ConfigProto",
            "target": "string",
        },
        "CreateSessionResponse": {"session_handle": "string", "graph_version": "int64"},
        "ExtendSessionRequest": {
            "session_handle": "string",
            "graph_def": "tensorboard.GraphDef",
            "current_graph_version": "int64",
        },
        "ExtendSessionResponse": {"new_graph_version": "4 int64"},
        "NamedTensor": {"name": "string", "tensor": "tensorboard.TensorProto"},
        "RunStepRequest": {
            "session_handle": "1 string",
            "feed": "2 repeated NamedTensor",
            "fetch": "3 repeated string",
            "target": "4 repeated string",
            "options": "5 tensorboard.RunOptions",
            "partial_run_handle": "6 string",
            "store_errors_in_response_body": "7 bool",
            "request_id": "8 int64",
        },
        "RunStepResponse": {  # 1 are the fetched tensors
            "metadata": "2 tensorboard.RunMetadata",
            "status_code": "3 int32",
            "status_error_message": "4 string",
        },
        "PartialRunSetupRequest": {
            "session_handle": "string",
            "feed": "repeated string",
            "fetch": "repeated string",
            "target": "repeated string",
            "request_id": "int64",
        },
        "PartialRunSetupResponse": {"partial_run_handle": "string"},
        "CloseSessionRequest": {"session_handle": "string"},
        "ResetRequest": {"container": "repeated string", "device_filters": "repeated string"},
        "ListDevicesRequest": {"session_handle": "string"},
        "DeviceAttributes": {
            "name": "1 string",
            "device_type": "2 string",
            "memory_limit": "4 int64",
            "incarnation": "6 fixed64",
            "physical_device_desc": "7 string",
        },
        "ListDevicesResponse": {
            "local_device": "repeated DeviceAttributes",
            "remote_device": "repeated DeviceAttributes",
        },
        "MakeCallableRequest": {
            "session_handle": "string",
            "options": "tensorboard.CallableOptions",
            "request_id": "int64",
        },
        "MakeCallableResponse": {"handle": "int64"},
        "RunCallableRequest": {
            "session_handle": "string",
            "handle": "int64",
            "feed": "repeated tensorboard.TensorProto",
            "request_id": "int64",
        },
        "RunCallableResponse": {"metadata": "2 tensorboard.RunMetadata"},  # 1 are the fetched tensors
        "ReleaseCallableRequest": {"session_handle": "string", "handle": "int64"},
    },
    package="tideflow.master",
)

CreateSessionRequest = _MESSAGES["CreateSessionRequest"]
CreateSessionResponse = _MESSAGES["CreateSessionResponse"]
ExtendSessionRequest = _MESSAGES["ExtendSessionRequest"]
ExtendSessionResponse = _MESSAGES["ExtendSessionResponse"]
RunStepRequest = _MESSAGES["RunStepRequest"]
RunStepResponse = _MESSAGES["RunStepResponse"]
NamedTensor = _MESSAGES["NamedTensor"]
PartialRunSetupRequest = _MESSAGES["PartialRunSetupRequest"]
PartialRunSetupResponse = _MESSAGES["PartialRunSetupResponse"]
CloseSessionRequest = _MESSAGES["CloseSessionRequest"]
ResetRequest = _MESSAGES["ResetRequest"]
ListDevicesRequest = _MESSAGES["ListDevicesRequest"]
DeviceAttributes = _MESSAGES["DeviceAttributes"]
ListDevicesResponse = _MESSAGES["ListDevicesResponse"]
MakeCallableRequest = _MESSAGES["MakeCallableRequest"]
MakeCallableResponse = _MESSAGES["MakeCallableResponse"]
RunCallableRequest = _MESSAGES["RunCallableRequest"]
RunCallableResponse = _MESSAGES["RunCallableResponse"]
ReleaseCallableRequest = _MESSAGES["ReleaseCallableRequest"]
