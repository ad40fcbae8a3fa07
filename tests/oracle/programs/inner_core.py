"""Inner modules that unit tests of the core import: op types, trees, sums of operators, loops, marks."""

import importlib
import threading

from kit import cases, raises, run


def _module(tf, name):
    """An inner module; under Tideflow, what stands for it."""
    if tf.__name__ == "tideflow":
        from tideflow.programs.finder import Facade

        return Facade(f"tensorflow.python.{name}")
    return importlib.import_module(f"tensorflow.python.{name}")


def operations_by_op_type(tf, np):
    library = _module(tf, "framework.op_def_library")
    registry = _module(tf, "framework.op_def_registry")
    adds = library.OpDefLibrary()
    for name in ("AddN", "IdentityN", "Pack", "Where", "Assert"):
        adds.add_op(registry.get_registered_ops()[name])
    x = tf.constant([1.0, 2.0], name="x")
    return [
        adds.apply_op("AddN", inputs=[x, [3.0, 4.0]], name="sum"),
        adds.apply_op("Pack", values=[x, x], axis=None),
        adds.apply_op("Where", input=[True], name="where"),
        raises(adds.apply_op, "AddN", inputs=[x, None]),
        raises(adds.apply_op, "AddN", inputs=[x, "a"]),
        raises(adds.apply_op, "AddN", inputs=x),
        raises(adds.apply_op, "AddN"),
        raises(adds.apply_op, "AddN", inputs=[x], N=1),
        raises(adds.apply_op, "AddN", inputs=[x], extra=1),
        raises(adds.apply_op, "IdentityN", input=[x, None]),
        raises(adds.apply_op, "NoSuchOp"),
    ]


def trees(tf, np):
    ops, resources = _module(tf, "ops.boosted_trees_ops"), _module(tf, "ops.resources")
    ensemble = ops.TreeEnsemble("trees", stamp_token=5)
    quantiles = ops.QuantileAccumulator(0.01, 2, 10, name="quantiles")
    columns = [tf.constant([1.0, 2.0, 3.0]), tf.constant([5.0, 1.0, 2.0])]
    with tf.Session() as session:
        session.run(resources.initialize_resources(resources.shared_resources()))
        session.run(quantiles.add_summaries(columns, tf.ones([3])))
        session.run(quantiles.flush())
        return [
            session.run(ensemble.get_states()),
            session.run(ensemble.get_stamp_token()),
            [tuple(session.run(ensemble.serialize()))],
            session.run(quantiles.get_bucket_boundaries()),
            [ops.PruningMode.from_str("post"), raises(ops.PruningMode.from_str, "x")],
        ]


def sums_of_operators(tf, np):
    addition = _module(tf, "ops.linalg.linear_operator_addition")
    diagonal = tf.linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True, name="A")
    identity = tf.linalg.LinearOperatorIdentity(2, name="B")
    triangle = tf.linalg.LinearOperatorLowerTriangular([[1.0, 0.0], [3.0, 4.0]], name="C")
    (whole,) = addition.add_operators([diagonal, identity, triangle])
    (double,) = addition.add_operators([identity, identity], operator_name="twice")
    return [
        [type(whole).__name__, whole.name, type(double).__name__, double.name],
        run(tf, [whole.to_dense(), double.to_dense()]),
        raises(addition.add_operators, []),
        raises(addition.add_operators, [diagonal, 5]),
        raises(addition.add_operators, [diagonal, tf.linalg.LinearOperatorIdentity(3)]),
    ]


def loops_and_jacobians(tf, np):
    loops = _module(tf, "ops.parallel_for.control_flow_ops")
    gradients = _module(tf, "ops.parallel_for.gradients")
    x = tf.constant(np.arange(6.0).reshape(3, 2))

    def row(i):
        return tf.gather(x, i) * 2, tf.cast(i, tf.float64)

    return [
        run(tf, loops.pfor(row, 3)),
        run(tf, loops.for_loop(row, (tf.float64, tf.float64), 3)),
        run(tf, [gradients.jacobian(x * x, x), gradients.batch_jacobian(x * x, x)]),
        raises(loops.pfor, row, 3, parallel_iterations=1),
        raises(loops.for_loop, row, [tf.float64], 3),
    ]


def checks_of_distributions(tf, np):
    util = _module(tf, "ops.distributions.util")
    special = _module(tf, "ops.distributions.special_math")
    whole = tf.placeholder_with_default(np.float32([1, 2.5]), [2])
    return [
        run(tf, [special.ndtri([0.1, 0.5]), special.erfinv([0.5]), special.log_cdf_laplace([-1.0, 2.0])]),
        run(tf, util.rotate_transpose(tf.zeros([1, 2, 3]), -1)).shape,
        util.pick_vector(tf.constant(True), [1, 2], [3]),
        raises(util.pick_vector, 5, [1], [2]),
        raises(lambda: run(tf, util.embed_check_integer_casting_closed(whole, tf.int32))),
        raises(util.embed_check_integer_casting_closed, whole, tf.float64),
        raises(util.embed_check_categorical_event_shape, tf.ones([1])),
        run(tf, util.same_dynamic_shape(tf.ones([2]), tf.ones([3]))),
        util.prefer_static_shape(tf.ones([2, 3])),
    ]


def variables_as_operations(tf, np):
    state = _module(tf, "ops.state_ops")
    variable = state.variable_op([2], tf.float32)
    open_shape = state.variable_op([], tf.float32, set_shape=False)
    started = state.init_variable(state.variable_op_v2([2], tf.int32), [3, 4])
    with tf.Session() as session:
        session.run(state.assign(variable, [1.0, 2.0]))
        return [variable, open_shape, session.run(variable), session.run(started)]


def rows_of_several_steps(tf, np):
    ops = _module(tf, "ops.gen_batch_ops")
    x = tf.placeholder(tf.float32, [1])
    (rows,), index, number = ops.batch([x], 1, 2, 36000000, 0, batching_queue="")
    doubled = ops.unbatch(rows * 2, index, number, timeout_micros=1000000, shared_name="doubled")
    found = {}
    with tf.Session() as session:
        threads = [
            threading.Thread(target=lambda n=n: found.update({n: session.run(doubled, {x: [n]})}))
            for n in (1.0, 2.0)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return [found[1.0], found[2.0]]


def functions_on_a_device(tf, np):
    function, functional = _module(tf, "framework.function"), _module(tf, "ops.functional_ops")
    product = function.Defun(tf.int32, tf.int32)(lambda a, b: a * b)
    device = "/job:localhost/replica:0/task:0/device:CPU:0"
    return run(tf, functional.remote_call(args=[3, 4], Tout=[tf.int32], f=product, target=device))


def marks_of_an_api(tf, np):
    marks = _module(tf, "util.tf_export")

    def symbol(x, y):
        return x + y

    marks.tf_export("a.b", "c", v1=["old"])(symbol)
    return [
        [marks.get_v1_names(symbol), marks.get_v2_names(symbol), marks.get_canonical_name_for_symbol(symbol)],
        raises(marks.tf_export, "estimator.x"),
        [marks.kwarg_only(symbol)(x=1, y=2), raises(marks.kwarg_only(symbol), 1, 2)],
    ]


def edges_that_are_replaced(tf, np):
    total = tf.add(tf.constant(1.0, name="a"), 2.0)
    return [
        raises(total.op._update_input, 0, tf.constant([1.0, 2.0])),
        raises(total.op._update_input, 5, tf.constant(1.0)),
        raises(tf.get_default_graph()._kernel_label_map({5: "a"}).__enter__),
        raises(tf.register_tensor_conversion_function, int, lambda *args, **kwargs: None),
    ]


def tape_of_a_variable_itself(tf, np):
    variable = tf.get_variable("v", initializer=[2.0, 3.0], use_resource=True)
    with tf.GradientTape() as tape:
        gradient = tape.gradient(variable, variable)
    return run(tf, gradient)


@cases("list", "number", "none", "message", "text", "wrong text")
def values_of_a_raw_constant(tf, np, kind):
    values = {
        "list": [1.0, 2.0],
        "number": 1,
        "none": None,
        "message": tf.make_tensor_proto([1.0, 2.0]),
        "text": "dtype: DT_FLOAT float_val: 3",
        "wrong text": "a",
    }

    def made():
        return run(tf, tf.raw_ops.Const(value=values[kind], dtype=tf.float32))

    return made() if kind in ("message", "text") else raises(made)
