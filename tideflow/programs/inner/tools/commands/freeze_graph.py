"""Freezes a graph: `python -m tensorflow.python.tools.freeze_graph`."""

from __future__ import annotations

import sys
from typing import Any

from tideflow.platform.app import run
from tideflow.programs.inner.tools.commands import add_switches, parser_of
from tideflow.programs.inner.tools.graph_tools import freeze_graph

# What the checkpoint's files say themselves.
_UNUSED = {"restore_op_name": "save/restore_all", "filename_tensor_name": "save/Const:0"}


def main(unused_args: Any, flags: Any) -> None:
    """Freezes the graph that flags name."""
    if flags.checkpoint_version not in (1, 2):
        raise ValueError(f"Invalid checkpoint version (must be '1' or '2'): {flags.checkpoint_version}")
    freeze_graph(**vars(flags))


def run_main() -> None:
    """Freezes the graph that the command line names."""
    parser = parser_of(
        input_graph="",
        input_saver="",
        input_checkpoint="",
        output_graph="",
        output_node_names="",
        initializer_nodes="",
        variable_names_whitelist="",
        variable_names_blacklist="",
        input_meta_graph="",
        input_saved_model_dir="",
        saved_model_tags="serve",
        **_UNUSED,
    )
    parser.add_argument("--checkpoint_version", type=int, default=2)
    add_switches(parser, input_binary=False, clear_devices=True)
    flags, rest = parser.parse_known_args()
    run(lambda unused_args: main(unused_args, flags), [sys.argv[0], *rest])


if __name__ == "__main__":
    run_main()
