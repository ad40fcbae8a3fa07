"""What libraries written for TensorFlow 1 take for granted: functions with and without types, rows changed in
place, numbers wrapped around, gradients seeded with another shape, traces of variables of unknown shape.
"""

from kit import cases, raises, run


def _defun(tf, *types, **options):
    """The decorator, which the two engines have in different places."""
    if "tideflow" in tf.__name__:
        from tideflow.functions.defun import Defun
    else:
        from tensorflow.python.framework.function import Defun
    return Defun(*types, **options)


def _inplace(tf):
    if "tideflow" in tf.__name__:
        from tideflow.programs.inner.graph import inplace_names

        return inplace_names
    from tensorflow.python.ops import inplace_ops

    return inplace_ops


# ---------------------------------------------------------------------------------- functions


def function_without_types_and_its_gradient(tf, np):
    @_defun(tf, compiled=True)
    def slopes(x, y, dz):
        return dz * y * 10, dz * x * 10

    @_defun(tf, grad_func=slopes, compiled=True)
    def product(x, y):
        return x * y

    found = []
    for dtype in (tf.float32, tf.float64):
        a, b = tf.constant(2, dtype), tf.constant(3, dtype)
        z = product(a, b)
        found += [z.dtype.name, run(tf, [z, tf.gradients(z, [a, b])])]
    return found


def function_of_any_number_of_arguments(tf, np):
    def gradient(op, *grads):
        return [grads[0] * 5, None]

    def shapes(op):
        return [op.inputs[0].shape]

    @_defun(tf, tf.float32, tf.float32, func_name="first", python_grad_func=gradient, shape_func=shapes)
    def first(*args):
        taken, _ = args
        return tf.identity(taken)

    x = tf.constant([2.0])
    y = first(x, x)
    return [y.op.type, y.shape, run(tf, [y, tf.gradients(y, x)[0]])]


def names_of_functions_without_types(tf, np):
    @_defun(tf, func_name="same")
    def same(x):
        return tf.identity(x)

    values = [1.0, 1, True, "a", np.float64(1), np.int64(1), np.complex64(1)]
    return [same(value).op.type for value in values]


def variables_of_functions_stand_in_the_scope_around(tf, np):
    @_defun(tf, tf.float32)
    def scaled(x):
        return x * tf.get_variable("w", [], initializer=tf.ones_initializer()) * 2

    with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
        y = scaled(3.0)
        tf.get_variable("w", [])
    names = [variable.name for variable in tf.trainable_variables()]
    return [names, run(tf, [y, tf.gradients(y, tf.trainable_variables())])]


def gradient_function_set_later(tf, np):
    @_defun(tf, tf.float32, tf.float32)
    def seven(x, dy):
        return dy * 7

    @_defun(tf, tf.float32)
    def double(x):
        return x * 2

    double.set_grad_func(seven)
    x = tf.constant(1.0)
    return [run(tf, tf.gradients(double(x), x)), double.python_grad_func is None, double.stateful_ops]


def functions_that_are_refused(tf, np):
    return [
        raises(lambda: _defun(tf, tf.float32)(lambda x, y: x)),
        raises(lambda: _defun(tf, tf.float32)(lambda x, y=1: x)),
        raises(lambda: _defun(tf, tf.float32)(3)),
        raises(lambda: _defun(tf, tf.float32, tf.float32)(lambda x, y: x)(1.0)),
    ]


# ---------------------------------------------------------------------------------- rows


@cases(
    {
        "a row": lambda np: (1, np.full(3, 9, np.float32)),
        "rows": lambda np: ([0, 2], np.full((2, 3), 9, np.float32)),
        "all": lambda np: (None, np.full((4, 3), 9, np.float32)),
        "a row by int64": lambda np: (np.int64(2), np.full(3, 9, np.float32)),
    }
)
def rows_changed(tf, np, given):
    rows, values = given(np)
    functions = _inplace(tf)
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    kinds = [functions.inplace_update, functions.inplace_add, functions.inplace_sub]
    kinds += [functions.alias_inplace_update, functions.alias_inplace_add, functions.alias_inplace_sub]
    return [run(tf, kind(tf.constant(x), rows, values)) for kind in kinds]


def rows_that_nobody_has_set(tf, np):
    return run(tf, _inplace(tf).empty_like(np.ones([2, 3], np.int64), init=True))


# ---------------------------------------------------------------------------------- numbers and gradients


def numbers_that_a_type_cannot_hold(tf, np):
    given = [
        (~(1 << 31), tf.int32),
        ([3000000000, 1], tf.int32),
        (256, tf.uint8),
        (300, tf.int8),
        (-1, tf.uint8),
    ]
    given += [([[70000]], tf.uint16), (-1, tf.uint64), (-2147483649, tf.int16)]
    return [run(tf, tf.constant(value, dtype)) for value, dtype in given]


@cases(
    {
        "reshaped": lambda tf, x: (tf.reshape(x * 2, [3, 1]), [3]),
        "itself": lambda tf, x: (x, [1, 3]),
        "another size": lambda tf, x: (x * 2, [4]),
        "a product": lambda tf, x: (tf.matmul([x], tf.ones([3, 2])), [1, 1, 2]),
    }
)
def gradients_seeded_with_another_shape(tf, np, build):
    x = tf.constant([1.0, 2.0, 3.0])
    y, shape = build(tf, x)
    found = []
    refused = raises(lambda: found.append(tf.gradients(y, x, tf.ones(shape))[0]))
    return run(tf, found[0]) if found else refused


def a_trace_of_a_variable_whose_shape_is_unknown(tf, np):
    held = tf.Variable(tf.placeholder_with_default([[1.0, 2.0]], None), validate_shape=False)
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as session:
        session.run(held.initializer, options=options, run_metadata=metadata)
        return [session.run(held), bool(metadata.step_stats.dev_stats)]
