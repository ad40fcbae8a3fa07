"""Runs the programs of one file in one engine and writes what each returned.

    python engine.py tensorflow|compat.v1|tideflow PROGRAMS.py RESULTS [NAME ...]

RESULTS is a stream of pickles of plain Python values, readable under any Python and NumPy: ("start", name),
then ("result", name, value) for each program, so that one that ends the process is known by its name.
"""

import faulthandler
import importlib.util
import os
import pickle
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import kit

SECONDS_A_PROGRAM = 120


def load_engine(name):
    """The module that programs call tf."""
    if name == "tensorflow":
        import tensorflow as tf

        tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
        return tf
    if name == "compat.v1":
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
        return tf
    import tideflow as tf

    return tf


def load_programs(path):
    """The programs of a file, by name."""
    return kit.programs(load_module(path))


def load_module(path):
    """A file of programs. One that says `EAGER = True` runs in eager mode."""
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(engine, path, results, *wanted):
    """Runs the wanted programs (all, if none is named), each in a fresh default graph."""
    import numpy as np

    tf, module = load_engine(engine), load_module(path)
    if getattr(module, "EAGER", False):
        tf.enable_eager_execution()
    with open(results, "wb", buffering=0) as stream:
        for name, program in kit.programs(module).items():
            if wanted and name not in wanted:
                continue
            pickle.dump(("start", name), stream, protocol=4)
            faulthandler.dump_traceback_later(SECONDS_A_PROGRAM, exit=True)
            value = outcome(tf, np, program)
            faulthandler.cancel_dump_traceback_later()
            pickle.dump(("result", name, value), stream, protocol=4)


def outcome(tf, np, program):
    """What a program returned, or the error it ended with, as plain values."""

    def in_a_fresh_graph():
        tf.reset_default_graph()
        return encode(tf, np, program(tf, np))

    return attempt(in_a_fresh_graph)


def attempt(call):
    """What a call gave, or the error it ended with."""
    try:
        return call()
    except Exception as error:
        return {"kind": "failed", "type": type(error).__name__, "message": traceback.format_exc()}


def encode(tf, np, value):
    """Plain Python values that say all that is compared of a result."""

    def again(part):
        return encode(tf, np, part)

    if (
        value is None
        or isinstance(value, (bool, int, float, complex, str, bytes))
        and not isinstance(value, np.generic)
    ):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return encode_array(np, np.asarray(value))
    if isinstance(value, kit.Raised):
        return {"kind": "raised", "types": value.types, "message": value.message}
    if isinstance(value, kit.Close):
        return {"kind": "close", "rtol": value.rtol, "atol": value.atol, "value": again(value.value)}
    if isinstance(value, kit.GraphNodes):
        return encode_graph(tf, np, value)
    if isinstance(value, tf.DType):
        return {"kind": "dtype", "name": value.name}
    if isinstance(value, tf.TensorShape):
        return {"kind": "shape", "dims": None if value.ndims is None else value.as_list()}
    if isinstance(value, tf.Dimension):
        return {"kind": "dimension", "value": value.value}
    if isinstance(value, tf.Operation):
        return {
            "kind": "operation",
            "name": value.name,
            "type": value.type,
            "inputs": [t.name for t in value.inputs],
        }
    if isinstance(value, tf.Variable):
        return {
            "kind": "variable",
            "name": value.name,
            "dtype": value.dtype.name,
            "shape": again(value.shape),
        }
    if isinstance(value, tf.Tensor) and not hasattr(value, "op"):
        return {"kind": "eager tensor", "dtype": value.dtype.name, "value": again(value.numpy())}
    if isinstance(value, tf.Tensor):
        return {
            "kind": "tensor",
            "name": value.name,
            "type": value.op.type,
            "dtype": value.dtype.name,
            "shape": again(value.shape),
        }
    if isinstance(value, (tf.IndexedSlices, tf.SparseTensor)):
        fields = ("values", "indices", "dense_shape")
        return {"kind": type(value).__name__, "fields": {f: again(getattr(value, f)) for f in fields}}
    if isinstance(value, dict):
        return {
            "kind": "dict",
            "items": {k if isinstance(k, str) else str(k): again(v) for k, v in value.items()},
        }
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = {f: again(v) for f, v in zip(value._fields, value)}
        return {"kind": "named tuple", "type": type(value).__name__, "fields": fields}
    if isinstance(value, tuple):
        return tuple(again(v) for v in value)
    if isinstance(value, list):
        return [again(v) for v in value]
    raise TypeError("a program returned a %s, which nothing here compares" % type(value).__name__)


def encode_array(np, array):
    """Dtype, shape and contents; contents that NumPy itself has no type for go as objects or as float32."""
    kind = {"kind": "array", "dtype": array.dtype.name, "shape": array.shape}
    if array.dtype.kind in "OSU":
        return dict(kind, dtype="object", data=[encode_item(np, item) for item in array.ravel().tolist()])
    if array.dtype.name == "bfloat16":
        return dict(kind, stored="float32", data=array.astype(np.float32).tobytes())
    if array.dtype.names:
        return dict(
            kind, dtype="/".join(array.dtype.names), data=[str(item) for item in array.ravel().tolist()]
        )
    return dict(kind, stored=array.dtype.name, data=np.ascontiguousarray(array).tobytes())


def encode_item(np, item):
    """Strings are bytes to every engine; arrays may be inside arrays of objects."""
    if isinstance(item, str):
        return item.encode("utf-8")
    return encode_array(np, item) if isinstance(item, np.ndarray) else item


def encode_graph(tf, np, nodes):
    """Nodes by name."""
    described = {}
    for node in nodes.graph_def.node:
        data = [i for i in node.input if not i.startswith("^")]
        wanted = node.attr if nodes.attrs is None else [a for a in nodes.attrs if a in node.attr]
        described[node.name] = {
            "op": node.op,
            "inputs": data,
            "control": sorted(i for i in node.input if i.startswith("^")),
            "device": node.device,
            "attrs": {key: encode_attr(tf, np, node.attr[key]) for key in wanted},
        }
    return {"kind": "graph", "nodes": described}


def encode_attr(tf, np, attr):
    """An attribute's value; tensors are compared by content, however they were written down."""
    field = attr.WhichOneof("value")
    if field == "list":
        lists = {f.name: v for f, v in attr.list.ListFields()}
        return [encode_attr_value(tf, np, f, item) for f, items in lists.items() for item in items]
    return None if field is None else encode_attr_value(tf, np, field, getattr(attr, field))


def encode_attr_value(tf, np, field, value):
    """One value of the kind that a field of AttrValue holds."""
    if field == "type":
        return "dtype " + tf.as_dtype(value).name
    if field == "shape":
        return "shape unknown" if value.unknown_rank else [d.size for d in value.dim]
    if field == "tensor":
        return encode_array(np, tf.make_ndarray(value))
    if field == "func":
        return "function"
    return value


if __name__ == "__main__":
    main(*sys.argv[1:])
