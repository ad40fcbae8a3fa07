"""The program: graphs of operations and tensors, their names, scopes and collections, GraphDef in and out."""

from tideflow.graph import composite, graph_import, graph_util, nest, protos, scopes  # noqa: F401
