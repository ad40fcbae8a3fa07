"""What unit tests of Keras in graph mode found to differ."""

from kit import raises


def lambdas_own_the_variables_that_they_make(tf, np):
    layer = tf.keras.layers.Lambda(lambda x: x * tf.Variable(2.0, name="multiplier"))
    outputs = [layer(tf.ones([2, 2])) for _ in range(3)]
    with tf.keras.backend.get_session().as_default():
        values = [tf.keras.backend.get_value(output) for output in outputs]
    return [weight.name for weight in layer.trainable_weights], values


def shapes_of_lambdas(tf, np):
    given = [(10, 10), (10, 20)]
    same = tf.keras.layers.Lambda(lambda x: x, output_shape=[(10,), (20,)])
    one = tf.keras.layers.Lambda(lambda x: x, output_shape=(None, 10))
    return [
        [shape.as_list() for shape in same.compute_output_shape(given)],
        one.compute_output_shape((5, 10, 20)).as_list(),
    ]


def models_refuse_layers_of_scopes(tf, np):
    x = tf.keras.Input((1,))
    y = tf.keras.layers.Dense(1)(tf.layers.Dense(1, name="old")(x))
    return [
        raises(lambda: tf.keras.Model(x, y)),
        raises(lambda: tf.keras.Sequential([tf.keras.layers.Dense(1), tf.layers.Dense(1)])),
    ]


def dynamic_layers_are_refused_when_a_model_is_compiled(tf, np):
    class Dynamic(tf.keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(dynamic=True, **kwargs)

        def call(self, inputs):
            return tf.stack([row * 2.0 for row in inputs])

        def compute_output_shape(self, input_shape):
            return input_shape

    model = tf.keras.Sequential([Dynamic(input_shape=(3,))])
    return model.dynamic, model.output_shape, raises(lambda: model.compile("sgd", "mse"))


def samples_may_be_numbers(tf, np):
    x = tf.keras.Input(batch_shape=(None,))
    model = tf.keras.Model(x, tf.keras.layers.Flatten()(x))
    return model.predict(np.arange(3.0))


def a_function_sees_the_learning_phase_around_it(tf, np):
    class Phase(tf.keras.layers.Layer):
        @tf.function
        def call(self, inputs, training=None):
            training = tf.keras.backend.learning_phase() if training is None else training
            return tf.cond(tf.cast(training, tf.bool), lambda: inputs + 1.0, lambda: inputs)

    model = tf.keras.Sequential([Phase(input_shape=(1,))])
    model.compile(tf.keras.optimizers.RMSprop(0.0), loss="mae")
    zeros = np.zeros((1, 1))
    return model.fit(zeros, zeros, verbose=0).history["loss"], model.evaluate(zeros, zeros, verbose=0)


def types_of_signatures(tf, np):
    policy = tf.keras.mixed_precision.experimental.Policy("infer_float32_vars")
    layer = tf.keras.layers.Dense(5, dtype=policy)
    layer(tf.ones([2, 2], tf.float16))
    found = layer.compute_output_signature(tf.TensorSpec((2, 2), tf.float16))
    return found.dtype.name, found.shape.as_list()


def a_stack_of_one_layer(tf, np):
    model = tf.keras.Sequential(tf.keras.layers.Dense(2, kernel_initializer="ones"))
    return len(model.layers), model.predict(np.ones((1, 3))), raises(tf.keras.Sequential().pop)


def the_training_mode_may_be_required(tf, np):
    class Told(tf.keras.layers.Layer):
        def call(self, inputs, training):
            return tf.cond(tf.cast(training, tf.bool), lambda: inputs + 100.0, lambda: inputs)

    model = tf.keras.Sequential([Told()])
    model.compile("sgd", "mse")
    zeros = np.zeros((1, 1))
    return model.fit(zeros, zeros, verbose=0).history["loss"], model.predict(zeros)


def attributes_that_are_replaced_are_forgotten(tf, np):
    layer, last = tf.keras.layers.Layer(), tf.keras.layers.Layer()
    layer.a = tf.keras.layers.Dense(1)
    layer.a = tf.Variable(1.0)
    layer.a = layer.b = last
    layer.c = tf.Variable(2.0)
    del layer.b, layer.c
    return len(layer.submodules), len(layer.weights)


def losses_and_weights_of_outputs(tf, np):
    x = tf.keras.Input((3,))
    outputs = [tf.keras.layers.Dense(1, name=name)(x) for name in ("one", "two")]
    model = tf.keras.Model(x, outputs)
    model.compile("adam", loss={"one": "mae", "two": "mse"}, loss_weights=[1.0, 2.0])
    return [loss.fn.__name__ for loss in model.loss_functions]


def states_need_a_size_and_a_type(tf, np):
    return raises(lambda: tf.keras.layers.SimpleRNNCell(5).get_initial_state(None, None, None))


def functions_run_and_feed_more(tf, np):
    backend = tf.keras.backend
    x, y = backend.variable(0.0), backend.variable(0.0)
    a, b = backend.placeholder(shape=()), backend.placeholder(shape=())
    fed, trace = {b: 3.0}, tf.RunMetadata()
    function = backend.function(
        [a],
        [a + 1.0],
        updates=[(x, a + 10.0)],
        feed_dict=fed,
        fetches=[backend.update(y, b * 10.0)],
        options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
        run_metadata=trace,
    )
    first = function([10.0])
    fed[b] = 4.0
    second = function([20.0])
    traced = len(trace.step_stats.dev_stats) > 0
    refused = [
        raises(lambda: backend.function([a], [a], foo=1)),
        raises(lambda: backend.function([a], [a], updates=1)),
    ]
    return first, second, backend.get_value(x), backend.get_value(y), traced, refused


def compile_says_how_steps_run(tf, np):
    trace, count = tf.RunMetadata(), tf.keras.backend.variable(0.0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    model.compile("sgd", "mse", options=options, run_metadata=trace, fetches=[tf.assign_add(count, 1.0)])
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    traced = len(trace.step_stats.dev_stats) > 0
    model.compile("sgd", "mse", foo=1)
    return traced, tf.keras.backend.get_value(count), raises(lambda: model.predict(np.ones((4, 2))))


def layers_of_one_axis_have_channels_last(tf, np):
    made = [tf.keras.layers.Conv1D(1, 1), tf.keras.layers.MaxPool1D(), tf.keras.layers.GlobalMaxPool1D()]
    tf.keras.backend.set_image_data_format("channels_first")
    try:
        made.append(tf.keras.layers.Conv1D(1, 1, data_format=None))
        made.append(tf.keras.layers.AveragePooling1D(data_format=None))
    finally:
        tf.keras.backend.set_image_data_format("channels_last")
    return [layer.data_format for layer in made], tf.keras.__version__


def optimizers_of_train_count_their_own_steps(tf, np):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=3, verbose=0)
    steps = model.optimizer.iterations
    return steps.name, tf.keras.backend.get_value(steps), tf.train.get_global_step()


def subclasses_are_told_their_inputs(tf, np):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        def call(self, inputs):
            return self.dense(inputs)

    by_array, by_tensor = Own(), Own()
    by_array._set_inputs(np.ones((2, 3)))
    by_tensor._set_inputs(tf.keras.backend.placeholder((None, 3)))
    return [[str(t.shape) for t in (*m.inputs, *m.outputs)] for m in (by_array, by_tensor)]
