"""What tests of TF-Agents found: functions that wait, tapes in them, layers called twice, tables of lists."""

import importlib
import tempfile

from kit import cases, names, raises


def _module(tf, name):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow." + name)


def _controls(tensor):
    return tensor.op.type, sorted(op.name for op in tensor.op.control_inputs)


def calls_wait_for_operations_outside(tf, np):
    # An operation of outside in a function's control_dependencies makes the call wait.
    v = tf.Variable(1.0, use_resource=True, name="v")
    up = v.assign_add(1.0)

    @tf.function
    def initialized(x):
        tf.compat.v1.variables_initializer([v])
        return x + 1.0

    @tf.function
    def waiting(x):
        with tf.control_dependencies([up, v.initializer]):
            inner = tf.identity(x)
        with tf.control_dependencies([inner]):
            return x * 2.0

    @tf.function
    def around(x):
        return waiting(x) + 1.0

    results = [initialized(tf.constant(2.0)), waiting(tf.constant(3.0)), around(tf.constant(4.0))]
    with tf.Session() as sess:
        values = [sess.run(results[0]), sess.run(v), sess.run(results[2])]
    return [_controls(tensor) for tensor in results], values


def tapes_in_functions_see_variables_used_before(tf, np):
    v = tf.Variable([1.0, 2.0], use_resource=True)
    w = tf.Variable([3.0, 4.0], use_resource=True)
    fixed = tf.Variable([5.0, 6.0], use_resource=True, trainable=False)

    @tf.function
    def stepped(x):
        before = x * v * fixed
        found = []
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v * x * fixed) + tf.reduce_sum(w * before)
            found.append([g for g in tape.gradient(loss, [v, w, fixed]) if g is not None])
        return before, found

    made = stepped(tf.constant(2.0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(made)


def layers_trained_twice_in_a_function(tf, np):
    layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
    layer(tf.ones([1, 2]))
    optimizer = tf.train.GradientDescentOptimizer(0.1)

    @tf.function
    def trained(x):
        first = layer(x)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(layer(x) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, layer.trainable_weights), layer.weights))
        return first, layer(x)

    made = trained(tf.constant([[1.0, 2.0]]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(made), sess.run(layer.weights)


@cases("Conv1D", "Conv2D", "Conv3D", "SeparableConv2D")
def a_convolution_called_twice(tf, np, kind):
    layer = getattr(tf.keras.layers, kind)(2, 2, padding="same")
    rank = int(kind[-2])
    for size in (4, 4, 6):
        layer(tf.ones([1] + [size] * rank + [3]))
    tf.nn.convolution(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 1]), "SAME", name="plain")
    return names(tf)


def variables_of_version_2(tf, np):
    made = [tf.compat.v2.Variable(1.0, name="a"), tf.compat.v2.Variable([2], trainable=False)]
    with tf.variable_scope("s"):
        made.append(tf.compat.v2.Variable(lambda: tf.zeros([2])))
    return (
        [(v.name, v.op.type, v.trainable, type(v).__name__) for v in made],
        [isinstance(v, tf.compat.v2.Variable) for v in made],
        isinstance(tf.Variable(1.0), tf.compat.v2.Variable),
        raises(lambda: tf.compat.v2.Variable(1.0, use_resource=False)),
        raises(lambda: tf.compat.v2.Variable(1.0, collections=[])),
    )


def dense_features_of_version_2(tf, np):
    ids = tf.feature_column.categorical_column_with_identity("a", 3)
    columns = [
        tf.feature_column.embedding_column(ids, 2, initializer=tf.ones_initializer()),
        tf.feature_column.numeric_column("n"),
    ]
    layer = tf.compat.v2.keras.layers.DenseFeatures(columns)
    other = tf.compat.v2.keras.layers.DenseFeatures.from_config(layer.get_config())
    first = tf.keras.layers.DenseFeatures(columns, name="first")
    features = {"a": [[1], [2]], "n": [[0.5], [1.5]]}
    features = {key: tf.constant(value) for key, value in features.items()}
    made = [layer(features), other(features), layer(features), first(features)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run(made)
    return (
        values,
        [w.name for each in (layer, other, first) for w in each.trainable_weights],
        [v.name for v in tf.global_variables()],
        type(layer).__name__,
    )


def tables_of_lists(tf, np):
    lists = _module(tf, "python.ops.list_ops")
    empty = lists.empty_tensor_list(element_shape=[2], element_dtype=tf.float32)
    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.variant, default_value=empty, empty_key=-1, deleted_key=-2, name="t"
    )
    one = lists.tensor_list_push_back(empty, tf.constant([1.0, 2.0]))
    two = lists.tensor_list_push_back(one, tf.constant([3.0, 4.0]))
    key = lambda *numbers: tf.constant(numbers if len(numbers) > 1 else numbers[0], tf.int64)
    inserts = [table.insert(key(3), two), table.insert(key(4, 5), tf.stack([one, two]))]
    found, many = table.lookup(key(3)), table.lookup(key(3, 9, 4))
    lengths = tf.map_fn(lists.tensor_list_length, many, dtype=tf.int32)
    with tf.Session() as sess:
        sess.run(inserts)
        before = sess.run([lists.tensor_list_stack(found, tf.float32), lengths, table.size()])
        sess.run(table.remove(key(3, 5)))
        return before, sess.run([lists.tensor_list_length(found), table.size()]), [found, many]


def loaded_functions_describe_their_results(tf, np):
    module = tf.Module()
    module.v = tf.Variable(2.0, use_resource=True)
    shape = tf.TensorSpec([None], tf.float32, name="x")
    module.named = tf.function(lambda x: {"a": x * 2.0, "b": x}, input_signature=[shape])
    module.nested = tf.function(lambda x: {"a": x, "b": (x, [x + 1.0])}, input_signature=[shape])
    module.alone = tf.function(lambda x: x * module.v, input_signature=[shape])
    folder = tempfile.mkdtemp()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.saved_model.save(module, folder, signatures=module.named.get_concrete_function())
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.compat.v2.saved_model.load(folder)
        signature = loaded.signatures["serving_default"]
        sess.run(tf.global_variables_initializer())
        called = sess.run([signature(tf.constant([3.0]))["a"], loaded.alone(tf.constant([3.0]))])
    traced = [function.concrete_functions[0] for function in (loaded.named, loaded.nested, loaded.alone)]
    return (
        called,
        sorted((name, repr(spec)) for name, spec in signature.structured_outputs.items()),
        [[repr(spec) for spec in tf.nest.flatten(function.structured_outputs)] for function in traced],
        [[str(shape) for shape in tf.nest.flatten(function.output_shapes)] for function in traced],
    )


def functions_are_shown_over_modules(tf, np):
    # A package shows the function also after the module of the same name was imported.
    inner = _module(tf, "contrib.framework.python.ops.arg_scope")
    package = _module(tf, "contrib.framework.python.ops")
    return callable(package.arg_scope), package.arg_scope is inner.arg_scope, callable(inner)


def seeds_are_salted(tf, np):
    util = _module(tf, "python.ops.distributions.util")
    return [util.gen_new_seed(seed, salt) for seed in (None, 0, 7, 2**40) for salt in ("", "loc", "scale")]
