"""Makes a trained graph quicker: `python -m tensorflow.python.tools.optimize_for_inference`."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.types_pb2 import DT_FLOAT

from tideflow.io.local_files import write_bytes
from tideflow.programs.inner.tools.commands import add_switches, parser_of
from tideflow.programs.inner.tools.graph_tools import parsed_file
from tideflow.programs.inner.tools.inference_graphs import optimize_for_inference


def _placeholder_types(numbers: str) -> int | list[int]:
    types = [int(number) for number in numbers.split(",")]
    return types if len(types) > 1 else types[0]


def parse_args() -> Any:
    """The flags of the command line."""
    parser = parser_of(
        input="", output="", input_names="", output_names="", placeholder_type_enum=str(DT_FLOAT)
    )
    add_switches(parser, frozen_graph=True)
    parser.add_argument("--toco_compatible", type=bool, default=False)
    return parser.parse_args()


def main() -> None:
    """Optimizes the graph that the command line names."""
    flags = parse_args()
    if not os.path.exists(flags.input):
        print(f"Input graph file '{flags.input}' does not exist!")
        return
    optimized = optimize_for_inference(
        parsed_file(flags.input, GraphDef(), flags.frozen_graph),
        flags.input_names.split(","),
        flags.output_names.split(","),
        _placeholder_types(flags.placeholder_type_enum),
        flags.toco_compatible,
    )
    text = text_format.MessageToString(optimized).encode()
    write_bytes(flags.output, optimized.SerializeToString() if flags.frozen_graph else text)


if __name__ == "__main__":
    main()
