"""Strips a graph of what its outputs do not need: `python -m tensorflow.python.tools.strip_unused`."""

from __future__ import annotations

from tensorboard.compat.proto.types_pb2 import DT_FLOAT

from tideflow.programs.inner.tools.commands import add_switches, parser_of
from tideflow.programs.inner.tools.graph_tools import strip_unused_from_files


def main() -> None:
    """Strips the graph that the command line names."""
    parser = parser_of(input_graph="", output_graph="", input_node_names="", output_node_names="")
    add_switches(parser, input_binary=False, output_binary=True)
    parser.add_argument("--placeholder_type_enum", type=int, default=DT_FLOAT)
    strip_unused_from_files(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
