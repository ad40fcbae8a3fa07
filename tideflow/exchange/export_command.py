"""`tideflow export`: a SavedModel, or a checkpoint with its graph, as a file of another system."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

import numpy as np
import torch

from tideflow.exchange import models
from tideflow.exchange.exporting import TARGETS, export_model
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING

_SUFFIXES = {"torch": ".pt2", "aot": ".pt2", "onnx": ".onnx", "executorch": ".pte", "executorch-int8": ".pte"}


def main(arguments: Sequence[str]) -> int:
    """Runs the command; its exit status."""
    parser = argparse.ArgumentParser(
        "tideflow export",
        description="Writes a model as a file that runs elsewhere: an ONNX file, an AOTInductor package for "
        "C++, an ExecuTorch program for phones, a torch.export program.",
    )
    parser.add_argument(
        "model", metavar="MODEL", help="the directory of a SavedModel, or the prefix of a checkpoint"
    )
    parser.add_argument("--to", required=True, choices=TARGETS, help="the target")
    parser.add_argument("--out", metavar="FILE", help="the file (beside the model, under its name)")
    parser.add_argument(
        "--signature",
        default=DEFAULT_SERVING_SIGNATURE_DEF_KEY,
        help="a signature of the SavedModel (%(default)s)",
    )
    parser.add_argument("--tags", default=SERVING, help="the tags of its graph, between commas (%(default)s)")
    parser.add_argument(
        "--inputs", metavar="NAMES", help="of a checkpoint: the input tensors, between commas"
    )
    parser.add_argument(
        "--outputs",
        metavar="NAMES",
        help="of a checkpoint: the output tensors; of a SavedModel: the outputs that are wanted (all)",
    )
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="INPUT=SIZES",
        help="the sizes of an input, ? for any: --shape x=?,784",
    )
    parser.add_argument(
        "--samples", metavar="FILE", help="an .npz file of inputs that the model will see, which int8 needs"
    )
    options = parser.parse_args(arguments)
    out = options.out or options.model.rstrip("/") + _SUFFIXES[options.to]
    model = _model(options)
    shapes = dict(_shape(text) for text in options.shape)
    export_model(model, out, options.to, shapes, _samples(options.samples))
    print(f"{out}: {os.path.getsize(out):,} bytes, from {list(model.inputs)} to {list(model.outputs)}")
    if options.to.startswith("executorch"):
        print(
            f"{1000 * _seconds_on_a_phone(out, model, shapes):.3f} ms a run of ExecuTorch here, for one row"
        )
    return 0


def _seconds_on_a_phone(path: str, model: models.Frozen, shapes: dict[str, list[int | None]]) -> float:
    from tideflow.exchange.phones import seconds_a_run  # loaded when asked for

    sizes = [shapes.get(name) or tensor.shape.as_list() for name, tensor in model.inputs.items()]
    rows = [
        torch.zeros([size or 1 for size in each], dtype=tensor.dtype.torch)
        for each, tensor in zip(sizes, model.inputs.values(), strict=True)
    ]
    return seconds_a_run(path, rows)


def _model(options: argparse.Namespace) -> models.Frozen:
    if os.path.isdir(options.model):
        wanted = options.outputs.split(",") if options.outputs else None
        return models.of_saved_model(options.model, options.signature, options.tags.split(","), wanted)
    if not os.path.exists(f"{options.model}.meta"):
        raise ValueError(f"{options.model} is neither a SavedModel nor a checkpoint with its graph (.meta)")
    if not options.inputs or not options.outputs:
        raise ValueError("a checkpoint does not say what goes in and out: give --inputs and --outputs")
    return models.of_checkpoint(options.model, options.inputs.split(","), options.outputs.split(","))


def _shape(text: str) -> tuple[str, list[int | None]]:
    name, _, sizes = text.partition("=")
    try:
        return name, [None if size == "?" else int(size) for size in sizes.split(",") if size]
    except ValueError:
        raise ValueError(f"--shape takes INPUT=SIZES, as x=?,784; found '{text}'") from None


def _samples(path: str | None) -> list[dict[str, np.ndarray]]:
    if path is None:
        return []
    with np.load(path) as arrays:
        return [dict(arrays)]
