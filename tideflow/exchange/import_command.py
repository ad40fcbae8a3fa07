"""`tideflow import`: a graph of an ONNX file, as a SavedModel."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tideflow.exchange.onnx_import import import_onnx
from tideflow.graph.graph import Graph
from tideflow.saved_model.builder import simple_save
from tideflow.session.session import Session


def main(arguments: Sequence[str]) -> int:
    """Runs the command; its exit status."""
    parser = argparse.ArgumentParser(
        "tideflow import", description="Makes a SavedModel of an ONNX file, with its inputs and outputs."
    )
    parser.add_argument("model", metavar="MODEL", help="an .onnx file")
    parser.add_argument("--out", metavar="DIR", help="the directory (beside the file, under its name)")
    options = parser.parse_args(arguments)
    out = options.out or options.model.removesuffix(".onnx")
    if out == options.model:
        raise ValueError("--out says where the SavedModel goes")
    try:
        with Graph().as_default() as graph, Session(graph=graph) as session:
            model = import_onnx(options.model)
            simple_save(session, out, model.inputs, model.outputs)
    except OSError as error:
        raise ValueError(str(error)) from None
    print(f"{out}: from {list(model.inputs)} to {list(model.outputs)}")
    return 0
