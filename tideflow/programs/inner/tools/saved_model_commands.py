"""`tensorflow.python.tools.saved_model_cli`: SavedModels shown and run from the command line."""

from __future__ import annotations

import argparse
import os
import re
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from tensorboard.compat.proto import types_pb2

import tideflow as tf
from tideflow.io.saved_models import read_saved_model
from tideflow.programs.debugger import LocalCLIDebugWrapperSession
from tideflow.programs.inner.tools import graph_tools as tools

_FILE_OPS = {"WriteFile", "ReadFile", "PrintV2"}  # that a model from elsewhere should not have
_TYPE_NAMES = {number: name for name, number in types_pb2.DataType.items()}


# ------------------------------------------------------------------------------------------------- showing


def get_meta_graph_def(saved_model_dir: str, tag_set: str) -> Any:
    """The graph with these tags, which commas separate."""
    return tools.get_meta_graph_def(saved_model_dir, tag_set)


def get_signature_def_map(saved_model_dir: str, tag_set: str) -> Any:
    """The signatures of the graph with these tags."""
    return get_meta_graph_def(saved_model_dir, tag_set).signature_def


def _show_tag_sets(saved_model_dir: str) -> None:
    print("The given SavedModel contains the following tag-sets:")
    for tags in sorted(tools.get_saved_model_tag_sets(saved_model_dir)):
        print(", ".join(sorted(tags)))


def _show_signature_def_map_keys(saved_model_dir: str, tag_set: str) -> None:
    print("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:")
    for key in sorted(get_signature_def_map(saved_model_dir, tag_set)):
        print(f'SignatureDef key: "{key}"')


def _show_inputs_outputs(saved_model_dir: str, tag_set: str, signature_def_key: str, indent: int = 0) -> None:
    signature = get_signature_def_map(saved_model_dir, tag_set)[signature_def_key]
    space = "  " * indent
    for kind, infos in (("input", signature.inputs), ("output", signature.outputs)):
        print(f"{space}The given SavedModel SignatureDef contains the following {kind}(s):")
        for key, info in sorted(infos.items()):
            print(f"{space}  {kind}s['{key}'] tensor_info:")
            _print_tensor_info(info, indent + 1)
    print(f"{space}Method name is: {signature.method_name}")


def _print_tensor_info(tensor_info: Any, indent: int = 0) -> None:
    space = "  " * indent
    sizes = ", ".join(str(dim.size) for dim in tensor_info.tensor_shape.dim)
    shape = "unknown_rank" if tensor_info.tensor_shape.unknown_rank else f"({sizes})"
    print(f"{space}    dtype: {_TYPE_NAMES[tensor_info.dtype]}")
    print(f"{space}    shape: {shape}")
    print(f"{space}    name: {tensor_info.name}")


def _show_all(saved_model_dir: str) -> None:
    for tags in sorted(tools.get_saved_model_tag_sets(saved_model_dir)):
        shown = ", ".join(tags)
        print(f"\nMetaGraphDef with tag-set: '{shown}' contains the following SignatureDefs:")
        tag_set = ",".join(tags)
        for key in sorted(get_signature_def_map(saved_model_dir, tag_set)):
            print(f"\nsignature_def['{key}']:")
            _show_inputs_outputs(saved_model_dir, tag_set, key, indent=1)
    _show_defined_functions(saved_model_dir)


def _show_defined_functions(saved_model_dir: str) -> None:
    """The functions of a model that was saved as objects."""
    graphs = read_saved_model(saved_model_dir).meta_graphs
    if not any(graph.HasField("object_graph_def") for graph in graphs):
        return
    with tf.Graph().as_default():
        model = tf.saved_model.load_v2(saved_model_dir)
        functions = model._functions_to_save()
    print("\nDefined Functions:", end="")
    for name, function in sorted(functions.items()):
        print(f"\n  Function Name: '{name}'")
        concrete = sorted(function._list_all_concrete_functions_for_serialization(), key=lambda f: f.name)
        for index, each in enumerate(concrete, 1):
            positional, named = each.structured_input_signature
            print(f"    Option #{index}")
            print("      Callable with:")
            _print_args(positional, indent=4)
            if named:
                _print_args(named, "Named Argument", indent=4)


def _print_args(arguments: Any, argument_type: str = "Argument", indent: int = 0) -> None:
    space = "  " * indent
    for index, element in enumerate(arguments, 1):
        if indent == 4:
            print(f"{space}{argument_type} #{index}")
        if isinstance(element, tf.TensorSpec):
            print(f"{space}  {element.name}: {element!r}")
            continue
        print(f"{space}  DType: {type(element).__name__}")
        if isinstance(element, dict):
            items = ", ".join(f"'{key}': {_quoted(value)}" for key, value in element.items())
            print(f"{space}  Value: {{{items}, \b\b}}")
        elif isinstance(element, Iterable):
            print(f"{space}  Value: [{', '.join(map(_quoted, element))}, \b\b]")
        else:
            print(f"{space}  Value: {element}")


def _quoted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


def scan_meta_graph_def(meta_graph_def: Any) -> None:
    """Says which operations of a graph read or write files, or print."""
    used = {node.op for node in meta_graph_def.graph_def.node}
    for function in meta_graph_def.graph_def.library.function:
        used.update(node.op for node in function.node_def)
    tags, found = meta_graph_def.meta_info_def.tags, _FILE_OPS & used
    if found:
        print(f"MetaGraph with tag set {tags} contains the following blacklisted ops:", found)
    else:
        print(f"MetaGraph with tag set {tags} does not contain blacklisted ops.")


# ------------------------------------------------------------------------------------------------- running


def run_saved_model_with_feed_dict(
    saved_model_dir: str,
    tag_set: str,
    signature_def_key: str,
    input_tensor_key_feed_dict: dict[str, Any],
    outdir: str | None,
    overwrite_flag: bool,
    worker: str | None = None,
    init_tpu: bool = False,
    tf_debug: bool = False,
) -> None:
    """Runs a signature of a model, prints its outputs and writes them to files.

    Args:
      saved_model_dir: The folder of the model.
      tag_set: The tags of its graph, separated by commas.
      signature_def_key: The name of the signature.
      input_tensor_key_feed_dict: The inputs by name.
      outdir: The folder of the outputs' files; none are written if None.
      overwrite_flag: Whether files that are there are replaced.
      worker: The address of a server to run on.
      init_tpu: Whether the TPUs of the server are initialized first.
      tf_debug: Whether the debugger watches the step.

    Raises:
      ValueError: If there is no such input.
      RuntimeError: If a file is there already.
    """
    signature = get_meta_graph_def(saved_model_dir, tag_set).signature_def[signature_def_key]
    for key in input_tensor_key_feed_dict:
        if key not in signature.inputs:
            known = '", "'.join(signature.inputs)
            raise ValueError(
                f'"{key}" is not a valid input key. Please choose from "{known}", or use --show option.'
            )
    feeds = {signature.inputs[key].name: value for key, value in input_tensor_key_feed_dict.items()}
    keys = sorted(signature.outputs)
    with tf.Session(worker, graph=tf.Graph()) as session:
        if init_tpu:
            print("Initializing TPU System ...")
            session.run(tf.contrib.tpu.initialize_system())
        tf.saved_model.loader.load(session, tag_set.split(","), saved_model_dir)
        running = session
        if tf_debug:
            running = LocalCLIDebugWrapperSession(session)
        outputs = running.run([signature.outputs[key].name for key in keys], feed_dict=feeds)
    for key, output in zip(keys, outputs, strict=True):
        print(f"Result for output key {key}:\n{output}")
        if outdir:
            _write(key, output, outdir, overwrite_flag)


def _write(key: str, output: Any, outdir: str, overwrite: bool) -> None:
    os.makedirs(outdir, exist_ok=True)
    path = os.path.join(outdir, f"{key}.npy")
    if not overwrite and os.path.exists(path):
        raise RuntimeError(
            f'Output file {path} already exists. Add "--overwrite" to overwrite the existing output files.'
        )
    np.save(path, output)
    print(f"Output {key} is saved to {path}")


# --------------------------------------------------------------------------------------- inputs, as written


def preprocess_inputs_arg_string(inputs_str: str) -> dict[str, tuple[str, str | None]]:
    """The files of inputs, and the names of arrays in them: `x=file.npz[a];y=other.npy`."""
    found: dict[str, tuple[str, str | None]] = {}
    for one in filter(None, inputs_str.split(";")):
        match = re.match(r"([^=]+)=([^\[\]]+)(?:\[([^\[\]]+)\])?$", one)
        if match is None:
            raise RuntimeError(
                f'--inputs "{one}" format is incorrect. Please follow"<input_key>=<filename>", or'
                '"<input_key>=<filename>[<variable_name>]"'
            )
        found[match[1]] = (match[2], match[3])
    return found


def preprocess_input_exprs_arg_string(input_exprs_str: str) -> dict[str, Any]:
    """The values of inputs that are expressions of Python, with NumPy as `np`: `x=np.ones(2)`."""
    found = {}
    for one in filter(None, input_exprs_str.split(";")):
        if "=" not in input_exprs_str:
            raise RuntimeError(
                f'--input_exprs "{input_exprs_str}" format is incorrect. Please follow'
                '"<input_key>=<python expression>"'
            )
        key, expression = one.split("=", 1)
        found[key] = eval(expression, {"np": np})  # of the user's own command line
    return found


def preprocess_input_examples_arg_string(input_examples_str: str) -> dict[str, list[bytes]]:
    """The Examples of inputs that are lists of dictionaries."""
    found = preprocess_input_exprs_arg_string(input_examples_str)
    for key, examples in found.items():
        if not isinstance(examples, list):
            raise ValueError(
                f'tf.Example input must be a list of dictionaries, but "{examples}" is {type(examples)}'
            )
        found[key] = [_create_example_string(example) for example in examples]
    return found


def _create_example_string(example_dict: dict[str, Any]) -> bytes:
    example = tf.train.Example()
    for name, values in example_dict.items():
        if not isinstance(values, list):
            raise ValueError(f'feature value must be a list, but {name}: "{values}" is {type(values)}')
        feature = example.features.feature[name]
        if isinstance(values[0], float):
            feature.float_list.value.extend(values)
        elif isinstance(values[0], (str, bytes)):
            feature.bytes_list.value.extend(tf.compat.as_bytes(value) for value in values)
        elif isinstance(values[0], int):
            feature.int64_list.value.extend(values)
        else:
            raise ValueError(
                f"Type {type(values[0])} for value {values[0]} is not supported for tf.train.Feature."
            )
    return example.SerializeToString()


def load_inputs_from_input_arg_string(
    inputs_str: str, input_exprs_str: str, input_examples_str: str
) -> dict[str, Any]:
    """The values of all inputs, by name; expressions come before files, and Examples before both."""
    inputs = preprocess_inputs_arg_string(inputs_str)
    expressions = preprocess_input_exprs_arg_string(input_exprs_str)
    examples = preprocess_input_examples_arg_string(input_examples_str)
    found = {key: _from_file(path, name) for key, (path, name) in inputs.items()}
    for key in expressions:
        if key in found:
            warnings.warn(
                f"input_key {key} has been specified with both --inputs and --input_exprs options. Value in "
                "--input_exprs will be used.",
                stacklevel=2,
            )
    found.update(expressions)
    for key in examples:
        if key in found:
            warnings.warn(
                f"input_key {key} has been specified in multiple options. Value in --input_examples will be "
                "used.",
                stacklevel=2,
            )
    found.update(examples)
    return found


def _from_file(path: str, name: str | None) -> Any:
    """An array of a file of NumPy's, or what a pickle has."""
    data = np.load(path, allow_pickle=True)  # the user names the file
    if isinstance(data, np.ndarray):
        if name:
            warnings.warn(
                f'Input file {path} contains a single ndarray. Name key "{name}" ignored.', stacklevel=3
            )
        return data
    if name:
        if name not in data:
            raise RuntimeError(f'Input file {path} does not contain variable with name "{name}".')
        return data[name]
    if isinstance(data, np.lib.npyio.NpzFile):
        if len(data.files) != 1:
            raise RuntimeError(
                f"Input file {path} contains more than one ndarrays. Please specify the name of ndarray to "
                "use."
            )
        return data[data.files[0]]
    return data


# ---------------------------------------------------------------------------------------------- commands


def show(args: Any) -> None:
    """The command `show`."""
    if args.all:
        _show_all(args.dir)
    elif args.tag_set is None:
        _show_tag_sets(args.dir)
    elif args.signature_def is None:
        _show_signature_def_map_keys(args.dir, args.tag_set)
    else:
        _show_inputs_outputs(args.dir, args.tag_set, args.signature_def)


def run(args: Any) -> None:
    """The command `run`."""
    if not args.inputs and not args.input_exprs and not args.input_examples:
        raise AttributeError("At least one of --inputs, --input_exprs or --input_examples must be required")
    values = load_inputs_from_input_arg_string(args.inputs, args.input_exprs, args.input_examples)
    run_saved_model_with_feed_dict(
        args.dir,
        args.tag_set,
        args.signature_def,
        values,
        args.outdir,
        args.overwrite,
        worker=args.worker,
        init_tpu=args.init_tpu,
        tf_debug=args.tf_debug,
    )


def scan(args: Any) -> None:
    """The command `scan`."""
    whole = read_saved_model(args.dir).meta_graphs
    for graph in [get_meta_graph_def(args.dir, args.tag_set)] if args.tag_set else whole:
        scan_meta_graph_def(graph)


def create_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(description="saved_model_cli: Command-line interface for SavedModel")
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    commands = parser.add_subparsers(title="commands", description="valid commands", help="additional help")

    showing = commands.add_parser("show", description="Shows tags, signatures, inputs and outputs.")
    showing.add_argument("--dir", required=True, help="the folder of the model")
    showing.add_argument("--all", action="store_true", help="show all that there is")
    showing.add_argument("--tag_set", help="the tags of a graph, separated by ','")
    showing.add_argument("--signature_def", metavar="SIGNATURE_DEF_KEY", help="the name of a signature")
    showing.set_defaults(func=show)

    running = commands.add_parser(
        "run", description="Runs a signature with inputs from files or expressions."
    )
    running.add_argument("--dir", required=True, help="the folder of the model")
    running.add_argument("--tag_set", required=True, help="the tags of the graph, separated by ','")
    running.add_argument(
        "--signature_def", required=True, metavar="SIGNATURE_DEF_KEY", help="the name of the signature"
    )
    running.add_argument(
        "--inputs", default="", help="<input_key>=<filename>[<variable_name>], ';' between them"
    )
    running.add_argument(
        "--input_exprs", default="", help="<input_key>=<python expression>, ';' between them"
    )
    running.add_argument(
        "--input_examples", default="", help="<input_key>=[{feature: values}], ';' between them"
    )
    running.add_argument("--outdir", help="a folder for the outputs, as files of NumPy's")
    running.add_argument("--overwrite", action="store_true", help="replace files that are there")
    running.add_argument("--tf_debug", action="store_true", help="let the debugger watch the step")
    running.add_argument("--worker", help="the address of a server to run on")
    running.add_argument("--init_tpu", action="store_true", default=None, help="initialize the server's TPUs")
    running.set_defaults(func=run)

    scanning = commands.add_parser("scan", description="Says whether a model reads or writes files.")
    scanning.add_argument("--dir", required=True, help="the folder of the model")
    scanning.add_argument("--tag_set", help="the tags of a graph, separated by ','")
    scanning.set_defaults(func=scan)
    return parser


def main() -> None:
    """Runs the command line of this process."""
    parser = create_parser()
    args = parser.parse_args()
    if not hasattr(args, "func"):
        parser.error("too few arguments")
    args.func(args)
