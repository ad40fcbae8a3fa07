"""Names from inside TensorFlow that libraries of its time look up, replace and put back."""

import glob
import importlib
import os
import tempfile

from kit import raises


def _module(tf, name):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow." + name)


def gradients_are_replaced_and_put_back(tf, np):
    registry = _module(tf, "python.framework.ops")._gradient_registry
    x = tf.constant([-1.0, 2.0])
    found = ["Relu" in registry._registry, "OfNobody" in registry._registry, "Relu" in registry.list()]
    same = registry.lookup("Relu") is registry._registry["Relu"]["type"]

    def gradient():
        with tf.Session() as sess:
            return sess.run(tf.gradients(tf.nn.relu(x), x))[0]

    own = registry._registry["Relu"]["type"]
    registry._registry["Relu"]["type"] = lambda op, grad: grad * 5.0
    replaced = gradient()
    registry._registry["Relu"]["type"] = own
    return (
        (found, same, replaced, gradient()),
        raises(lambda: registry.lookup("OfNobody")),
        registry.lookup("Shape") is None,
    )


def the_whole_registry_is_put_back(tf, np):
    registry = _module(tf, "python.framework.ops")._gradient_registry
    saved = dict(registry._registry)
    registry._registry["Tanh"] = {"type": lambda op, grad: grad * 3.0, "location": None}
    registry._registry["OfAProgram"] = {"type": lambda op, grad: grad, "location": None}
    x = tf.constant(0.5)
    replaced = tf.gradients(tf.tanh(x), x)[0]
    known = "OfAProgram" in registry._registry
    registry._registry = saved
    with tf.Session() as sess:
        values = sess.run([replaced, tf.gradients(tf.tanh(x), x)[0]])
    return values, known, "OfAProgram" in registry._registry


def a_gradient_beside_a_call(tf, np):
    decorator = _module(tf, "python.ops.custom_gradient")._graph_mode_decorator
    x = tf.constant([1.0, 2.0])
    y = decorator(lambda x: (x * 2.0, lambda grad: grad * 10.0), x)
    util = _module(tf, "python.ops.gradients_util")
    kinds = tf.float32, tf.int32, tf.bfloat16, tf.complex64, tf.resource, tf.string
    trainable = [bool(util.IsTrainable(kind)) for kind in kinds]
    with tf.Session() as sess:
        values = sess.run([y, tf.gradients(y, x)[0]])
    return values, trainable, bool(util._IsBackpropagatable(tf.constant(1, tf.bfloat16)))


def events_are_written_into_a_file(tf, np):
    writers = _module(tf, "python.pywrap_tensorflow")
    with tempfile.TemporaryDirectory() as folder:
        writer = writers.EventsWriter(os.path.join(folder, "log").encode())
        name = writer.FileName()
        summary = tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.5)])
        writer.WriteEvent(tf.Event(wall_time=1.0, step=3, summary=summary))
        refused = raises(lambda: writer.WriteEvent(summary))
        writer.Flush()
        writer.Close()
        paths = glob.glob(os.path.join(folder, "*"))
        events = list(tf.train.summary_iterator(paths[0]))
        begins = os.path.basename(paths[0]).startswith("log.out.tfevents.")
        return (
            [(e.step, e.file_version, [v.simple_value for v in e.summary.value]) for e in events],
            (begins, paths == [name.decode()], refused),
        )


def parts_of_keras_by_their_older_names(tf, np):
    keras = _module(tf, "contrib.keras")
    model = keras.models.Sequential([keras.layers.Dense(2, input_shape=(3,))])
    sequences = _module(tf, "contrib.keras.api.keras.preprocessing.sequence")
    inner = _module(tf, "python.keras.optimizers")
    return (
        model.count_params(),
        sequences.pad_sequences([[1], [2, 3]]),
        [inner.adam_v2.Adam is tf.keras.optimizers.Adam, hasattr(keras, "Model")],
        keras.utils.to_categorical([1, 0]),
    )


def variables_and_what_is_ready(tf, np):
    v = tf.get_variable("v", [3], use_resource=True)
    slices = _module(tf, "python.ops.array_ops")
    collected = _module(tf, "python.ops.variables")
    scopes = _module(tf, "python.ops.variable_scope")
    manager = _module(tf, "python.training.session_manager")
    with scopes._pure_variable_scope("inner", reuse=tf.AUTO_REUSE):
        names = tf.get_variable("w", [1]).name, tf.constant(1, name="c").name
    part = slices._SliceHelperVar(v, slice(0, 2))
    missing = tf.report_uninitialized_variables()
    with tf.Session() as sess:
        before = manager._ready(missing, sess, "not ready")
        sess.run(tf.global_variables_initializer())
        after = manager._ready(missing, sess, "not ready"), manager._ready(None, sess, "not ready")
    saved = [each.name for each in collected._all_saveable_objects()]
    return part.shape.as_list(), names, before, after, saved, collected._all_saveable_objects("nothing")


def tasks_in_turn(tf, np):
    setters = _module(tf, "python.training.device_setter")
    strategy = setters._RoundRobinStrategy(3)
    return [strategy(None) for _ in range(5)], "VarHandleOp" in setters.STANDARD_PS_OPS


def columns_and_hooks(tf, np):
    columns = _module(tf, "python.feature_column.feature_column_lib")
    stopping = _module(tf, "contrib.estimator.python.estimator.early_stopping")
    number = tf.feature_column.numeric_column("a")
    features = columns.DenseFeatures([number])({"a": [[1.0], [2.0]]})
    with tf.Session() as sess:
        values = sess.run(features)
    return (
        (values, columns.is_feature_column_v2([number])),
        type(stopping._StopOnPredicateHook(lambda: True)).__name__,
        raises(lambda: stopping._StopOnPredicateHook(None)),
    )
