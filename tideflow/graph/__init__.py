"""The program: graphs of operations and tensors, their names, scopes and collections, GraphDef in and out."""

from tideflow.graph import (  # noqa: F401
    composite,
    example_proto,
    graph_import,
    graph_util,
    nest,
    protos,
    scopes,
    type_spec,
)
