"""The messages that programs construct themselves: configurations, run options, events."""

from tensorboard.compat.proto import config_pb2, event_pb2, meta_graph_pb2, summary_pb2

from tideflow.export import expose

_MESSAGES = {
    config_pb2: (
        "ConfigProto",
        "GPUOptions",
        "GraphOptions",
        "OptimizerOptions",
        "RunMetadata",
        "RunOptions",
    ),
    event_pb2: ("Event", "LogMessage", "SessionLog"),
    meta_graph_pb2: ("MetaGraphDef", "SignatureDef", "TensorInfo"),
    summary_pb2: ("HistogramProto", "Summary", "SummaryMetadata"),
}

for _module, _names in _MESSAGES.items():
    for _name in _names:
        if hasattr(_module, _name):
            expose(getattr(_module, _name), _name)

expose(event_pb2.Event, "summary.Event")
expose(event_pb2.SessionLog, "summary.SessionLog")
expose(event_pb2.TaggedRunMetadata, "summary.TaggedRunMetadata")
expose(summary_pb2.Summary, "summary.Summary")
expose(summary_pb2.SummaryDescription, "summary.SummaryDescription")
