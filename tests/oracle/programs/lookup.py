"""Lookup tables: filled from tensors and files, changed by steps, with buckets for unknown keys."""

import os
import tempfile

from kit import cases, graph, names, product, raises

_ATTRS = ["key_dtype", "value_dtype", "Tin", "Tout", "key_index", "value_index", "vocab_size", "_class"]


def _file(contents):
    handle, path = tempfile.mkstemp()
    with os.fdopen(handle, "wb") as file:
        file.write(contents)
    return path


def _steps(tf, *fetches):
    """The result, or the error, of each step in turn; tables are not filled before."""
    results = []
    with tf.Session() as session:
        for fetch in fetches:
            error = raises(session.run, fetch)
            results.append(session.run(fetch) if error == "no error" else error)
    return results


def _filled(tf, *fetches):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(list(fetches))


def _sorted(pairs):
    keys, values = pairs
    return sorted(zip(keys.tolist(), values.tolist()))


# ------------------------------------------------------------------------------------------ static tables

_PAIRS = {
    "string-int64": (["a", "b", "c"], [1, 2, 3], "zz", -1),
    "string-int32": (["a", "b", "c"], [1, 2, 3], "zz", -1),
    "string-float32": (["a", "b", "c"], [0.5, -2.0, 3.0], "zz", -1.0),
    "string-float64": (["a", "b", "c"], [0.5, -2.0, 3.0], "zz", -1.0),
    "string-string": (["a", "b", "c"], ["x", "", "z"], "zz", "?"),
    "string-bool": (["a", "b", "c"], [True, False, True], "zz", False),
    "int64-int64": ([5, -7, 2**40], [1, 2, 3], 0, -1),
    "int64-string": ([5, -7, 2**40], ["x", "y", "z"], 0, "?"),
    "int64-float32": ([5, -7, 2**40], [0.5, 1.5, 2.5], 0, 9.0),
}


@cases(*sorted(_PAIRS))
def static_tables(tf, np, kinds):
    key_dtype, value_dtype = (tf.as_dtype(kind) for kind in kinds.split("-"))
    keys, values, other, default = _PAIRS[kinds]
    source = tf.lookup.KeyValueTensorInitializer(keys, values, key_dtype, value_dtype)
    table = tf.lookup.StaticHashTable(source, default)
    asked = tf.constant([[keys[0], other], [keys[2], keys[0]]], key_dtype)
    found, size = table.lookup(asked), table.size()
    empty = table.lookup(tf.constant([], key_dtype))
    unknown = table.lookup(tf.placeholder(key_dtype))
    exported = table.export()
    values = _filled(tf, found, size, empty, exported)
    return [
        found,
        size,
        empty,
        unknown,
        exported,
        graph(tf, _ATTRS),
        values[:3],
        _sorted(values[3]),
        [table.key_dtype, table.value_dtype, table.name, table.initializer, table.default_value],
    ]


def many_numbers(tf, np):
    keys = (np.arange(2000) * 7919) % 100003
    source = tf.lookup.KeyValueTensorInitializer(keys, np.arange(2000) * 2)
    table = tf.lookup.StaticHashTable(source, -1)
    asked = np.arange(-50, 5000)
    return _filled(tf, *[table.lookup(tf.constant(asked)) for _ in range(3)])


def collections_of_tables(tf, np):
    path = _file(b"a\nb\n")
    nothing = tf.tables_initializer()
    one = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1, name="one")
    with tf.name_scope("scope"):
        two = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(path, tf.string, -2, tf.int64, -1, name="file"), -1, name="two"
        )
    made = [tf.tables_initializer(), tf.initialize_all_tables("all"), tf.initializers.tables_initializer()]
    return [
        nothing,
        made,
        names(tf),
        [op.name for op in tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)],
        [t.name for t in tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)],
        [one.name, two.name],
    ]


def sparse_keys(tf, np):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    vocabulary = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1], value_dtype=tf.int64), 3
    )
    keys = tf.SparseTensor([[0, 0], [1, 2]], ["a", "q"], [2, 3])
    found = [table.lookup(keys), vocabulary.lookup(keys)]
    return [found, names(tf), _filled(tf, *found)]


def states_of_a_static_table(tf, np):
    ops = tf.raw_ops
    table = ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    keys, values = ["a", "b"], np.array([1, 2])

    def find(asked=("a", "z"), default=np.int64(-1)):
        return ops.LookupTableFindV2(table_handle=table, keys=list(asked), default_value=default)

    def fill(k, v, by=ops.InitializeTableV2):
        return by(table_handle=table, keys=k, values=v)

    return _steps(
        tf,
        ops.LookupTableSizeV2(table_handle=table),
        find(),
        ops.LookupTableExportV2(table_handle=table, Tkeys=tf.string, Tvalues=tf.int64),
        fill([1], values[:1]),
        fill(["a", "a"], values),
        ops.LookupTableSizeV2(table_handle=table),
        fill(keys, values),
        find(),
        find(["a"], np.int32(3)),
        find([1]),
        find(default=values),
        fill(keys, values),
        fill(keys, values + 1),
        fill(["a"], values[:1]),
        fill(keys, values, ops.LookupTableImportV2),
        fill(keys, values, ops.LookupTableInsertV2),
        ops.LookupTableRemoveV2(table_handle=table, keys=keys),
        find(),
        fill(tf.placeholder_with_default(["a", "b"], None), tf.placeholder_with_default([1], None)),
    )


def shared_names(tf, np):
    ops = tf.raw_ops
    made = [
        ops.HashTableV2(key_dtype=k, value_dtype=tf.int64, shared_name="s") for k in (tf.string, tf.string)
    ]
    other = ops.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name="s")
    return _steps(
        tf,
        ops.InitializeTableV2(table_handle=made[0], keys=["a"], values=np.array([1])),
        ops.LookupTableSizeV2(table_handle=made[1]),
        ops.LookupTableSizeV2(table_handle=other),
    )


def bad_static_tables(tf, np):
    ops = tf.raw_ops
    table = ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    source = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    made = tf.lookup.StaticHashTable(source, -1)
    return [
        raises(ops.InitializeTableV2, table_handle=table, keys=["a", "b"], values=np.array([1])),
        raises(ops.InitializeTableV2, table_handle=table, keys=[["a"]], values=np.array([[1]])),
        raises(
            ops.InitializeTableFromTextFileV2,
            table_handle=table,
            filename=["a"],
            key_index=-2,
            value_index=-1,
        ),
        raises(tf.lookup.StaticHashTable, source, [1, 2]),
        raises(tf.lookup.StaticHashTable, source, "x"),
        raises(made.lookup, tf.constant([1])),
        raises(made.lookup, ["a"]),
        raises(tf.lookup.KeyValueTensorInitializer, ["a"], [1], tf.int64),
    ]


# ------------------------------------------------------------------------------------------------- files

_FILES = {
    "lines": (b"a\nb\nc\n", "string", "int64", -2, -1, {}),
    "no last new line": (b"a\nb\nc", "string", "int64", -2, -1, {}),
    "carriage returns": (b"a\r\nb\r\n", "string", "int64", -2, -1, {}),
    "numbers": (b"a\nb\n", "int64", "string", -1, -2, {}),
    "columns": (b"a\t1\nb\t2\n", "string", "int64", 0, 1, {}),
    "columns of floats": (b"a\t1.5\nb\t-2e3\n", "string", "float32", 0, 1, {}),
    "more columns": (b"a\t1\t5\nb\t2\n", "string", "int64", 0, 1, {}),
    "delimiter": (b"a 1\nb 2\n", "string", "int64", 0, 1, {"delimiter": " "}),
    "beginning": (b"a\nb\nc\n", "string", "int64", -2, -1, {"vocab_size": 2}),
    "integer keys": (b"5\n7\n", "int64", "int64", -2, -1, {}),
    "spaces": (b" a \nb\n", "string", "int64", -2, -1, {}),
    "same": (b"a\nb\n", "string", "string", -2, -2, {}),
    "empty line": (b"a\n\nc\n", "string", "int64", -2, -1, {}),
    "empty": (b"", "string", "int64", -2, -1, {}),
    "missing": (None, "string", "int64", -2, -1, {}),
    "no number": (b"a\t1\nb\tx\n", "string", "int64", 0, 1, {}),
    "too few columns": (b"a\t1\nb\n", "string", "int64", 0, 1, {}),
    "too few lines": (b"a\nb\n", "string", "int64", -2, -1, {"vocab_size": 5}),
    "twice": (b"a\na\n", "string", "int64", -2, -1, {}),
    "no integer key": (b"5\nx\n", "int64", "int64", -2, -1, {}),
    "long delimiter": (b"a 1\n", "string", "int64", 0, 1, {"delimiter": "ab"}),
}


@cases(*sorted(_FILES))
def files(tf, np, kind):
    contents, key_dtype, value_dtype, key, value, keywords = _FILES[kind]
    path = "/nowhere/at/all" if contents is None else _file(contents)
    source = tf.lookup.TextFileInitializer(
        path, tf.as_dtype(key_dtype), key, tf.as_dtype(value_dtype), value, **keywords
    )
    table = tf.lookup.StaticHashTable(source, "?" if value_dtype == "string" else 0)
    exported = table.export()
    results = _steps(tf, table.initializer, table.size(), exported)
    results[2] = _sorted(results[2]) if isinstance(results[2], tuple) else results[2]
    return [exported, graph(tf, _ATTRS), results]


def bad_files(tf, np):
    make = tf.lookup.TextFileInitializer
    return [
        raises(make, "", tf.string, -2, tf.int64, -1),
        raises(make, "f", tf.string, -3, tf.int64, -1),
        raises(make, "f", tf.string, -2, tf.int64, -3),
        raises(make, "f", tf.string, -1, tf.int64, -1),
        raises(make, "f", tf.float32, -2, tf.int64, -1),
        raises(make, "f", tf.string, -2, tf.float32, -1),
        raises(make, "f", tf.string, -2, tf.int64, -2),
        raises(make, "f", tf.string, -2, tf.int64, -1, vocab_size=0),
    ]


# ------------------------------------------------------------------------------------------ vocabularies


@cases(1, 5)
def vocabularies(tf, np, buckets):
    source = tf.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1], value_dtype=tf.int64)
    table = tf.lookup.StaticVocabularyTable(source, buckets)
    without = tf.lookup.StaticVocabularyTable(None, buckets, name="hashed/")
    asked = tf.constant(["a", "q", "b", "", "rst"])
    found = [table.lookup(asked), table.size(), without.lookup(asked), without.size()]
    return [
        found,
        graph(tf, _ATTRS),
        [table.name, without.name, table.initializer, without.initializer],
        _filled(tf, *found),
    ]


@cases("int32", "int64")
def vocabularies_of_numbers(tf, np, dtype):
    source = tf.lookup.KeyValueTensorInitializer(np.array([7, 9]), np.array([0, 1]), value_dtype=tf.int64)
    table = tf.lookup.StaticVocabularyTable(source, 4, lookup_key_dtype=tf.as_dtype(dtype))
    found = table.lookup(tf.constant([7, 8, 9, -1], tf.as_dtype(dtype)))
    return [found, names(tf), _filled(tf, found)]


def bad_vocabularies(tf, np):
    make, source = tf.lookup.StaticVocabularyTable, tf.lookup.KeyValueTensorInitializer
    strings = source(["a"], [0], value_dtype=tf.int64)
    table = make(strings, 2)
    return [
        raises(make, strings, 0),
        raises(make, source(["a"], [0.5]), 2),
        raises(make, source([0.5], [0], value_dtype=tf.int64), 2),
        raises(make, strings, 2, tf.int64),
        raises(table.lookup, tf.constant([1])),
    ]


@cases(*product([0, 2], ["fast", "strong", "legacy"]))
def tables_from_lists(tf, np, buckets, hasher):
    room = tf.contrib.lookup
    spec = {
        "fast": room.FastHashSpec,
        "strong": room.StrongHashSpec([3, 4]),
        "legacy": room.HasherSpec("legacy", None),
    }[hasher]
    table = room.index_table_from_tensor(["a", "b"], buckets, default_value=-5, hasher_spec=spec, name="n")
    found = [table.lookup(tf.constant(["b", "x", "y"])), table.size()]
    return [found, graph(tf, _ATTRS), table.name, _filled(tf, *found)]


def tables_from_numbers(tf, np):
    table = tf.contrib.lookup.index_table_from_tensor([5, 7], num_oov_buckets=3, dtype=tf.int32)
    found = table.lookup(tf.constant([7, 5, 6], tf.int32))
    return [found, graph(tf, _ATTRS), _filled(tf, found)]


@cases(0, 2)
def tables_from_files(tf, np, buckets):
    room = tf.contrib.lookup
    path = _file(b"a\nb\nc\n")
    table = room.index_table_from_file(path, buckets, vocab_size=2)
    old = room.string_to_index_table_from_file(path, buckets)
    back = room.index_to_string_table_from_file(path, default_value="-")
    asked = tf.constant(["a", "c", "b", "x"])
    found = [
        table.lookup(asked),
        old.lookup(asked),
        back.lookup(tf.constant([2, 0, 5], tf.int64)),
        table.size(),
        back.size(),
    ]
    return [found, graph(tf, _ATTRS), _filled(tf, *found)]


def strings_and_places(tf, np):
    room = tf.contrib.lookup
    found = [
        room.string_to_index(tf.constant(["b", "x"]), ["a", "b"]),
        room.index_to_string(tf.constant([1, 4], tf.int64), tf.constant(["a", "b"])),
        room.string_to_index_table_from_tensor(["a", "b"], 1).lookup(tf.constant(["b", "x"])),
        room.index_to_string_table_from_tensor(["a", "b"], "-").lookup(tf.constant([1, 4], tf.int64)),
        room.IdTableWithHashBuckets(None, 3).lookup(tf.constant(["b", "x"])),
    ]
    return [found, graph(tf, _ATTRS), _filled(tf, *found)]


def bad_vocabulary_arguments(tf, np):
    room = tf.contrib.lookup
    return [
        raises(room.index_table_from_file, None),
        raises(room.index_table_from_file, ""),
        raises(room.index_table_from_file, "f", -1),
        raises(room.index_table_from_file, "f", vocab_size=0),
        raises(room.index_table_from_file, "f", key_dtype=tf.float32),
        raises(room.index_table_from_tensor, None),
        raises(room.index_table_from_tensor, ["a"], -1),
        raises(room.index_table_from_tensor, [1]),
        raises(room.index_table_from_tensor, ["a"], dtype=tf.int64),
        raises(room.index_table_from_tensor, [0.5], dtype=tf.float32),
        raises(room.index_to_string_table_from_file, ""),
        raises(room.index_to_string_table_from_file, "f", vocab_size=0),
        raises(room.index_to_string_table_from_tensor, None),
        raises(room.string_to_index_table_from_tensor, [1]),
        raises(room.StrongHashSpec, [1]),
        raises(room.StrongHashSpec, [1, "x"]),
        raises(room.IdTableWithHashBuckets, None, 0),
        raises(room.IdTableWithHashBuckets, None, 2, hasher_spec="fast"),
        raises(room.IdTableWithHashBuckets, None, 2, key_dtype=tf.float32),
    ]


def older_hash_table(tf, np):
    room = tf.contrib.lookup
    table = room.HashTable(room.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1, shared_name="t")
    found = [table.lookup(tf.constant(["b", "x"])), table.size()]
    exported = table.export()
    return [found, exported, table.init, graph(tf, _ATTRS + ["shared_name"]), _filled(tf, *found)]


# ---------------------------------------------------------------------------------------- mutable tables


@cases(True, False)
def mutable_tables(tf, np, checkpoint):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, checkpoint=checkpoint)
    asked = tf.constant([["a", "b"], ["z", "c"]])
    found, size = table.lookup(asked), table.size()
    results = _steps(
        tf,
        found,
        table.insert(["a", "b", "a"], [1, 2, 3]),
        found,
        size,
        table.remove(tf.constant(["b", "nothing"])),
        found,
        size,
        table.insert([["c"], ["d"]], [[7], [8]]),
        found,
    )
    exported = table.export()
    return [
        graph(tf, _ATTRS + ["use_node_name_sharing"]),
        results,
        exported,
        [found, size, table.name],
        [s.name for s in tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)],
        [[spec.name for spec in s.specs] for s in tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)],
    ]


def mutable_tables_of_vectors(tf, np):
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, [-1.0, -2.0], name="vectors")
    found = table.lookup([[1, 5]])
    exported = table.export()
    results = _steps(
        tf, found, table.insert([1, 2], [[1.0, 2.0], [3.0, 4.0]]), found, table.insert([1], [1.0])
    )
    with tf.Session() as session:
        session.run(table.insert([1, 2], [[1.0, 2.0], [3.0, 4.0]]))
        pairs = _sorted(session.run(exported))
    return [found, exported, graph(tf, _ATTRS + ["value_shape"]), results, pairs]


def restored_tables(tf, np):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    (saveable,) = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
    keys, values = tf.placeholder(tf.string), tf.placeholder(tf.int64)
    restored = saveable.restore([keys, values], None)
    with tf.Session() as session:
        session.run(table.insert(["old"], [1]))
        session.run(restored, {keys: ["x", "y"], values: [5, 6]})
        return [restored, session.run([table.lookup(["x", "y", "old"]), table.size()])]


def states_of_a_mutable_table(tf, np):
    ops = tf.raw_ops
    table = ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    values = np.array([1, 2, 3])

    def insert(k, v):
        return ops.LookupTableInsertV2(table_handle=table, keys=k, values=v)

    def find(k, default=np.int64(-1)):
        return ops.LookupTableFindV2(table_handle=table, keys=k, default_value=default)

    return [
        find(tf.placeholder(tf.string, [2, None])),
        _steps(
            tf,
            insert(["a", "b"], values),
            insert(["a", "b"], values[None, :2]),
            find(["a"], values[:1]),
            insert("s", values[0]),
            find("s"),
            ops.LookupTableRemoveV2(table_handle=table, keys=[1]),
            ops.LookupTableRemoveV2(table_handle=table, keys=[["x"]]),
            ops.InitializeTableV2(table_handle=table, keys=["a"], values=values[:1]),
            ops.LookupTableImportV2(table_handle=table, keys=["q"], values=values[:1]),
            ops.LookupTableExportV2(table_handle=table, Tkeys=tf.string, Tvalues=tf.int64),
        ),
    ]


@cases("int64", "string")
def dense_tables(tf, np, kind):
    empty, deleted, a, b, c = (0, -1, 11, 12, 5) if kind == "int64" else ("", "$", "k", "l", "m")
    table = tf.lookup.experimental.DenseHashTable(
        tf.as_dtype(kind), tf.int64, -9, empty, deleted, initial_num_buckets=4
    )

    def keys(*values):
        return tf.constant(values, tf.as_dtype(kind))

    found = table.lookup(keys(a, b, c))
    results = _steps(
        tf,
        found,
        table.insert(keys(a, b), [1, 2]),
        found,
        table.size(),
        table.insert_or_assign(keys(c, a), [3, 4]),
        table.export(),
        table.erase(keys(b)),
        found,
        table.remove(keys(a)),
        table.size(),
        table.lookup(keys(empty)),
        table.lookup(keys(deleted)),
        table.insert(keys(empty), [1]),
        table.remove(keys(deleted)),
    )
    return [found, names(tf), table.name, results]


def dense_tables_of_vectors(tf, np):
    ops = tf.raw_ops
    table = ops.MutableDenseHashTableV2(
        empty_key=np.array([0, 0]),
        deleted_key=np.array([-1, -1]),
        value_dtype=tf.int64,
        value_shape=[3],
        initial_num_buckets=8,
    )
    keys, values = np.array([[1, 2], [3, 4]]), np.array([[1, 2, 3], [4, 5, 6]])
    nothing = np.zeros(3, np.int64)

    def find(k):
        return ops.LookupTableFindV2(table_handle=table, keys=k, default_value=nothing)

    return [
        find(tf.placeholder(tf.int64, [None, 2])),
        _steps(
            tf,
            ops.LookupTableInsertV2(table_handle=table, keys=keys, values=values),
            find(keys[::-1]),
            find(keys[:, None]),
            find(keys * 7),
            ops.LookupTableExportV2(table_handle=table, Tkeys=tf.int64, Tvalues=tf.int64),
            find(np.array([[0, 0]])),
            ops.LookupTableRemoveV2(table_handle=table, keys=keys[:1]),
            ops.LookupTableSizeV2(table_handle=table),
        ),
    ]


def bad_dense_tables(tf, np):
    def error(**keywords):
        given = dict(empty_key=np.int64(0), deleted_key=np.int64(-1), value_dtype=tf.int64)
        given.update(keywords)
        size = tf.raw_ops.LookupTableSizeV2(table_handle=tf.raw_ops.MutableDenseHashTableV2(**given))
        return _steps(tf, size)

    return [
        error(initial_num_buckets=5),
        error(initial_num_buckets=2),
        error(max_load_factor=1.5),
        error(deleted_key=np.int64(0)),
        error(deleted_key=np.array([1, 2])),
        error(),
    ]


def first_versions(tf, np):
    ops = tf.raw_ops
    static = ops.HashTable(key_dtype=tf.string, value_dtype=tf.int64)
    mutable = ops.MutableHashTable(key_dtype=tf.string, value_dtype=tf.int64)
    vectors = ops.MutableHashTableOfTensors(key_dtype=tf.string, value_dtype=tf.int64, value_shape=[1])
    keys, values = ["a", "b"], np.array([1, 2])

    def find(table):
        return ops.LookupTableFind(table_handle=table, keys=["b", "z"], default_value=np.int64(-1))

    results = _steps(
        tf,
        ops.InitializeTable(table_handle=static, keys=keys, values=values),
        find(static),
        ops.LookupTableSize(table_handle=static),
        ops.LookupTableInsert(table_handle=mutable, keys=keys, values=values),
        find(mutable),
        ops.LookupTableImport(table_handle=mutable, keys=keys[:1], values=values[:1]),
        ops.LookupTableExport(table_handle=mutable, Tkeys=tf.string, Tvalues=tf.int64),
        ops.LookupTableSize(table_handle=vectors),
        find(ops.HashTable(key_dtype=tf.string, value_dtype=tf.int64)),
    )
    return [static, mutable, vectors, find(static), results]
