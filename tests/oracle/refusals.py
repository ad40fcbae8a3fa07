"""Raw ops on what they refuse: the refusals of the op table, and its samples, damaged.

`table()` makes the cases, from Tideflow's op table. Every engine runs them as programs of this file, which
reads them from the file that REFUSALS names.
"""

import os
import pickle

from kit import cases, raises

FILE = "REFUSALS"


def _table():
    if FILE not in os.environ:
        return {}
    with open(os.environ[FILE], "rb") as stream:
        return {key: (case,) for key, case in pickle.load(stream).items()}


@cases(_table())
def refusal(tf, np, case):
    """What is said where all shapes are known, and sizes and axes are constants, and where nothing is."""
    maker = _maker(tf, case["op"])
    if maker is None:
        return "no such op"
    return {how: _attempt(tf, np, maker, case, how) for how in ("known", "unknown")}


def _maker(tf, op_type):
    """Makes a node of an op type, from inputs and attributes by the names that they have in its schema."""
    if tf.__name__ == "tideflow":
        return getattr(tf.raw_ops, op_type)
    from tensorflow.python.framework import op_def_library, op_def_registry

    schema = op_def_registry.get_registered_ops().get(op_type)
    if schema is None:
        return None
    library = op_def_library.OpDefLibrary()
    library.add_op(schema)
    inferred = {
        name for arg in schema.input_arg for name in (arg.type_attr, arg.type_list_attr, arg.number_attr)
    }
    defaults = {attr.name: None for attr in schema.attr if attr.HasField("default_value")}

    def make(**keywords):
        given = {key: value for key, value in dict(defaults, **keywords).items() if key not in inferred}
        return library.apply_op(op_type, **given)

    return make


def _attempt(tf, np, maker, case, how):
    tf.reset_default_graph()
    feeds, variables = {}, []

    def source(given):
        if isinstance(given, list):
            return [source(item) for item in given]
        value = _decoded(tf, np, given)
        if given["kind"] in ("ref", "resource"):
            variable = tf.Variable(value, use_resource=given["kind"] == "resource", trainable=False)
            variables.append(variable)
            return variable.handle if given["kind"] == "resource" else variable._ref()
        if how == "known" and given["kind"] == "host":
            return tf.constant(value, given["dtype"], value.shape)
        tensor = tf.placeholder(given["dtype"], value.shape if how == "known" else None)
        feeds[tensor] = value
        return tensor

    inputs = {name: source(given) for name, given in case["inputs"].items()}
    attrs = {name: _attr(tf, value) for name, value in case["attrs"].items()}
    made = []
    error = raises(lambda: made.append(maker(**inputs, **attrs)))
    if not made:
        return {"while": "the graph is built", "error": error}
    operation = tf.get_default_graph().get_operations()[-1]
    fetches = [t for t in operation.outputs if t.dtype.base_dtype not in (tf.resource, tf.variant)]
    with tf.Session() as session:
        for variable in variables:
            session.run(variable.initializer)
        return {"while": "a step runs", "error": raises(session.run, [fetches, operation], feeds)}


def _decoded(tf, np, given):
    if given["dtype"] == "string":
        return np.array(given["data"], object).reshape(given["shape"])
    dtype = np.dtype(tf.as_dtype(given["dtype"]).as_numpy_dtype)
    return np.frombuffer(given["data"], dtype).reshape(given["shape"]).copy()


def _attr(tf, value):
    if isinstance(value, list):
        return [_attr(tf, item) for item in value]
    if isinstance(value, dict):
        return tf.as_dtype(value["dtype"]) if "dtype" in value else tf.TensorShape(value["shape"])
    return value
