"""The profiler's messages, on TensorFlow's wire format."""

from __future__ import annotations

from tideflow.export import expose
from tideflow.graph.own_protos import make_messages

_GRAPH_NODE = {
    "name": "1 string",
    "tensor_value": "15 TFProfTensorProto",
    "run_count": "21 int64",
    "exec_micros": "2 int64",
    "accelerator_exec_micros": "17 int64",
    "cpu_exec_micros": "18 int64",
    "requested_bytes": "3 int64",
    "peak_bytes": "24 int64",
    "residual_bytes": "25 int64",
    "output_bytes": "26 int64",
    "parameters": "4 int64",
    "float_ops": "13 int64",
    "devices": "10 repeated string",
    "total_definition_count": "23 int64",
    "total_run_count": "22 int64",
    "total_exec_micros": "6 int64",
    "total_accelerator_exec_micros": "19 int64",
    "total_cpu_exec_micros": "20 int64",
    "total_requested_bytes": "7 int64",
    "total_peak_bytes": "27 int64",
    "total_residual_bytes": "28 int64",
    "total_output_bytes": "29 int64",
    "total_parameters": "8 int64",
    "total_float_ops": "14 int64",
    "shapes": "11 repeated tensorboard.TensorShapeProto",
    "input_shapes": "16 map int32 tensorboard.TensorShapeProto",
    "children": "12 repeated GraphNodeProto",
}

_MULTI_GRAPH_NODE = {
    "name": "1 string",
    "exec_micros": "2 int64",
    "accelerator_exec_micros": "12 int64",
    "cpu_exec_micros": "13 int64",
    "requested_bytes": "3 int64",
    "peak_bytes": "16 int64",
    "residual_bytes": "17 int64",
    "output_bytes": "18 int64",
    "parameters": "4 int64",
    "float_ops": "5 int64",
    "total_exec_micros": "6 int64",
    "total_accelerator_exec_micros": "14 int64",
    "total_cpu_exec_micros": "15 int64",
    "total_requested_bytes": "7 int64",
    "total_peak_bytes": "19 int64",
    "total_residual_bytes": "20 int64",
    "total_output_bytes": "21 int64",
    "total_parameters": "8 int64",
    "total_float_ops": "9 int64",
    "graph_nodes": "10 repeated GraphNodeProto",
    "children": "11 repeated MultiGraphNodeProto",
}

_messages = make_messages(
    "profiler",
    {
        "OpLogProto": {"log_entries": "repeated OpLogEntry", "id_to_string": "map int64 string"},
        "OpLogEntry": {
            "name": "string",
            "float_ops": "int64",
            "types": "repeated string",
            "code_def": "CodeDef",
        },
        "CodeDef": {"traces": "repeated CodeTrace"},
        "CodeTrace": {
            "file": "1 string",
            "file_id": "6 int64",
            "lineno": "2 int32",
            "function": "3 string",
            "function_id": "7 int64",
            "line": "4 string",
            "line_id": "8 int64",
            "func_start_line": "5 int32",
        },
        "TFProfTensorProto": {
            "dtype": "int32",
            "value_double": "repeated double",
            "value_int64": "repeated int64",
            "value_str": "repeated string",
        },
        "GraphNodeProto": _GRAPH_NODE,
        "MultiGraphNodeProto": _MULTI_GRAPH_NODE,
        "AdviceProto": {"checkers": "map AdviceChecker"},
        "AdviceChecker": {"reports": "2 repeated string"},
        "ProfileProto": {
            "nodes": "1 map int64 ProfileNode",
            "has_trace": "2 bool",
            "miss_accelerator_stream": "5 bool",
            "steps": "3 repeated int64",
            "id_to_string": "4 map int64 string",
        },
        "ProfileNode": {
            "name": "1 string",
            "op": "9 string",
            "id": "13 int64",
            "inputs": "2 map int32 int64",
            "input_shapes": "16 map int32 ProfileTuple",
            "shape": "4 repeated int64",
            "op_types": "5 repeated string",
            "canonical_device": "6 string",
            "float_ops": "8 int64",
            "trace": "10 CodeDef",
            "execs": "12 map int64 ExecProfile",
        },
        "ProfileTuple": {"int64_values": "repeated int64"},
        "ExecProfile": {
            "run_count": "1 int64",
            "all_start_micros": "2 int64",
            "latest_end_micros": "3 int64",
            "accelerator_execs": "4 map ExecTime",
            "cpu_execs": "5 map ExecTime",
            "memory_execs": "7 repeated ExecMemory",
            "devices": "6 repeated string",
        },
        "ExecTime": {"times": "repeated ProfileTuple"},
        "ExecMemory": {
            "memory_micros": "1 int64",
            "requested_bytes": "6 int64",
            "peak_bytes": "7 int64",
            "residual_bytes": "8 int64",
            "output_bytes": "9 int64",
        },
    },
)

OpLogProto, OpLogEntry = _messages["OpLogProto"], _messages["OpLogEntry"]
GraphNodeProto, MultiGraphNodeProto = _messages["GraphNodeProto"], _messages["MultiGraphNodeProto"]
AdviceProto, ProfileProto = _messages["AdviceProto"], _messages["ProfileProto"]

for _message in (OpLogProto, GraphNodeProto, MultiGraphNodeProto, AdviceProto):
    expose(_message, f"profiler.{_message.DESCRIPTOR.name}")
