"""Damaged GraphDefs: each is imported and run, or refused in TensorFlow's kinds of errors."""

from __future__ import annotations

import contextlib
import functools
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

import tideflow as tf
from tests.fuzz.guard import (
    ALLOWED_WHEN_BUILDING,
    ALLOWED_WHEN_RUNNING,
    little_memory,
    recorded,
    short_session,
)
from tideflow.functions.defun import Defun
from tideflow.graph.op import definitions

NAME = "graphs"

INTEGERS = [
    0,
    1,
    -1,
    2,
    7,
    127,
    255,
    1 << 15,
    1 << 31,
    (1 << 31) - 1,
    -(1 << 31),
    1 << 40,
    1 << 62,
    -(1 << 63),
]
FLOATS = [0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e38]
NAMES = ["", "^", "a b", "/", ":", "_x", "x:", "x:1:2", "^^x", "\N{SNOWMAN}", "..", "a" * 300, "0"]

# ---------------------------------------------------------------------------------- seed graphs


def _arithmetic() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(tf.ones([3, 2]), name="w")
    y = tf.nn.relu(tf.matmul(x, w)) + tf.constant([[1.0, 2.0]])
    loss = tf.reduce_mean(tf.square(tf.concat([y, tf.transpose(tf.transpose(y))], axis=1)))
    step = tf.train.get_or_create_global_step()
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step, name="train")
    tf.global_variables_initializer()
    tf.strided_slice(y, [0, 0], [1, -1], name="part")
    tf.split(tf.reshape(y, [-1, 1]), [1, tf.shape(y)[0] * 2 - 1], name="pieces")


def _resources() -> None:
    with tf.variable_scope("v", use_resource=True):
        v = tf.get_variable("v", initializer=[[1.0, 2.0], [3.0, 4.0]])
    rows = tf.gather(v, [1, 0])
    tf.train.AdamOptimizer().minimize(tf.reduce_sum(rows * rows), name="train")
    tf.global_variables_initializer()
    queue = tf.FIFOQueue(3, [tf.int32, tf.string], [[], [2]], name="queue")
    enqueue = queue.enqueue([7, ["a", "b"]])
    with tf.control_dependencies([enqueue]):
        tf.identity(queue.dequeue()[0], name="taken")
    stack = tf.TensorArray(tf.float32, 3).unstack(tf.constant([1.0, 2.0, 3.0]))
    tf.identity(stack.read(1), name="read")


def _loops() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    total = tf.while_loop(
        lambda i, s: i < 4,
        lambda i, s: (i + 1, tf.cond(s > 3.0, lambda: s * x, lambda: s + x)),
        [tf.constant(0), x],
        parallel_iterations=2,
    )[1]
    tf.gradients(total, x, name="slope")
    chosen = tf.case([(x > 1, lambda: x + 1), (x > 0, lambda: x + 2)], default=lambda: x)
    tf.identity(tf.scan(lambda a, b: a + b, tf.ones([3])) + chosen, name="scanned")


def _functions() -> None:
    @Defun(tf.float32, func_name="square")
    def square(x: Any) -> Any:
        return x * x

    @Defun(tf.float32, func_name="goes_on")
    def goes_on(x: Any) -> Any:
        return x < 100.0

    @Defun(tf.float32, func_name="twice")
    def twice(x: Any) -> Any:
        return square(x) + square(x)

    x = tf.placeholder(tf.float32, [], name="x")
    y = twice(x)
    tf.gradients(y, x, name="slope")
    tf.raw_ops.While(input=[y], cond=goes_on.name, body=twice.name, name="while")
    tf.raw_ops.If(
        cond=x > 0, input=[x], Tout=[tf.float32], then_branch=square.name, else_branch=twice.name, name="if"
    )


def _datasets() -> None:
    numbers = tf.data.Dataset.range(10).map(lambda x: x * 2).filter(lambda x: x > 2).shuffle(4, seed=1)
    pairs = tf.data.Dataset.zip((numbers, numbers.repeat(2))).batch(2).prefetch(1)
    words = tf.data.Dataset.from_tensor_slices(["a", "bc"]).padded_batch(2, [])
    flat = numbers.flat_map(lambda x: tf.data.Dataset.range(x)).take(5).skip(1)
    for i, dataset in enumerate((pairs, words, flat)):
        iterator = tf.data.make_initializable_iterator(dataset)
        with tf.control_dependencies([iterator.initializer]):
            tf.no_op(name=f"start{i}")
        iterator.get_next(name=f"next{i}")
    tf.data.make_one_shot_iterator(numbers).get_next(name="one_shot")


def _others() -> None:
    words = tf.constant(["a b", "c"])
    tf.strings.split(words)
    tf.strings.substr(words, 0, 1)
    tf.string_to_hash_bucket_fast(words, 7)
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    tf.sparse.to_dense(sparse)
    tf.sparse_tensor_dense_matmul(sparse, tf.ones([2, 2]))
    image = tf.ones([1, 8, 8, 3])
    tf.nn.max_pool(tf.nn.conv2d(image, tf.ones([3, 3, 3, 2]), 1, "SAME"), 2, 2, "VALID")
    tf.image.resize_bilinear(image, [4, 4])
    tf.one_hot([1, 2], 4)
    tf.nn.top_k([1.0, 3.0, 2.0], 2)
    tf.random_uniform([2, 2], seed=1)
    tf.segment_sum(tf.ones([3]), [0, 0, 1])
    tf.unique([1, 2, 1])
    tf.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    tf.io.parse_example(
        [b""], {"a": tf.io.FixedLenFeature([], tf.int64, 3), "b": tf.io.VarLenFeature(tf.string)}
    )
    tf.fill([2, 3], 1.0)
    tf.range(0, 5, 2)
    tf.tile(tf.ones([1, 2]), [2, 1])
    tf.cumsum(tf.ones([3]))
    tf.matrix_inverse(tf.eye(2))
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    table.lookup(tf.constant(["b"]))
    tf.tables_initializer()


SEEDS: tuple[Callable[[], None], ...] = (_arithmetic, _resources, _loops, _functions, _datasets, _others)


@functools.cache
def _seed(number: int) -> bytes:
    with tf.Graph().as_default():
        SEEDS[number]()
        return tf.train.export_meta_graph().SerializeToString()


# ------------------------------------------------------------------------------------ mutations


def cases(seed: int) -> Iterator[bytes]:
    """MetaGraphDefs with damage, without end."""
    chance = random.Random(seed)
    while True:
        yield case(chance)


def case(chance: random.Random) -> bytes:
    """A MetaGraphDef with damage."""
    meta_graph = MetaGraphDef.FromString(_seed(chance.randrange(len(SEEDS))))
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        damage(meta_graph, chance)
    return bytes(meta_graph.SerializeToString())


def damage(meta_graph: MetaGraphDef, chance: random.Random) -> None:
    """Changes one thing in a MetaGraphDef."""
    graph_def = meta_graph.graph_def
    functions = graph_def.library.function
    where = chance.random()
    if where < 0.1:
        _damage_collections(meta_graph, chance)
    elif functions and where < 0.4:
        function = chance.choice(functions)
        if function.node_def and chance.random() < 0.6:
            _damage_nodes(function.node_def, graph_def, chance)
        else:
            _damage_function(function, graph_def, chance)
    elif graph_def.node:
        _damage_nodes(graph_def.node, graph_def, chance)


def _damage_nodes(nodes: Any, graph_def: GraphDef, chance: random.Random) -> None:
    node = chance.choice(nodes)
    kind = chance.randrange(18)
    if kind > 11:  # damage that types and names do not show
        _damage_quietly(node, nodes, chance)
    elif kind == 0:
        nodes.remove(node)
    elif kind == 1:
        copied = nodes.add()
        copied.CopyFrom(node)
        copied.name = chance.choice([node.name, f"{node.name}_again", *NAMES])
    elif kind == 2:
        kept = list(nodes)
        chance.shuffle(kept)
        kept = [type(node).FromString(each.SerializeToString()) for each in kept]
        del nodes[:]
        nodes.extend(kept)
    elif kind == 3:
        node.name = chance.choice([*NAMES, chance.choice(nodes).name])
    elif kind == 4:
        others = [chance.choice(nodes).op, *chance.sample(_op_types(), 3)]
        node.op = chance.choice([*others, "", "NoSuchOp"])
    elif kind == 5:
        node.device = chance.choice(
            ["/cpu:0", "/gpu:7", "/job:x", "what", "/device:CPU:999999999999", *NAMES]
        )
    elif kind in (6, 7):
        _damage_inputs(node, nodes, chance)
    else:
        _damage_attrs(node.attr, nodes, graph_def, chance)


def _damage_quietly(node: Any, nodes: Any, chance: random.Random) -> None:
    """Another value in a constant, or an input that another node of the same type takes."""
    constants = [each for each in nodes if each.op == "Const"]
    if constants and chance.random() < 0.6:
        tensor = chance.choice(constants).attr["value"].tensor
        dtype = tf.as_dtype(tensor.dtype)
        if dtype.is_integer or dtype.is_floating:
            array = tf.make_ndarray(tensor)
            values = INTEGERS if dtype.is_integer else FLOATS
            if array.size:
                array.flat[chance.randrange(array.size)] = np.array(chance.choice(values)).astype(array.dtype)
            tensor.CopyFrom(tf.make_tensor_proto(array, dtype))
        return
    others = [each for each in nodes if each.op == node.op and each.input] or [node]
    taken = [text for each in others for text in each.input if not text.startswith("^")]
    if node.input and taken:
        node.input[chance.randrange(len(node.input))] = chance.choice(taken)


@functools.cache
def _op_types() -> list[str]:
    """Op types that touch neither files nor other processes, and do not end this one."""
    outside = re.compile(
        "File|Save|Restore|Write|Event|Abort|Send|Recv|Reader|Record|Dataset|Summary|Debug|Sql"
    )
    return sorted(name for name in definitions() if not outside.search(name))


def _damage_inputs(node: Any, nodes: Any, chance: random.Random) -> None:
    inputs = list(node.input)
    at = chance.randrange(len(inputs) + 1)
    other = chance.choice(nodes).name
    new = chance.choice(
        [other, f"{other}:1", f"^{other}", f"{other}:{chance.choice(INTEGERS)}", node.name, *NAMES]
    )
    kind = chance.randrange(4)
    if kind == 0:
        inputs[at:at] = [new]
    elif kind == 1:
        inputs[at : at + 1] = [new]
    elif kind == 2:
        del inputs[at : at + 1]
    else:
        chance.shuffle(inputs)
    del node.input[:]
    node.input.extend(inputs)


def _damage_attrs(attrs: Any, nodes: Any, graph_def: GraphDef, chance: random.Random) -> None:
    others = [value for node in nodes for value in node.attr.values()]
    if not attrs:
        if others:
            attrs[chance.choice(["T", "dtype", "_class", "x"])].CopyFrom(chance.choice(others))
        return
    key = chance.choice(sorted(attrs))
    kind = chance.randrange(6)
    if kind == 0:
        del attrs[key]
    elif kind == 1:
        attrs[key].CopyFrom(chance.choice(others))
    elif kind == 2:
        attrs[chance.choice(["_class", "_output_shapes", "T", "N", "x"])].CopyFrom(attrs[key])
    else:
        _damage_value(attrs[key], graph_def, chance)


def _damage_value(value: Any, graph_def: GraphDef, chance: random.Random) -> None:
    field = value.WhichOneof("value")
    if field == "i":
        value.i = chance.choice(INTEGERS)
    elif field == "f":
        value.f = chance.choice(FLOATS)
    elif field == "b":
        value.b = not value.b
    elif field == "s":
        value.s = chance.choice([name.encode() for name in NAMES] + [b"\xff", value.s[:-1], value.s + b"x"])
    elif field == "type":
        value.type = chance.choice([0, 1, 3, 7, 9, 20, 21, 23, 101, 103, 999])
    elif field == "shape":
        _damage_shape(value.shape, chance)
    elif field == "tensor":
        _damage_tensor(value.tensor, chance)
    elif field == "func":
        names = [function.signature.name for function in graph_def.library.function]
        value.func.name = chance.choice([*names, *NAMES])
    elif field == "list":
        _damage_list(value.list, chance)
    else:
        value.i = chance.choice(INTEGERS)


def _damage_list(values: Any, chance: random.Random) -> None:
    for field, items in values.ListFields():
        at, kind = chance.randrange(len(items)), chance.randrange(3)
        if kind == 0:
            del items[at]
        elif kind == 1 and field.name in ("i", "f", "b", "s", "type"):
            items[at] = {
                "i": chance.choice(INTEGERS),
                "f": chance.choice(FLOATS),
                "b": chance.random() < 0.5,
                "s": chance.choice(NAMES).encode(),
                "type": chance.choice([0, 1, 3, 7, 20, 101, 999]),
            }[field.name]
        elif field.name == "shape":
            _damage_shape(items[at], chance)
        else:
            items.extend(list(items)[: chance.randint(1, 3)])


def _damage_shape(shape: Any, chance: random.Random) -> None:
    kind = chance.randrange(4)
    if kind == 0:
        shape.unknown_rank = not shape.unknown_rank
    elif kind == 1 or not shape.dim:
        for _ in range(chance.choice([1, 1, 2, 70, 300])):
            shape.dim.add(size=chance.choice(INTEGERS))
    elif kind == 2:
        chance.choice(shape.dim).size = chance.choice(INTEGERS)
    else:
        del shape.dim[chance.randrange(len(shape.dim))]


def _damage_tensor(tensor: Any, chance: random.Random) -> None:
    kind = chance.randrange(5)
    if kind == 0:
        tensor.dtype = chance.choice([0, 1, 3, 7, 8, 9, 10, 14, 20, 21, 101, 999])
    elif kind == 1:
        _damage_shape(tensor.tensor_shape, chance)
    elif kind == 2:
        tensor.tensor_content = tensor.tensor_content[:-1] or b"abc"
    elif kind == 3:
        values = np.array([chance.choice(INTEGERS[:12]) for _ in range(chance.randint(0, 3))])
        tensor.CopyFrom(tf.make_tensor_proto(values, chance.choice([tf.int64, tf.float32, tf.int32])))
    else:
        for field, _ in list(tensor.ListFields()):
            if field.name.endswith(("_val", "content")):
                tensor.ClearField(field.name)


def _damage_function(function: Any, graph_def: GraphDef, chance: random.Random) -> None:
    signature, kind = function.signature, chance.randrange(7)
    arguments = chance.choice([signature.input_arg, signature.output_arg])
    if kind == 0:
        graph_def.library.function.remove(function)
    elif kind == 1:
        signature.name = chance.choice([*NAMES, chance.choice(graph_def.node).op])
    elif kind == 2 and arguments:
        del arguments[chance.randrange(len(arguments))]
    elif kind == 3 and arguments:
        chance.choice(arguments).type = chance.choice([0, 1, 3, 7, 20, 101, 999])
    elif kind == 4:
        arguments.add(name=chance.choice([*NAMES, "x"]), type=1)
    elif function.ret:
        key = chance.choice(sorted(function.ret))
        function.ret[key] = chance.choice(["", "x", "x:0", "y:z:0", "y:z:9", f"{key}:0:{1 << 40}", *NAMES])


def _damage_collections(meta_graph: MetaGraphDef, chance: random.Random) -> None:
    key = chance.choice(sorted(meta_graph.collection_def) or ["variables"])
    collection = meta_graph.collection_def[key]
    kind = chance.randrange(4)
    if kind == 0:
        del meta_graph.collection_def[key]
    elif kind == 1:
        collection.node_list.value.append(chance.choice(NAMES))
    elif kind == 2 and collection.bytes_list.value:
        data = bytearray(collection.bytes_list.value[0])
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        collection.bytes_list.value[0] = bytes(data)
    else:
        meta_graph.graph_def.versions.min_consumer = chance.choice([0, 5, 27, 1 << 30])


# --------------------------------------------------------------------------------------- checks


def check(data: bytes, chance: random.Random) -> None:
    """Imports a MetaGraphDef and runs what is in it. Raises whatever a user must not see."""
    meta_graph = MetaGraphDef.FromString(data)
    with tf.Graph().as_default() as graph:
        try:
            if chance.random() < 0.5:
                tf.train.import_meta_graph(meta_graph)
            else:
                tf.import_graph_def(meta_graph.graph_def, name=chance.choice(["", "imported"]))
        except ALLOWED_WHEN_BUILDING:
            return
        except KeyError as error:  # of a collection, as in TensorFlow
            if "The name " not in str(error):
                raise
            return
        try:
            graph.as_graph_def(add_shapes=True)
        except ValueError:
            return
        # An imported MetaGraph gets a Saver, whose operations would write files.
        operations = [op for op in graph.get_operations() if not op.name.startswith("save")]
        if chance.random() < 0.2:
            _differentiate(operations, chance)
        feeds = {op.outputs[0]: _value(op.outputs[0]) for op in operations if op.type == "Placeholder"}
        first = [
            op
            for op in operations
            if op.type.startswith(("Assign", "VarHandle", "MakeIterator", "Initialize"))
        ]
        with short_session(graph, chance.choice(["", "", "TOKENS"])) as session:
            for targets in (first, *([op] for op in chance.sample(operations, min(6, len(operations))))):
                for target in targets:
                    try:
                        session.run(target, feeds)
                    except ALLOWED_WHEN_RUNNING:
                        pass
                    except (ValueError, TypeError, RuntimeError) as error:
                        if not _refused_before_running(error):
                            raise


def _differentiate(operations: list[Any], chance: random.Random) -> None:
    tensors = [tensor for op in operations for tensor in op.outputs if tensor.dtype.is_floating]
    if tensors:
        with contextlib.suppress(*ALLOWED_WHEN_BUILDING, LookupError):  # of an op type without a gradient
            tf.gradients(chance.choice(tensors), chance.choice(tensors))


def _value(tensor: Any) -> np.ndarray:
    sizes = (
        [1 if size is None or size > 9 else size for size in tensor.shape.as_list()]
        if tensor.shape.ndims
        else []
    )
    return np.ones(sizes, tensor.dtype.as_numpy_dtype)


def _refused_before_running(error: Exception) -> bool:
    """Whether `session.run` refused its arguments as TensorFlow does: fetches, feeds, or a closed session."""
    return any(text in str(error) for text in ("feed", "fetch", "closed", "Session"))


def one(random: random.Random, corpus: Path) -> None:
    """Makes one case and checks it."""
    data = case(random)
    with recorded(NAME, data, corpus), little_memory():
        check(data, random)
