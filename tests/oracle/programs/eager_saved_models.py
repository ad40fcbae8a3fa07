"""SavedModels that were written for sessions, loaded as objects in eager mode."""

from kit import raises
from saved_files import Folder

EAGER = True


def _save(tf, path, resource, words):
    """A model with a variable of either kind, a local variable and a table."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        word = tf.placeholder(tf.string, [None], name="word")
        v = tf.get_variable("v", initializer=3.0, use_resource=resource)
        extra = tf.Variable(
            2.0, collections=["local_variables"], trainable=False, use_resource=True, name="extra"
        )
        table = tf.contrib.lookup.index_table_from_file(words)
        y = x * v
        total = y * extra
        if not resource:  # TensorFlow knows no gradients of branches and loops that it has loaded
            y = tf.cond(x > 0.0, lambda: x * v, lambda: x - v)
            total = tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, t + y * extra), [0, 0.0])[1]
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        tf.saved_model.simple_save(
            session,
            path,
            {"x": x, "word": word},
            {"y": tf.identity(y, name="y"), "total": total, "number": table.lookup(word)},
            legacy_init_op=tf.group(tf.tables_initializer(), extra.initializer),
        )


def _loaded(tf, folder, resource=True):
    words = folder("words.txt")
    with open(words, "w") as file:
        file.write("a\nb\nc\n")
    _save(tf, folder("m"), resource, words)
    return tf.saved_model.load_v2(folder("m"))


def _by_name(outputs):
    return [(name, outputs[name]) for name in sorted(outputs)]


def signatures_are_functions(tf, np):
    with Folder() as folder:
        model = _loaded(tf, folder)
        serve = model.signatures["serving_default"]
        word = tf.constant(["c", "z", "a"])
        with tf.GradientTape() as tape:
            outputs = serve(x=tf.constant(4.0), word=word)
        watched = [v.name for v in tape.watched_variables()]
        slopes = tape.gradient(outputs["total"], model.variables)
        model.variables[0].assign(5.0)
        within = tf.function(lambda x: serve(x=x, word=word)["y"] + 1.0)
        return [
            sorted(model.signatures),
            [(v.name, v.trainable) for v in model.variables],
            watched,
            _by_name(outputs),
            slopes,
            _by_name(serve(x=tf.constant(-1.0), word=word)),
            within(tf.constant(2.0)),
            len(model.asset_paths),
            raises(serve, tf.constant(2.0)),
            raises(serve, x=tf.constant(2.0)),
        ]


def references_are_read(tf, np):
    with Folder() as folder:
        model = _loaded(tf, folder, resource=False)
        outputs = model.signatures["serving_default"](x=tf.constant(4.0), word=tf.constant(["b"]))
        return _by_name(outputs), [v.name for v in model.variables]


def other_parts_of_a_model(tf, np):
    with Folder() as folder:
        model = _loaded(tf, folder)
        part = model.prune("x:0", {"y": "y:0"})
        return [
            part(tf.constant(2.0)),
            part(x=tf.constant(-2.0)),
            model.prune([], model.graph.get_operation_by_name("extra").outputs[0]) is not None,
            raises(model.prune, "v", "y:0"),
        ]


def signatures_that_need_more_than_they_take(tf, np):
    with Folder() as folder:
        with tf.Graph().as_default(), tf.Session() as session:
            x, y = (tf.placeholder(tf.float32, [], name=name) for name in "xy")
            tf.saved_model.simple_save(session, folder("m"), {"x": x}, {"z": x + y})
        return type(_caught(tf.saved_model.load_v2, folder("m"))).__name__


def _caught(function, *args):
    try:
        function(*args)
    except Exception as error:
        return error
    return None
