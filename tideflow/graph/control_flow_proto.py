"""Messages for the conditionals and loops in a MetaGraphDef's collections and the operations inside them."""

from tideflow.graph.own_protos import make_messages

_MESSAGES = make_messages(
    "control_flow",
    {
        "ValuesDef": {"values": "repeated string", "external_values": "map string"},
        "ControlFlowContextDef": {
            "cond_ctxt": "oneof ctxt CondContextDef",
            "while_ctxt": "oneof ctxt WhileContextDef",
        },
        "CondContextDef": {
            "context_name": "string",
            "pred_name": "string",
            "pivot_name": "string",
            "branch": "int32",
            "values_def": "ValuesDef",
            "nested_contexts": "repeated ControlFlowContextDef",
        },
        "WhileContextDef": {
            "context_name": "string",
            "parallel_iterations": "int32",
            "back_prop": "bool",
            "swap_memory": "bool",
            "pivot_name": "string",
            "pivot_for_pred_name": "string",
            "pivot_for_body_name": "string",
            "loop_exit_names": "repeated string",
            "values_def": "ValuesDef",
            "loop_enter_names": "repeated string",
            "maximum_iterations_name": "string",
            "nested_contexts": "repeated ControlFlowContextDef",
        },
    },
)
CondContextDef = _MESSAGES["CondContextDef"]
WhileContextDef = _MESSAGES["WhileContextDef"]
