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


def _again(tf, path, root):
    tf.saved_model.save(root, path)
    return tf.saved_model.load_v2(path)


def functions_in_dictionaries_and_lists(tf, np):
    root = tf.train.Checkpoint()
    root.functions = {"a": tf.function(lambda: tf.constant(100.0))}
    root.functions["concrete"] = root.functions["a"].get_concrete_function()
    root.parts = [tf.Variable(1.0), 1, tf.Variable(3.0)]
    with Folder() as folder:
        loaded = _again(tf, folder("m"), root)
        parts = [None if part is None else part.numpy() for part in loaded.parts]
        return loaded.functions["a"](), loaded.functions["concrete"](), parts


def functions_of_properties(tf, np):
    class Counting(tf.Module):
        count = 0

        @property
        def made(self):
            value = self.count
            made = tf.function(lambda: tf.constant(value))
            made.get_concrete_function()
            self.count += 1
            return made

    counting = Counting()
    with Folder() as folder:
        return _again(tf, folder("m"), counting).made(), counting.made()


def tables_stay_apart(tf, np):
    keys = tf.constant(["a", "b"])
    root = tf.train.Checkpoint()

    def lookup_in(table):
        signature = [tf.TensorSpec(None, tf.string)]
        return tf.function(lambda x: table.lookup(x), input_signature=signature)

    for name, values in (("first", [1, 2]), ("second", [3, 4])):
        initializer = tf.lookup.KeyValueTensorInitializer(keys, tf.constant(values))
        table = tf.lookup.StaticHashTable(initializer, -1)
        setattr(root, f"{name}_table", table)
        setattr(root, name, lookup_in(table))
    with Folder() as folder:
        loaded = _again(tf, folder("m"), root)
        return loaded.first(keys), loaded.second(keys)


def loaded_variables_are_not_trained_by_default(tf, np):
    root = tf.train.Checkpoint(v=tf.Variable(2.0))
    with Folder() as folder:
        tf.saved_model.save(root, folder("m"))
        with tf.Graph().as_default():
            loaded = tf.saved_model.load_v2(folder("m"))
            return loaded.v.trainable, len(tf.global_variables()), len(tf.trainable_variables())


def functions_of_partials(tf, np):
    import functools

    root = tf.train.Checkpoint()
    root.f = tf.function(functools.partial(lambda x, y: x + y, y=tf.ones([1])))
    root.f(tf.constant([3.0]))
    with Folder() as folder:
        return _again(tf, folder("m"), root).f(tf.constant([5.0]))


def loops_of_sessions_in_functions(tf, np):
    """A model with a loop, called in a function on a batch whose size is known there."""
    with Folder() as folder:
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None, 2], name="x")
            y = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * 2.0), [0, x])[1]
            tf.saved_model.simple_save(session, folder("m"), {"x": x}, {"y": y})
        model = tf.saved_model.load_v2(folder("m")).signatures["serving_default"]
        return tf.function(lambda a: model(a)["y"])(tf.ones([3, 2]))


def _revived_types(tf):
    if tf.__name__ == "tideflow":
        from tideflow.saved_model import revived_types
    else:
        from tensorflow.python.saved_model import revived_types
    return revived_types


def objects_of_registered_classes(tf, np):
    types, given = _revived_types(tf), []

    class Numbered(tf.Module):
        number = 0

    def version(number, *bounds, **options):
        def made(message):
            found = Numbered()
            found.number = number
            return found

        return types.VersionedTypeRegistration(made, number, *bounds, **options)

    def setter(parent, name, child):
        given.append(name)
        setattr(parent, name, child)

    def is_numbered(value):
        return isinstance(value, Numbered)

    def found(producer, consumer, bad):
        message.version.producer, message.version.min_consumer = producer, consumer
        message.version.bad_consumers[:] = bad
        revived = types.deserialize(message)
        return None if revived is None else [revived[0].number, revived[1] is setattr]

    refused = [
        raises(types.register_revived_type, "none", is_numbered, []),
        raises(types.register_revived_type, "twice", is_numbered, [version(1, 1, 1), version(1, 1, 1)]),
    ]
    newest = version(4, 4, 2, bad_consumers=[3], setter=setter)
    types.register_revived_type("numbered", is_numbered, [version(1, 1, 1), version(3, 3, 2), newest])
    refused.append(raises(types.register_revived_type, "numbered", is_numbered, [version(1, 1, 1)]))
    root = tf.Module()
    root.part, root.other = Numbered(), tf.Module()
    root.part.v, root.other.v = tf.Variable(3.0), tf.Variable(4.0)
    with Folder() as folder:
        loaded = _again(tf, folder("m"), root)
        whole = [loaded.part.number, loaded.part.v, loaded.other.v, [name for name in given if name == "v"]]
    message = types.serialize(Numbered())
    text = message.SerializeToString()
    cases = [(1, 1, []), (2, 1, []), (3, 2, []), (4, 2, [4]), (4, 2, [4, 3]), (5, 5, []), (0, 1, [])]
    return [
        refused,
        whole,
        [text, types.serialize(tf.Module()), "numbered" in types.registered_identifiers()],
        [found(*case) for case in cases],
    ]
