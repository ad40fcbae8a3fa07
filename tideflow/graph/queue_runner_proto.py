"""QueueRunnerDef: a queue runner in a MetaGraphDef's collections."""

from tideflow.graph.own_protos import make_messages

QueueRunnerDef = make_messages(
    "queue_runner",
    {
        "QueueRunnerDef": {
            "queue_name": "string",
            "enqueue_op_name": "repeated string",
            "close_op_name": "string",
            "cancel_op_name": "string",
            "queue_closed_exception_types": "repeated int32",
        }
    },
)["QueueRunnerDef"]
