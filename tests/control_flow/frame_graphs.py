"""Graphs of Enter, Merge, Switch, NextIteration and Exit, written node by node, as no construct would."""

import tideflow as tf


class Frames:
    """A GraphDef in the making; each method adds a node and returns its name."""

    def __init__(self):
        self.message = tf.GraphDef()
        self.message.versions.producer = 134

    def node(self, name, op, *inputs, **attrs):
        node = self.message.node.add(name=name, op=op)
        node.input.extend(inputs)
        for key, value in attrs.items():
            if isinstance(value, bool):
                node.attr[key].b = value
            elif isinstance(value, int):
                node.attr[key].i = value
            elif isinstance(value, str):
                node.attr[key].s = value.encode()
            else:
                node.attr[key].type = value.as_datatype_enum
        return name

    def constant(self, name, value, *controls):
        proto = tf.make_tensor_proto(value)
        node = self.message.node.add(name=name, op="Const")
        node.attr["dtype"].type = proto.dtype
        node.attr["value"].tensor.CopyFrom(proto)
        node.input.extend(controls)
        return name

    def identity(self, name, x, *controls, dtype=tf.int32):
        return self.node(name, "Identity", x, *controls, T=dtype)

    def enter(self, name, x, frame="f", is_constant=False, dtype=tf.int32, parallel_iterations=10):
        return self.node(
            name,
            "Enter",
            x,
            T=dtype,
            frame_name=frame,
            is_constant=is_constant,
            parallel_iterations=parallel_iterations,
        )

    def merge(self, name, *inputs, dtype=tf.int32):
        return self.node(name, "Merge", *inputs, T=dtype, N=len(inputs))

    def switch(self, name, x, pred, dtype=tf.int32):
        return self.node(name, "Switch", x, pred, T=dtype)

    def next(self, name, x, dtype=tf.int32):
        return self.node(name, "NextIteration", x, T=dtype)

    def exit(self, name, x, dtype=tf.int32):
        return self.node(name, "Exit", x, T=dtype)

    def add(self, name, a, b):
        return self.node(name, "Add", a, b, T=tf.int32)

    def counting_loop(self, prefix="", start=0, limit=5, frame="f", begin=None):
        """A loop that counts from `start` (or from the node `begin`) to `limit`; returns its Exit."""
        p = prefix
        if begin is None:
            begin = self.constant(f"{p}start", start)
        self.enter(f"{p}enter", begin, frame)
        self.merge(f"{p}merge", f"{p}enter", f"{p}next")
        self.constant(f"{p}limit", limit, f"^{p}merge")
        self.node(f"{p}less", "Less", f"{p}merge", f"{p}limit", T=tf.int32)
        self.node(f"{p}cond", "LoopCond", f"{p}less")
        self.switch(f"{p}switch", f"{p}merge", f"{p}cond")
        self.constant(f"{p}one", 1, f"^{p}switch")
        self.add(f"{p}add", f"{p}switch:1", f"{p}one")
        self.next(f"{p}next", f"{p}add")
        return self.exit(f"{p}exit", f"{p}switch")

    def import_here(self, name=""):
        tf.import_graph_def(self.message, name=name)
