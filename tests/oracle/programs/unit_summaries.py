"""Summaries that eager mode and functions write, as TensorFlow's unit tests of them call and refuse them."""

import importlib
import os
import tempfile

from kit import raises

EAGER = True


def _module(tf, name):
    """An inner module; under Tideflow, what stands for it."""
    if tf.__name__ == "tideflow":
        from tideflow.programs.finder import Facade

        return Facade(f"tensorflow.python.{name}")
    return importlib.import_module(f"tensorflow.python.{name}")


def _steps_and_tags(tf, folder):
    files = tf.gfile.ListDirectory(folder)
    assert len(files) == 1
    events = tf.train.summary_iterator(os.path.join(folder, files[0]))
    return [(event.step, [value.tag for value in event.summary.value]) for event in events]


def _names(tf):
    return _module(tf, "ops.summary_ops_v2")


def steps_and_conditions(tf, np):
    names, folder = _names(tf), tempfile.mkdtemp()
    writer = names.create_file_writer_v2(folder)
    step = tf.Variable(-1, dtype=tf.int64, use_resource=True)

    @tf.function
    def even():
        step.assign_add(1)
        return tf.equal(step % 2, 0)

    @tf.function
    def written():
        with writer.as_default(), names.record_if(even):
            return [names.write("tag", 1, step=step) for _ in range(3)]

    answers = [[bool(x) for x in written()] for _ in range(2)]
    with writer.as_default():
        missing = raises(names.write, "tag", 1)
        names.set_step(7)
        answers.append(bool(names.write("other", [1, 2])))
        names.set_step(None)
    return [answers, missing, names.write("tag", 1), names.get_step(), _steps_and_tags(tf, folder)]


def what_is_on_the_disk_and_when(tf, np):
    names, folder = _names(tf), tempfile.mkdtemp()
    writer = names.create_file_writer_v2(folder, max_queue=1000, flush_millis=10**6)
    counts = [len(_steps_and_tags(tf, folder))]
    with writer.as_default():
        for flush in (lambda: None, writer.flush, names.flush, lambda: names.flush(writer._resource)):
            names.write("tag", 1, step=0)
            flush()
            counts.append(len(_steps_and_tags(tf, folder)))
        names.write("tag", 1, step=0)
    writer.close()
    writer.close()
    closed = [raises(writer.init), raises(writer.set_as_default), raises(lambda: writer.as_default())]
    return [counts, len(_steps_and_tags(tf, folder)), closed]


def messages(tf, np):
    names, folder = _names(tf), tempfile.mkdtemp()
    parts = [tf.Summary(value=[tf.Summary.Value(tag=tag)]).SerializeToString() for tag in "ab"]
    with names.create_file_writer_v2(folder).as_default():
        written = bool(names.write_raw_pb(parts, step=3))
        broken = raises(names.write_raw_pb, "no message", step=3)
    return [written, broken, _steps_and_tags(tf, folder)]


def scopes(tf, np):
    names, found = _names(tf), []
    with tf.Graph().as_default():
        for name, default in [("foo", "x"), ("foo", "x"), (None, "backup"), ("f?o", "x"), ("???", "backup")]:
            with names.summary_scope(name, default) as (tag, scope), names.summary_scope("in") as inner:
                found.append((tag, scope, inner))
    return found


def writers_of_functions(tf, np):
    names, folder = _names(tf), tempfile.mkdtemp()
    kept = []

    @tf.function
    def write(tensor):
        if not kept:
            kept.append(names.create_file_writer_v2(folder))
        with kept[0].as_default():
            return names.write("tag", tensor, step=2)

    @tf.function
    def of_a_tensor():
        names.create_file_writer_v2(tf.constant(folder))

    return [bool(write(tf.constant(1))), raises(of_a_tensor), _steps_and_tags(tf, folder)]


def graphs_of_functions(tf, np):
    names, folder = _names(tf), tempfile.mkdtemp()
    unasked = raises(names.trace_export, "trace", step=1)

    @tf.function
    def power():
        return tf.constant(2) ** tf.constant(3)

    writer = names.create_file_writer_v2(folder)
    names.trace_on(graph=True, profiler=False)
    with writer.as_default():
        power()
        names.trace_export("trace", step=1)
        names.keras_model("model", tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))]), step=4)
    return [unasked, _steps_and_tags(tf, folder)]
