"""Prints what is in a checkpoint: `python -m tensorflow.python.tools.inspect_checkpoint`."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from tideflow.programs.inner.tools.commands import add_switches, parser_of
from tideflow.programs.inner.tools.graph_tools import print_tensors_in_checkpoint_file


def parse_numpy_printoption(kv_str: str) -> None:
    """Sets one of NumPy's options of printing from a text `option=value`."""
    option, equals, value = kv_str.partition("=")
    options = np.get_printoptions()
    if not equals or not option:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    if option not in options:
        raise argparse.ArgumentTypeError(f"'{option}' is not a valid printoption.")
    if options[option] is None:
        raise argparse.ArgumentTypeError(f"Setting '{option}' from the command line is not supported.")
    kind = type(options[option])
    try:
        parsed = kind(value) if kind is not bool else {"true": True, "false": False}[value.lower()]
    except (KeyError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"'{value}' is no value of '{option}': {error}") from None
    np.set_printoptions(**{option: parsed})


def main() -> None:
    """Prints the checkpoint that the command line names."""
    parser = parser_of(file_name="", tensor_name="", count_exclude_pattern="")
    add_switches(parser, all_tensors=False, all_tensor_names=False)
    parser.add_argument("--printoptions", nargs="*", type=parse_numpy_printoption)
    flags = parser.parse_args()
    if not flags.file_name:
        print(
            "Usage: inspect_checkpoint --file_name=checkpoint_file_name [--tensor_name=tensor_to_print] "
            "[--all_tensors] [--all_tensor_names] [--printoptions]"
        )
        sys.exit(1)
    print_tensors_in_checkpoint_file(
        flags.file_name,
        flags.tensor_name,
        flags.all_tensors,
        flags.all_tensor_names,
        flags.count_exclude_pattern,
    )


if __name__ == "__main__":
    main()
