"""The parsers of the commands that show a step: what may be typed behind each, and what `help` says of it."""

from __future__ import annotations

import argparse

from tideflow.programs.debugger.cli.arguments import command_parser, get_print_tensor_argparser

SORT_TENSORS_BY_TIMESTAMP = "timestamp"
SORT_TENSORS_BY_DUMP_SIZE = "dump_size"
SORT_TENSORS_BY_OP_TYPE = "op_type"
SORT_TENSORS_BY_TENSOR_NAME = "tensor_name"
SORT_KEYS = (
    SORT_TENSORS_BY_TIMESTAMP,
    SORT_TENSORS_BY_DUMP_SIZE,
    SORT_TENSORS_BY_OP_TYPE,
    SORT_TENSORS_BY_TENSOR_NAME,
)


def _list_tensors() -> argparse.ArgumentParser:
    parser = command_parser("List dumped intermediate tensors.")
    parser.add_argument(
        "-f", "--tensor_filter", default="", help="List only Tensors passing the filter of the specified name"
    )
    parser.add_argument(
        "-fenn",
        "--filter_exclude_node_names",
        default="",
        help="When applying the tensor filter, exclude node with names matching the regular expression. "
        "Applicable only if --tensor_filter or -f is used.",
    )
    parser.add_argument("-n", "--node_name_filter", default="", help="filter node name by regex.")
    parser.add_argument("-t", "--op_type_filter", default="", help="filter op type by regex.")
    parser.add_argument(
        "-s",
        "--sort_by",
        default=SORT_TENSORS_BY_TIMESTAMP,
        help=f"the field to sort the data by: ({' | '.join(SORT_KEYS)})",
    )
    parser.add_argument(
        "-r", "--reverse", action="store_true", help="sort the data in reverse (descending) order"
    )
    return parser


def _node_info() -> argparse.ArgumentParser:
    parser = command_parser("Show information about a node.")
    parser.add_argument(
        "node_name",
        help="Name of the node or an associated tensor, e.g., hidden1/Wx_plus_b/MatMul, "
        "hidden1/Wx_plus_b/MatMul:0",
    )
    parser.add_argument("-a", "--attributes", action="store_true", help="Also list attributes of the node.")
    parser.add_argument("-d", "--dumps", action="store_true", help="Also list dumps available from the node.")
    parser.add_argument(
        "-t",
        "--traceback",
        action="store_true",
        help="Also include the traceback of the node's creation (if available in Python).",
    )
    return parser


def _list_neighbors(description: str, tree: str, of: str, depth: int) -> argparse.ArgumentParser:
    parser = command_parser(description)
    parser.add_argument(
        "node_name",
        help="Name of the node or an output tensor from the node, e.g., hidden1/Wx_plus_b/MatMul, "
        "hidden1/Wx_plus_b/MatMul:0",
    )
    parser.add_argument("-c", "--control", action="store_true", help="Include control inputs.")
    parser.add_argument(
        "-d",
        "--depth",
        type=int,
        default=depth,
        help=f"Maximum depth of recursion used when showing the {tree} tree.",
    )
    parser.add_argument(
        "-r",
        "--recursive",
        action="store_true",
        help=f"Show {of} the node recursively, i.e., the {tree} tree.",
    )
    noun = {"input": "input", "output": "recipient"}[tree]
    parser.add_argument("-t", "--op_type", action="store_true", help=f"Show op types of {noun} nodes.")
    return parser


def _print_source() -> argparse.ArgumentParser:
    parser = command_parser(
        "Print a Python source file with overlaid debug information, including the nodes (ops) or Tensors "
        "created at the source lines."
    )
    parser.add_argument("source_file_path", help="Path to the source file.")
    parser.add_argument(
        "-t", "--tensors", action="store_true", help="Label lines with dumped Tensors, instead of ops."
    )
    parser.add_argument(
        "-m",
        "--max_elements_per_line",
        type=int,
        default=10,
        help="Maximum number of elements (ops or Tensors) to show per source line.",
    )
    parser.add_argument(
        "-b",
        "--line_begin",
        type=int,
        default=1,
        help="Print source beginning at line number (1-based.)",
    )
    return parser


def _list_source() -> argparse.ArgumentParser:
    parser = command_parser(
        "List source files responsible for constructing nodes and tensors present in the run()."
    )
    parser.add_argument("-p", "--path_filter", default="", help="Regular expression filter for file path.")
    parser.add_argument(
        "-n", "--node_name_filter", default="", help="Regular expression filter for node name."
    )
    return parser


def _eval() -> argparse.ArgumentParser:
    parser = command_parser(
        "Evaluate an arbitrary expression. Can use tensor values from the current debug dump. The debug "
        "tensor names should be enclosed in pairs of backticks. Expressions with spaces should be enclosed "
        "in a pair of double quotes or a pair of single quotes. By default, numpy is imported as np and can "
        "be used in the expressions. E.g., eval 'np.sum(`Softmax:0`, axis=1)'"
    )
    parser.add_argument(
        "expression",
        help="Expression to be evaluated, with <node_name>:<output_slot> between backticks. A debug op may "
        "follow (:DebugNumericSummary), a device may stand before it (/job:worker/replica:0/task:0/gpu:0:), "
        "and [1] at the end picks the second value of a tensor that a run() call computes several times.",
    )
    parser.add_argument(
        "-a",
        "--all",
        dest="print_all",
        action="store_true",
        help="Print the tensor in its entirety, i.e., do not use ellipses (may be slow for large results).",
    )
    parser.add_argument(
        "-w",
        "--write_path",
        default="",
        help="Path of the numpy file to write the evaluation result to, using numpy.save()",
    )
    return parser


def parsers(depth: int) -> dict[str, argparse.ArgumentParser]:
    """The parsers, by command.

    Args:
      depth: How deep trees of inputs and recipients are shown where nothing is said.

    Returns:
      The parsers.
    """
    return {
        "list_tensors": _list_tensors(),
        "node_info": _node_info(),
        "list_inputs": _list_neighbors("Show inputs to a node.", "input", "inputs to", depth),
        "list_outputs": _list_neighbors(
            "Show the nodes that receive the outputs of given node.", "output", "recipients of", depth
        ),
        "print_tensor": get_print_tensor_argparser("Print the value of a dumped tensor."),
        "print_source": _print_source(),
        "list_source": _list_source(),
        "eval": _eval(),
    }
