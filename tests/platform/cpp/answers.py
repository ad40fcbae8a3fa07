"""What the ops of the sources beside this file answer, as text: the same under both engines.

`python answers.py ENGINE ZERO_OUT INTERFACE STATEFUL WINDOWS PARTS NUMERIC` prints them, given
the compiled libraries. It runs under Python 3.7 too.
"""

import importlib
import inspect
import os
import sys
import tempfile

import numpy as np


def answers(tf, zero_out, interface, stateful, windows, parts, numeric):
    lines = []

    def show(name, function):
        try:
            found = function()
        except Exception as error:
            text = getattr(error, "message", None) or str(error)
            found = f"{type(error).__name__}: {text}".split("\n")[0]
            for end in (" [[node", " (defined", " (op", "; NodeDef", " used by", " for '"):
                found = found.split(end)[0]
        lines.append(f"{name}: {found}")

    def run(build, feed=()):
        def stepped():
            with tf.Graph().as_default(), tf.Session() as session:
                fetched = build()
                values = session.run(fetched, dict(feed(fetched) if callable(feed) else feed))
            return [(v.dtype.name, v.tolist()) if hasattr(v, "dtype") else v for v in _flat(values)]

        return stepped

    # the tutorial's ops
    for name in ("zero_out", "polymorphic_zero_out", "zero_like", "multiply_add"):
        show(f"signature of {name}", lambda: str(inspect.signature(getattr(zero_out, name))))
    show("zero_out", run(lambda: zero_out.zero_out([[1, 2], [3, 4]])))
    show("zero_out of nothing", run(lambda: zero_out.zero_out(tf.zeros([0], tf.int32))))
    show("zero_out of another type", run(lambda: zero_out.zero_out(tf.constant([1.0]))))
    show("preserve_index", run(lambda: zero_out.polymorphic_zero_out([5.0, 4.0, 3.0], preserve_index=2)))
    show("by position", run(lambda: zero_out.polymorphic_zero_out([5, 4, 3], 1, "named")))
    show("half", run(lambda: zero_out.polymorphic_zero_out(tf.constant([1.5, 2.25], tf.half), 1)))
    show("too far", run(lambda: zero_out.polymorphic_zero_out([5, 4, 3], preserve_index=7)))
    show("negative", run(lambda: zero_out.polymorphic_zero_out([5, 4, 3], preserve_index=-1)))
    show("matrix", run(lambda: zero_out.polymorphic_zero_out([[5, 4, 3]])))
    show("no kernel", run(lambda: zero_out.polymorphic_zero_out(tf.constant([1.0], tf.float64))))
    show("no such type", run(lambda: zero_out.polymorphic_zero_out(tf.constant([True]))))
    for dtype in (tf.uint8, tf.int16, tf.int64, tf.bfloat16, tf.float64):
        show(
            f"zero_like {dtype.name}",
            run(lambda: tf.cast(zero_out.zero_like(tf.ones([2], dtype)), tf.int32)),
        )

    def loop():
        return tf.while_loop(
            lambda i, x: i < 4,
            lambda i, x: (i + 1, zero_out.multiply_add(x, x, tf.fill([2], tf.cast(i, tf.float32)))),
            [0, tf.constant([1.0, 0.5])],
        )

    def gradient():
        a, b, c = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.constant([5.0, 6.0])
        s = zero_out.multiply_add(a, b, c)
        return [s, *tf.gradients(s * s, [a, b, c])]

    def loop_gradient():
        x = tf.constant([1.0, 0.5])
        total = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, zero_out.multiply_add(y, x, x)), [0, x]
        )[1]
        return tf.gradients(total, x)

    def through_a_graph_def():
        x = tf.placeholder(tf.float32, [None], name="x")
        zero_out.polymorphic_zero_out(zero_out.multiply_add(x, x, x), preserve_index=1, name="y")
        message = tf.get_default_graph().as_graph_def()
        with tf.Graph().as_default() as graph, tf.Session() as session:
            tf.import_graph_def(type(message).FromString(message.SerializeToString()), name="")
            assert graph.get_operation_by_name("y").type == "PolymorphicZeroOut"
            return session.run("y:0", {"x:0": [1.0, 2.0, 3.0]}).tolist()

    def strided():
        x = tf.reshape(tf.range(6.0), [2, 3])
        y = tf.transpose(x)
        return zero_out.multiply_add(y, y, tf.transpose(x))

    show("in a loop", run(loop))
    show("gradient", run(gradient))
    show("gradient of a loop", run(loop_gradient))
    show("through a GraphDef", through_a_graph_def)
    show("of transposed memory", run(strided))
    show("other shapes", run(lambda: zero_out.multiply_add(tf.zeros([2]), tf.zeros([3]), tf.zeros([2]))))
    show(
        "unknown shapes",
        run(
            lambda: zero_out.multiply_add(
                tf.placeholder_with_default([1.0], None), tf.placeholder_with_default([1.0, 2.0], None), [1.0]
            )
        ),
    )

    # the rest of the interface
    show("lists", run(lambda: interface.stack_rows([tf.ones([1, 2]), tf.zeros([2, 2])])))
    show("strings", run(lambda: interface.stack_rows([[["a", "\u00e9"]], tf.constant([[b"\xff\x00", b""]])])))
    show("complex", run(lambda: interface.stack_rows([tf.conj(tf.constant([[1 + 2j]], tf.complex64))])))
    show("static shapes", lambda: [str(s.shape) for s in _flat(interface.stack_rows([tf.ones([1, 2])] * 2))])
    show("rows of other widths", run(lambda: interface.stack_rows([tf.ones([1, 2]), tf.ones([1, 3])])))
    show("no rows", run(lambda: interface.stack_rows([])))
    show("attributes", run(lambda: interface.show_attributes()))
    show(
        "other attributes",
        run(
            lambda: interface.show_attributes(
                a=-1, b=1e-7, c=False, d="VALID", e=[4, None], f=[], g=["\u00e9"], h=tf.string, i=[], k=[0.1]
            )
        ),
    )
    show("no such attribute", run(lambda: interface.show_attributes(a=99)))
    show("attribute of another type", run(lambda: interface.show_attributes(a=98)))
    show("attribute that is not allowed", run(lambda: interface.show_attributes(d="FULL")))
    show("too large", run(lambda: interface.show_attributes(a=2**40)))
    show("shape by value", lambda: str(interface.ramp([2, 3], 4).shape))
    show("partly known", lambda: str(interface.ramp([2, tf.placeholder(tf.int32, [])], 4).shape))
    show("known rank", lambda: str(interface.ramp(tf.placeholder(tf.int32, [2]), 4).shape))
    show("nothing known", lambda: str(interface.ramp(tf.placeholder(tf.int32), 4).shape))
    show("a negative size", lambda: interface.ramp([2], -4))
    show("indivisible", lambda: interface.ramp([2], 5, divisor=2))
    show("threads", run(lambda: tf.reduce_sum(interface.ramp([30, 7], 11))))
    show("a size below zero", run(lambda: interface.ramp(tf.placeholder_with_default([-2], [1]), 4)))

    def state():
        x = tf.placeholder(tf.float32, [2])
        both = interface.running_sum(x)
        with tf.Session() as session:
            first = session.run(both, {x: [1.0, 2.0]})
            second = session.run(both, {x: [3.0, 4.0]})
        with tf.Session() as session:
            again = session.run(both, {x: [7.0, 8.0]})
        return [np.array(found).tolist() for found in (second, again)] + [np.array(first)[1].tolist()]

    show("state of a session", state)
    show("views of an input", run(lambda: interface.behead([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])))
    show("no shape function", lambda: [str(x.shape) for x in interface.behead([[1.0]])])
    show("nothing to behead", run(lambda: interface.behead(tf.zeros([0]))))
    show("expressions", run(lambda: interface.cube([[-9.0, -2.0], [2.0, 9.0]])))
    show("a scalar", run(lambda: interface.cube(1.0)))

    def rearranged():
        made = interface.rearrange([[1.0, 2.0, 4.0], [8.0, 5.0, 3.0]], [[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])
        return [tf.floor(each * 1000 + 0.5) for each in made]

    show("moved and joined", run(rearranged))

    def labelled():
        with tf.get_default_graph()._kernel_label_map({"Cube": "plus_one"}):
            return interface.cube([2.0])

    show("a kernel's label", run(labelled))
    show("out of range", run(lambda: interface.fail("out of range")))
    show("unavailable", run(lambda: interface.fail("unavailable")))
    show("an output that is missing", run(lambda: interface.fail("not at all")))

    # state
    def numbered_words():
        table = stateful.word_table(first=5, shared_name="words")
        words = tf.placeholder(tf.string, [None])
        numbers, size = stateful.word_numbers(table, words)
        own, _ = stateful.word_numbers(stateful.word_table(), words)
        with tf.Session() as session:
            first = session.run(numbers, {words: ["a", "b", "a"]})
            second = session.run([numbers, size, own], {words: ["c", "b"]})
        with tf.Session() as session:
            return [np.array(x).tolist() for x in (first, *second, session.run(numbers, {words: ["z"]}))]

    def shared_words():
        one, other = (stateful.word_table(shared_name="both", container="c") for _ in range(2))
        first, _ = stateful.word_numbers(one, ["x", "y"])
        with tf.control_dependencies([first]):
            second, _ = stateful.word_numbers(other, ["y", "z"])
        return first, second

    def counted(stopped=False):
        handle = stateful.counter_handle_op(shared_name="clicks")
        start, count = stateful.start_counter(handle, 10), stateful.count(handle)
        there, stop = stateful.counter_is_there(handle), stateful.stop_counter(handle)
        by_name = stateful.count_by_name(counter="clicks")
        with tf.Session() as session:
            found = [session.run(there)]
            session.run(start)
            found += [session.run(x) for x in (there, count, count, by_name)]
            session.run(stop)
            return [np.array(x).tolist() for x in (*found, session.run(there), session.run(by_name))]

    def decayed():
        v = tf.Variable([1.0, 2.0], use_resource=False)
        decay = stateful.decay_variable(v, 0.5)
        with tf.Session() as session:
            session.run(v.initializer)
            found = [session.run(decay).tolist(), session.run(decay + 1.0).tolist()]
            return found + [session.run(v).tolist(), decay.dtype.name]

    def descended(grow=False, initialized=True, grad=(1.0, -2.0)):
        def stepped():
            v = tf.get_variable(f"v{len(lines)}", initializer=[1.0, 2.0], use_resource=True)
            step = stateful.resource_apply_sign_descent(v.handle, 0.25, list(grad), grow=grow)
            with tf.Session() as session:
                session.run(v.initializer if initialized else stateful.count_by_name(counter="another"))
                before = session.run(v.value()) if initialized else None
                session.run(step)
                session.run(step)
                return before.tolist(), session.run(v.value()).tolist()

        return stepped

    def in_a_loop():
        table = stateful.word_table()
        return tf.while_loop(
            lambda i, n: i < 3,
            lambda i, n: (i + 1, n + stateful.word_numbers(table, tf.as_string(i))[0]),
            [0, tf.constant(0, tf.int64)],
        )

    show("words", numbered_words)
    show("shared words", run(shared_words))
    show("words in a loop", run(in_a_loop))
    show("a table that is refused", run(lambda: stateful.word_numbers(stateful.word_table(first=-1), "a")))
    show("a handle of another type", run(lambda: stateful.word_numbers(stateful.counter_handle_op(), "a")[0]))
    show("a counter", counted)

    def no_counter():
        with tf.control_dependencies([stateful.count_by_name(counter="another")]):
            return stateful.count(stateful.counter_handle_op(shared_name="none"))

    show("no counter", run(no_counter))
    show(
        "started twice",
        run(
            lambda: [stateful.start_counter(stateful.counter_handle_op(shared_name="s"), i) for i in range(2)]
        ),
    )
    show("a vector of handles", lambda: stateful.word_numbers(tf.stack([stateful.word_table()] * 2), "a"))
    show("a reference", decayed)
    show("no reference", lambda: stateful.decay_variable(tf.constant([1.0]), 0.5))
    show("a factor that is no scalar", run(lambda: stateful.decay_variable(tf.Variable(1.0), [0.5])))
    show("a variable", descended())
    show("a variable that grows", descended(grow=True))
    show("a gradient of another shape", descended(grad=(1.0,)))
    show("an uninitialized variable", descended(initialized=False))

    # images and texts
    image = np.arange(30, dtype=np.float32).reshape([1, 5, 6, 1])

    def largest(padding="SAME", strides=(1, 2, 2, 1), x=image, **attrs):
        return lambda: windows.largest_in_windows(x, ksize=3, strides=strides, padding=padding, **attrs)

    for padding in ("SAME", "VALID"):
        show("windows " + padding, run(largest(padding)))
        show(
            "sizes " + padding,
            lambda: str(largest(padding, x=tf.placeholder(tf.float32, [None, None, 6, 1]))().shape),
        )
    show("a window that is too large", run(largest("VALID", x=image[:, :1])))
    show("no stride", run(largest(strides=(1, 0, 0, 1))))
    show("too few strides", run(largest(strides=(1, 1, 1))))
    show("another format", run(largest(data_format="NCHW")))
    show("a format that there is not", run(largest(data_format="HWC")))
    show("numbers", run(lambda: windows.read_numbers(["12", " -7 ", "2.5", "1e3", "99999999999999999999"])))
    show("no numbers", run(lambda: windows.read_numbers(["1", "one"])))
    show("later", run(lambda: windows.later_square([1.0, -2.0])))
    show("later, of nothing", run(lambda: windows.later_square(tf.zeros([0]))))
    show("curves", run(lambda: [windows.curve([0.5]), windows.curve(np.array([0.5, -2], np.float16))]))
    show("crosses", run(lambda: windows.crosses([1.0, 2.0, 3.0], ["a", "b"])))
    show("halves", run(lambda: [windows.halve([3.0]), windows.halve([3])]))

    # random numbers, texts, hashes, files
    def drawn(dtype):
        return lambda: [
            tf.floor(tf.cast(each, tf.float64) * 1e4 + 0.5)
            for each in parts.drawn(T=dtype, count=5, seed=87654321, seed2=-3)
        ]

    for dtype in (tf.float32, tf.float64, tf.half, tf.bfloat16):
        show(f"drawn {dtype.name}", run(drawn(dtype)))
    show("other seeds", run(lambda: parts.drawn(T=tf.float32, count=2)[:0]))
    show("picked", run(lambda: parts.pick_rows(tf.eye(4), [1.0, 3.0, 0.0, 0.5], count=9, seed=11)))
    for text in ("  12abc, d e,,a z ", "", "ab\t'\u00e9'\n", "no-digit_z", "0" * 30):
        show(f"text {text!r}", run(lambda: parts.text_parts(text)))
    for text in (
        "abracadabra",
        "",
        "a",
        "\u00e9\u00e8\u00ea, thirty-three and some bytes",
        "9 to 16 bytes",
        "b" * 20,
        "x" * 150,
    ):
        show(f"hashes {text!r}", run(lambda: parts.hash_parts(text)))
    for x, y in (
        ([2, 3], [3]),
        ([2, 1], [1, 3]),
        ([], [2, 2]),
        ([1, 1], [1]),
        ([2, 3, 1], [3, 4]),
        ([2], [3]),
    ):
        show(f"broadcast {x} {y}", run(lambda: parts.broadcasting(tf.ones(x), 2.0 * tf.ones(y))))
    with tempfile.TemporaryDirectory() as folder:
        words, log = os.path.join(folder, "words.txt"), os.path.join(folder, "log.txt")
        with open(words, "w") as file:
            file.write("one\r\nseveral\n\nmany of them")
        asked = ["many of them", "none", "", "one"]
        show("words of a file", run(lambda: parts.number_words(asked, vocabulary=words, log=log)))
        with open(log) as file:
            show("log", lambda: file.read().strip())
        for changed in ({"vocabulary": words + "?"}, {"log": folder}):
            attrs = dict({"vocabulary": words, "log": log}, **changed)
            show("no file", run(lambda: parts.number_words(asked, **attrs)))
            lines[-1] = lines[-1].replace(folder, "")

    # single numbers, sparse tensors, lists
    def functions(dtype):
        x = tf.constant([-2.5, 0.0, 0.75, 3.0, float("inf"), float("nan")], dtype)
        return [tf.cast(each, tf.float32) for each in numeric.number_functions(x)]

    for dtype in (tf.float32, tf.float64):
        show(f"functions {dtype.name}", run(lambda: tf.as_string(functions(dtype)[0], precision=4)))
    for dtype in (tf.half, tf.float32):
        show(f"limits {dtype.name}", run(lambda: functions(dtype)[1]))
    places = [[0, 1], [0, 3], [2, 0], [2, 1]]
    show("sparse", run(lambda: numeric.sparse_rows(places, [1.0, 2.0, 3.0, 4.0], [3, 4])))
    for wrong in ([[0, 1], [0, 1]], [[1, 0], [0, 1]], [[0, 1], [3, 0]], [[0, 1, 2]], [0]):
        show(f"sparse {wrong}", run(lambda: numeric.sparse_rows(wrong, [1.0] * len(wrong), [3, 4])))
    show("outer", run(lambda: numeric.outer_product([1.0, 2.0, 3.0], [4.0, 5.0])))
    show("middles", run(lambda: numeric.sum_of_middles([tf.ones([2, 2, 3, 2]), tf.ones([2, 5])])))
    numbers = np.array([0.1, 1e10, np.nan, -np.inf, 1 / 3.0, 7])
    for dtype in (np.float32, np.float64, np.float16, np.int8, np.uint8, np.int64, np.bool_):
        with np.errstate(all="ignore"):
            given = (numbers if dtype(0.5) else np.arange(6)).astype(dtype)
        show(f"{np.dtype(dtype).name} shown", run(lambda given=given: parts.described(tf.constant(given))))
    for shape in ((), (2, 3), (2, 3, 2), (0, 2), (2, 0)):
        cube = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
        show(f"{shape} shown", run(lambda cube=cube: parts.described(tf.constant(cube))))
    show("words shown", run(lambda: parts.described([b"a", b"b\n", b"\xff"])))
    show("one index", run(lambda: parts.last_of_all([[1.0, 2.0], [3.0, 4.0]])))
    return lines


def _flat(values):
    if isinstance(values, (list, tuple)):
        return [each for value in values for each in _flat(value)]
    return [values]


def register_gradient(tf):
    @tf.RegisterGradient("MultiplyAdd")
    def _multiply_add_gradient(op, grad):
        return grad * op.inputs[1], grad * op.inputs[0], grad


if __name__ == "__main__":
    engine = importlib.import_module(sys.argv[1])
    register_gradient(engine)
    print("\n".join(answers(engine, *map(engine.load_op_library, sys.argv[2:]))))
