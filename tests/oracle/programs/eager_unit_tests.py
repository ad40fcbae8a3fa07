"""What unit tests of eager mode found to differ."""

from kit import raises

EAGER = True


def whole_numbers_and_texts_have_no_gradients(tf, np):
    number, text, x = tf.constant(3), tf.constant("a"), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([number, text, x])
        square = number * number
        mixed = tf.cast(number, tf.float32) * x
    return [
        tape.gradient(*pair)
        for pair in ((number, number), (square, number), (text, text), (text, x), (mixed, [number, x]))
    ]


def metrics_take_ragged_values(tf, np):
    metric = tf.keras.metrics.Accuracy()
    first = tf.ragged.constant([[1], [2], [3]])
    metric.update_state(first, first)
    weights = tf.ragged.constant([[0.5], [0.2]])
    after = metric(tf.ragged.constant([[2], [1]]), tf.ragged.constant([[2], [0]]), sample_weight=weights)
    mean = tf.keras.metrics.Mean()
    return (
        after,
        mean(tf.ragged.constant([[1.0], [2.0, 6.0]])),
        raises(lambda: metric(first, [[1], [2], [3]])),
    )


def shapes_are_computed_by_layers_that_are_built(tf, np):
    class Counts(tf.keras.layers.Layer):
        built_times = 0

        def build(self, input_shape):
            self.built_times += 1

        def call(self, inputs):
            return inputs

    layer = Counts(dtype="float64")
    shape = layer.compute_output_shape((None, 10))
    times = [layer.built_times]
    layer(np.ones((5, 10)))
    return shape.as_list(), [*times, layer.built_times]


def initialization_waits(tf, np):
    made = []

    @tf.function
    def scaled(x):
        if not made:
            made.append(tf.Variable(2.0))
        return made[0] * x

    initialize = scaled.get_initialization_function(tf.constant(1.0))
    before = tf.raw_ops.VarIsInitializedOp(resource=made[0].handle)
    initialize()
    return before, made[0].numpy(), scaled(tf.constant(3.0))


def targets_have_the_type_of_outputs(tf, np):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, dtype="float64", kernel_initializer="ones")])
    model.compile("sgd", lambda true, predicted: true - predicted)
    ones = np.ones((2, 1))
    return model.train_on_batch(ones, np.ones((2, 2))), model.predict(ones).dtype.name


def a_stack_that_data_has_built_is_built_again(tf, np):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.train_on_batch(np.ones((5, 3)), np.ones((5, 1)))
    again = tf.keras.Sequential.from_config(model.get_config())
    return [weight.shape.as_list() for weight in again.weights]


def variables_of_functions_begin_with_values_from_outside(tf, np):
    @tf.function(autograph=False)
    def made_of_a_tensor():
        return tf.Variable(tf.constant(2.0), use_resource=True).read_value()

    return raises(made_of_a_tensor)


def copies_are_tensors_of_their_own(tf, np):
    x = tf.constant([1, 2])
    return x.cpu() is x, x.cpu()


def functions_come_after_operations_outside(tf, np):
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", initializer=1.0, use_resource=True)
        session.run(variable.initializer)
        before = variable.assign_add(1.0)

        @tf.function(autograph=False)
        def after():
            with tf.control_dependencies([before]):
                return tf.constant(1.0)

        return session.run(after()), session.run(variable)


def jacobians_of_batches_of_any_size(tf, np):
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.stack([x[:, 0] * x[:, 1], x[:, 1], x[:, 0]], axis=1)
        return tape.batch_jacobian(y, x)

    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return [
        slopes(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])),
        raises(tape.jacobian, y, x, experimental_use_pfor=False),
        raises(tf.GradientTape().batch_jacobian, y, x, experimental_use_pfor=False),
        raises(tf.GradientTape().batch_jacobian, x[0], x),
    ]


def parts_of_wrapped_functions(tf, np):
    v, w = tf.Variable(0), tf.Variable(0)

    def grow(x):
        step = tf.compat.v1.placeholder(tf.int32, [], name="step")
        v.assign_add(step, name="grow", read_value=False)
        with tf.control_dependencies([w.assign_add(x)]):
            return tf.identity(x, name="same")

    wrapped = tf.compat.v1.wrap_function(grow, [tf.TensorSpec([], tf.int32)])
    both = wrapped.prune("step:0", (wrapped.graph.get_operation_by_name("grow"),))
    return [
        wrapped(tf.constant(3)),
        v,
        w,
        both(tf.constant(2)),
        both(step=tf.constant(5)),
        v,
        [op.name for op in both.graph.control_outputs],
        wrapped.prune(wrapped.inputs, "same:0")(tf.constant(7)),
        type(raises(wrapped.prune, [], "grow")).__name__,
    ]
