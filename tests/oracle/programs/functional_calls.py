"""`If`, `While` and `For` of `Defun`s, and lists of tensors, as libraries call them."""

from kit import cases, raises


def _names(tf):
    if tf.__name__ == "tideflow":
        from tideflow.functions.defun import Defun
        from tideflow.programs.inner.graph import functional_names, list_names

        return Defun, functional_names, list_names
    from tensorflow.python.framework.function import Defun
    from tensorflow.python.ops import functional_ops, list_ops

    return Defun, functional_ops, list_ops


def _run(tf, fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def one_of_two(tf, np):
    Defun, functional, _ = _names(tf)
    twice = Defun(tf.float32)(lambda x: x * 2.0)
    other = Defun(tf.float32)(lambda x: x * 3.0 + 1.0)
    x = tf.placeholder(tf.float32)
    (result,) = functional.If(x > 0, [x], twice, other)
    with tf.Session() as session:
        return [session.run(result, {x: value}) for value in (9.0, -8.0, 0.0)]


def a_loop_with_captures(tf, np):
    Defun, functional, _ = _names(tf)
    variable = tf.Variable(1.0)
    going_on = Defun(tf.float32, tf.float32, func_name="Left")(lambda n, x: n < 10.0)
    body = Defun(tf.float32, tf.float32, func_name="Next")(lambda n, x: (n + 1.0, x + n + variable))
    return _run(tf, functional.While([1.0, 0.0], going_on, body))


@cases(True, False)
def a_range(tf, np, by_while):
    Defun, functional, _ = _names(tf)
    variable = tf.Variable(1.0)
    added = Defun(tf.int32, tf.float32, func_name="Added")(lambda n, x: x + tf.cast(n, tf.float32) + variable)
    up = functional.For(1, 10, 1, [0.0], added, rewrite_with_while=by_while)
    down = functional.For(100, 0, -7, [0.0], added, rewrite_with_while=by_while)
    library = tf.get_default_graph().as_graph_def().library
    names = sorted(function.signature.name for function in library.function)
    return [_run(tf, [up, down]), names if by_while else None]


def refused_arguments(tf, np):
    Defun, functional, _ = _names(tf)
    twice, pair = Defun(tf.float32)(lambda x: x * 2.0), Defun(tf.float32)(lambda x: (x, x))
    small, whole = Defun(tf.float32)(lambda x: x < 3.0), Defun(tf.float32)(lambda x: tf.cast(x, tf.int32))
    numbered = Defun(tf.int32, tf.float32)(lambda i, x: (x, x))
    integer = Defun(tf.int32, tf.float32)(lambda i, x: i)
    made = [
        functional.If(True, [1], twice, twice),
        functional.If(True, [1.0, 2.0], twice, twice),
        functional.While([1.0], small, pair),
        functional.While([1.0], small, whole),
        functional.While([1], small, twice),
        functional.For(0, 3, 1, [1.0], numbered),
        functional.For(0, 3, 1, [1.0], integer),
        functional.For(0, 3, 1, [1.0], twice),
    ]
    with tf.Session() as session:
        return [raises(session.run, each) for each in made]


def calls_by_name(tf, np):
    Defun, functional, _ = _names(tf)
    square = Defun(tf.float32)(lambda x: x * x)
    made = [
        functional.partitioned_call([3.0], square),
        functional.partitioned_call([tf.constant(4.0)], f=square, tout=[tf.float32]),
        functional.Gradient([3.0, 1.0], square, name="slope"),
    ]
    return [[each[0].op.type for each in made], made[2][0].op.name, _run(tf, made)]


def refused_loops(tf, np):
    Defun, functional, _ = _names(tf)
    types = [tf.float32] * 2
    outside = tf.constant(1.0)
    fine = Defun(*types)(lambda n, x: n > 0.0)
    two = Defun(*types)(lambda n, x: (n > 0.0, x))
    body = Defun(*types)(lambda n, x: (n - 1.0, x + n))
    three = Defun(*types)(lambda n, x: (n - 1.0, x + n, x))
    captures = Defun(*types)(lambda n, x: n > outside)
    return [
        raises(lambda: _run(tf, functional.While([5.0, 0.0], two, body)[0])),
        raises(lambda: _run(tf, functional.While([5.0, 0.0], fine, three)[0])),
        raises(lambda: functional.While([5.0, 0.0], captures, body)),
        raises(lambda: functional.While([5.0], fine, Defun(tf.float32)(lambda n: n))),
    ]


def lists(tf, np):
    _, _, lists = _names(tf)
    f32 = tf.float32
    reserved = lists.tensor_list_reserve(element_dtype=f32, element_shape=None, num_elements=3)
    filled = tf.raw_ops.TensorListSetItem(input_handle=reserved, index=1, item=[1.0, 2.0])
    rows = lists.tensor_list_from_tensor([[1.0, 2.0], [3.0, 4.0]], element_shape=[None])
    rest, last = lists.tensor_list_pop_back(rows, element_dtype=f32)
    scattered = lists.tensor_list_scatter([5.0, 6.0], [1, 0], element_shape=[])
    parts = lists.tensor_list_split([1.0, 2.0, 3.0], element_shape=None, lengths=[1, 2])
    return _run(
        tf,
        [
            lists.tensor_list_stack(filled, element_dtype=f32),
            lists.tensor_list_gather(rows, [1, 0], element_dtype=f32),
            lists.tensor_list_get_item(rows, 1, element_dtype=f32),
            lists.tensor_list_concat(rows, element_dtype=f32),
            last,
            lists.tensor_list_stack(rest, element_dtype=f32),
            lists.tensor_list_stack(scattered, element_dtype=f32),
            lists.tensor_list_concat(parts, element_dtype=f32),
        ],
    )


def names_of_bytes(tf, np):
    with tf.Graph().as_default() as graph:
        tf.negative(tf.placeholder(tf.int32, name="A"), name="B")
    given = tf.constant(0)
    message = graph.as_graph_def()
    (found,) = tf.import_graph_def(message, input_map={b"A:0": given}, return_elements=[b"B"])
    wrong = raises(lambda: tf.import_graph_def(message, return_elements=["A:B:0"]))
    return [found.inputs[0], wrong]


def sums_of_gradients_on_several_devices(tf, np):
    weights, inputs = tf.constant([[1.0]]), tf.constant([[1.0, 2.0]])
    with tf.device("/task:1"):
        first = tf.matmul(weights, inputs)
    with tf.device("/task:2"):
        second = tf.matmul(weights, inputs)
    with tf.device("/task:3"):
        total = first + second
    found = []
    for colocated in (True, False):
        (grad,) = tf.gradients(total, [weights], colocate_gradients_with_ops=colocated)
        found.append([grad.op.colocation_groups(), [x.op.colocation_groups() for x in grad.op.inputs]])
    return found


_DECLARED = {
    "as many of other types": ["float32", "float32"],
    "too few": ["float32"],
    "too many": ["float32", "int32", "int32"],
    "others and too few": ["int32"],
}


@cases(*[(op, key) for op in ("PartitionedCall", "StatefulPartitionedCall") for key in _DECLARED])
def results_that_the_function_does_not_have(tf, np, op, key):
    Defun, _, _ = _names(tf)
    function = Defun(tf.float32, func_name="NumberAndInteger")(lambda x: (x + 1.0, tf.cast(x, tf.int32)))
    function.add_to_graph(tf.get_default_graph())

    def called():  # TensorFlow refuses too few while it builds the graph
        return _run(tf, getattr(tf.raw_ops, op)(args=[tf.constant(1.0)], Tout=_DECLARED[key], f=function))

    return raises(called)


@cases(3, None)
def calls_of_no_function(tf, np, f):
    return raises(lambda: tf.raw_ops.PartitionedCall(args=[1.0], Tout=["float32"], f=f))
