"""`Defun` of TensorFlow 1 programs: names, options, captures, gradients, refusals."""

import re

from kit import raises


def _function(tf):
    if tf.__name__ == "tideflow":
        from tideflow.functions import defun

        return defun
    from tensorflow.python.framework import function

    return function


def names_and_attributes(tf, np):
    function = _function(tf)

    @function.Defun(tf.float32, func_name="Next", noinline=True, experimental_tag=3, _implements="a.b")
    def successor(x):
        """Successor of x."""
        return x + 1.0

    first, second = successor([1.0]), successor([1.0], name="mine")
    message = successor.definition
    return [
        first,
        second,
        message.signature.description,
        message.attr["_noinline"].b,
        message.attr["experimental_tag"].i,
        message.attr["_implements"].s,
        first.op.get_attr("_disable_call_shape_inference"),
        [op.name for op in tf.get_default_graph().get_operations()],
    ]


def overloaded(tf, np):
    function = _function(tf)

    @function.Defun(func_name="Spec")
    def gradient(x, dy):
        return x * dy

    @function.Defun(grad_func=gradient)
    def sinh(x):
        return tf.exp(x) - tf.exp(-x)

    with tf.Session() as session:
        found = []
        for dtype in (tf.float32, tf.float64):
            x = tf.constant(0.25, dtype)
            found.append(session.run([sinh(x), tf.gradients(sinh(x), x)[0]]))
    return found


def several_results(tf, np):
    function = _function(tf)

    @function.Defun(tf.float32)
    def both(x):
        return x + 1.0, x * 2.0

    results = both(3.0)
    with tf.Session() as session:
        return [type(results).__name__, session.run(results)]


def variables_of_the_callers_scope(tf, np):
    function = _function(tf)
    seen = []

    @function.Defun(tf.float32)
    def shifted(x):
        shift = tf.get_variable("shift", [2], initializer=tf.ones_initializer())
        result = x + shift
        seen.extend(v.name for v in function.get_extra_vars())
        seen.extend(t.shape.as_list() for t in function.get_extra_args())
        return result

    with tf.variable_scope("one"):
        first = shifted([1.0, 2.0])
    with tf.variable_scope("two"):
        second = shifted([3.0, 4.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [[v.name for v in tf.global_variables()], seen, session.run([first, second])]


def captured_by_value(tf, np):
    function = _function(tf)
    outside = tf.constant(2.0) * 3.0
    chance = tf.random_uniform([], maxval=10, dtype=tf.int32)

    @function.Defun(tf.float32, capture_by_value=True)
    def times(x):
        return x * outside

    @function.Defun(capture_by_value=True)
    def drawn():
        return chance + 1

    @function.Defun(capture_by_value=True, whitelisted_stateful_ops={chance.op})
    def allowed():
        return chance + 1

    with tf.Session() as session:
        return [
            session.run(times(5.0)),
            len(times.captured_inputs),
            raises(drawn),
            session.run(allowed()) >= 1,
        ]


def guaranteed_constants(tf, np):
    function = _function(tf)
    variable = tf.Variable(1.0)
    constant = tf.identity(tf.guarantee_const(variable))
    other = constant + variable
    seen = []

    @function.Defun()
    def added():
        result = constant + other
        seen.extend(arg.consumers()[0].type for arg in function.get_extra_args())
        return result

    with tf.Session() as session:
        session.run(variable.initializer)
        return [session.run(added()), seen]


def state_is_told(tf, np):
    function = _function(tf)

    @function.Defun(tf.float32)
    def checked(x):
        with tf.control_dependencies([tf.Assert(x > 0, [x])]):
            return x * 2.0

    @function.Defun()
    def drawn():
        return tf.random_uniform([2])

    @function.Defun()
    def calling():
        return drawn()

    return [
        drawn.definition.signature.is_stateful,
        calling.definition.signature.is_stateful,
        [kind for _, kind in checked.stateful_ops],
    ]


def devices_of_the_definition(tf, np):
    function = _function(tf)
    with tf.device("/cpu:0"):

        @function.Defun(tf.float32)
        def doubled(x):
            return x * 2.0

    with tf.device("/cpu:1"):
        doubled(1.0)
    (message,) = tf.get_default_graph().as_graph_def().library.function
    return sorted({node.device for node in message.node_def})


def through_a_library(tf, np):
    function = _function(tf)

    @function.Defun(tf.float32, tf.float32)
    def gradient(x, dy):
        return x * dy

    @function.Defun(tf.float32, grad_func=gradient)
    def forward(x):
        return tf.exp(x)

    x = tf.constant(3.0)
    tf.gradients(forward(x), x)
    library = tf.get_default_graph().as_graph_def().library
    made = {f.name: f for f in function.from_library(library)}
    again = made[forward.name]
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.constant(2.0)
        values = session.run([again(y), tf.gradients(again(y), y)[0]])
    return [again.grad_func_name == gradient.name, again.declared_input_types, values]


def refused(tf, np):
    function = _function(tf)
    f32 = tf.float32

    @function.Defun(f32)
    def one(x):
        return x

    @function.Defun(f32, f32, f32)
    def wrong_gradient(x, dy, dz):
        return x, dy + dz

    @function.Defun(f32, grad_func=wrong_gradient)
    def two(x):
        return x, x

    fed = tf.placeholder(f32)
    total = tf.gradients(tf.add_n(two(fed)), [fed])

    def run():
        with tf.Session() as session:
            session.run(total, {fed: 1.0})

    return [
        raises(lambda: one()),
        raises(lambda: one(1.0, 2.0)),
        raises(lambda: one(1.0, device="/gpu:0")),
        raises(lambda: function.Defun()(lambda: (None, None)).definition),
        raises(lambda: function.Defun()(lambda a=1: a)),
        raises(lambda: function.Defun()(lambda **a: a)),
        raises(lambda: function.Defun(f32)(lambda a, b: a)),
        raises(lambda: function.Defun(f32, f32)(lambda a: a)),
        raises(lambda: function.Defun(f32, out_names=["a", "b"])(lambda a: a)(1.0)),
        raises(run),
    ]


def _symbolic_gradient(tf):
    if tf.__name__ == "tideflow":
        return tf.raw_ops.SymbolicGradient
    from tensorflow.python.ops import functional_ops

    return functional_ops.symbolic_gradient


def gradient_shapes(tf, np):
    inputs = [tf.placeholder(tf.float32, shape) for shape in ([25, 4], [200, 100], [1])]
    found = _symbolic_gradient(tf)(input=inputs, Tout=[tf.float32] * 2, f="Foo")
    return [tensor.shape.as_list() for tensor in found]


def hashed_names(tf, np):
    function = _function(tf)
    made = function.Defun(tf.float32)(lambda x: x)
    return bool(re.fullmatch(r".*_[0-9a-zA-Z]{8,11}", made.name))
