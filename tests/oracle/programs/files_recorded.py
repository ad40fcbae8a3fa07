"""`tf.contrib.summary`: summaries that steps write by themselves, the nodes of it and the files."""

import glob

from kit import cases, graph, raises
from supervised import folder_of_its_own


def _events(tf, folder):
    found = []
    for path in sorted(glob.glob(folder + "/*")):
        for event in tf.train.summary_iterator(path):
            event.wall_time = 0
            if event.WhichOneof("what") == "graph_def":
                event.graph_def = b"a graph"
            for value in event.summary.value:
                if value.HasField("image"):
                    value.image.encoded_image_string = b"a picture"
            found.append(event.SerializeToString())
    return sorted(found)  # those of one step in any order


def _stable(tf):
    """The nodes but for the directory, which is another each time."""
    return graph(tf, ["T", "dtype", "max_images", "max_outputs"])


def _model(tf):
    step = tf.train.get_or_create_global_step()
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
        return v, tf.assign_add(step, 1)


@cases("always", "never", "nothing said", "every other step")
def numbers(tf, np, when):
    s = tf.contrib.summary
    with folder_of_its_own() as folder:
        v, train = _model(tf)
        recording = {
            "always": s.always_record_summaries,
            "never": s.never_record_summaries,
            "every other step": lambda: s.record_summaries_every_n_global_steps(2),
        }
        writer = s.create_file_writer(folder, flush_millis=10000)
        with writer.as_default():
            if when == "nothing said":
                s.scalar("loss", tf.reduce_sum(v))
            else:
                with recording[when](), tf.name_scope("outer"):
                    s.scalar("loss", tf.reduce_sum(v))
                    s.scalar("in a family", 3, family="some", step=7)
                    s.histogram("v", v)
            written = s.all_summary_ops()
            closed = writer.close()
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(s.summary_writer_initializer_op())
                done = []
                for _ in range(4):
                    done.append(session.run(written))
                    session.run(train)
                session.run(closed)
                after = raises(session.run, writer.flush())
        return [done, after, _events(tf, folder), _stable(tf)]


def all_kinds(tf, np):
    s = tf.contrib.summary
    with folder_of_its_own() as folder, tf.Session() as session:
        tf.train.get_or_create_global_step()
        writer = s.create_file_writer(folder, 1, filename_suffix=".mine", name="here")
        writer.set_as_default()
        metadata = tf.SummaryMetadata(display_name="shown")
        with s.always_record_summaries():
            s.image("picture", np.ones([2, 3, 3, 1], "f"), max_images=1, step=1)
            s.audio("sound", np.zeros([2, 8], "f"), 8000.0, 2, step=2)
            s.generic("tensor", [[1, 2], [3, 4]], metadata, step=3)
            s.generic("words", ["a", "b"], step=4)
            s.scalar("number", np.int64(5), step=5)
        event = tf.Event(step=9, file_version="of another")
        imported = s.import_event(event.SerializeToString())
        early = raises(session.run, s.all_summary_ops())
        session.run(tf.global_variables_initializer())
        tf.summary.initialize(tf.get_default_graph(), session)
        session.run(s.all_summary_ops())
        session.run(imported)
        session.run(s.flush())
        names = sorted(name.rpartition(".")[2] for name in glob.glob(folder + "/*"))
        nodes = _stable(tf)
        other = s.create_file_writer(None)
        with other.as_default():
            pass
        return [early, names, _events(tf, folder), nodes, other.init(), other.flush(), other.close()]


def what_is_refused(tf, np):
    s = tf.contrib.summary
    with folder_of_its_own() as folder:
        writer = s.create_file_writer(folder)
        with writer.as_default():
            no_session = raises(tf.summary.initialize)
            no_tensor = raises(s.graph, tf.get_default_graph())
        return [no_session, no_tensor, s.eval_dir("a"), s.eval_dir("a", "b")]
