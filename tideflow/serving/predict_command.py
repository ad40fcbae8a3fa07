"""`tideflow predict`: asks a server for a prediction, from a file and to the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tideflow.graph import errors
from tideflow.io.local_files import as_tensorflow_errors, read_bytes
from tideflow.serving import tensors_npy
from tideflow.serving.calls import DEFAULT_SIGNATURE, Arrays, Signature
from tideflow.serving.client import Client, Model
from tideflow.serving.tensors_json import parse_inputs, parse_object, predictions_json, signature_name

_LARGEST_INPUT = 1 << 30


def main(arguments: Sequence[str]) -> int:
    """Runs the command; its exit status."""
    parser = argparse.ArgumentParser(
        "tideflow predict", description="Asks a server of TensorFlow Serving's interface for a prediction."
    )
    parser.add_argument(
        "url", metavar="URL", help="http://HOST:PORT or grpc://HOST:PORT (https, grpcs: by TLS)"
    )
    parser.add_argument("model", metavar="MODEL", help="the model's name")
    parser.add_argument(
        "--input",
        required=True,
        metavar="FILE",
        help="a request in JSON (instances or inputs), an .npy or an .npz file; - for JSON that is typed in",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--version", type=int, help="a version (the latest, if none is named)")
    which.add_argument("--label", help="the label of a version")
    parser.add_argument(
        "--signature", default="", help=f"a signature ({DEFAULT_SIGNATURE}, if none is named)"
    )
    parser.add_argument(
        "--timeout", type=float, default=30.0, metavar="SECONDS", help="how long to wait (30)"
    )
    parser.add_argument("--token_file", metavar="FILE", help="a file with the token that the server asks for")
    parser.add_argument(
        "--certificate", metavar="FILE", help="the PEM file that the server's certificate is in"
    )
    parser.add_argument(
        "--output", metavar="FILE", help="an .npz file for the answer, instead of JSON printed"
    )
    _predict(parser.parse_args(arguments))
    return 0


def _predict(options: argparse.Namespace) -> None:
    token = read_bytes(options.token_file).decode().split()[0] if options.token_file else None
    data = sys.stdin.buffer.read() if options.input == "-" else read_bytes(options.input)
    model = Model(options.model, options.version, options.label)
    with Client(options.url, token, options.timeout, options.certificate) as client:
        kind = {".npy": tensors_npy.NPY, ".npz": tensors_npy.NPZ}.get(options.input[-4:])
        document = parse_object(data) if kind is None else {}
        name = options.signature or signature_name(document) or DEFAULT_SIGNATURE
        specs = _signature(client.signatures(model), name)
        is_rows, inputs = False, Arrays()
        if kind is None:
            inputs, is_rows = parse_inputs(document, specs.inputs, data)
        else:
            inputs = tensors_npy.read_body(kind, data, specs.inputs, _LARGEST_INPUT)
        outputs = client.predict(model, inputs, name)
    if options.output:
        with as_tensorflow_errors(options.output), open(options.output, "wb") as file:
            file.write(tensors_npy.write_body(tensors_npy.NPZ, outputs))
    else:
        print(predictions_json(outputs, is_rows).decode())


def _signature(known: dict[str, Signature], name: str) -> Signature:
    if name not in known:
        raise errors.invalid_argument(
            f"The model has no signature {name!r}; it has {', '.join(map(repr, sorted(known)))}"
        )
    return known[name]
