"""tf.contrib.text, libsvm and nearest_neighbor: pairs of words, rows of files, buckets."""

import importlib
import os
import tempfile

from kit import cases, names, normal, raises, run

WORDS = ["the", "answer", "to", "life", "the", "universe", "and", "everything"]


def _module(tf, name):
    """TensorFlow's own contrib has these modules only for who imports them."""
    return (
        importlib.import_module("tensorflow.contrib." + name)
        if tf.__name__ == "tensorflow"
        else getattr(tf.contrib, name)
    )


_OPTIONS = {
    "plain": {},
    "one distance": {"min_skips": 2, "max_skips": 2},
    "self": {"min_skips": 0, "max_skips": 3, "emit_self_as_target": True},
    "middle": {"start": 2, "limit": 4},
    "end": {"start": 6, "limit": 100},
    "nothing": {"limit": 0},
    "beyond": {"start": 8},
    "alone": {"max_skips": 0, "min_skips": 0},
    "often": {"vocab_min_count": 10},
    "sampled": {"vocab_subsampling": 0.05, "corpus_size": 1335, "vocab_min_count": 6},
    "a tenth": {"vocab_subsampling": 0.1},
    "batches": {"vocab_min_count": 3, "batch_size": 4},
    "corpus": {"corpus_size": 50},
}


@cases(*list(_OPTIONS)[:8])
def skip_grams(tf, np, which):
    text = _module(tf, "text")
    tf.set_random_seed(3)
    pairs = text.skip_gram_sample(tf.constant(WORDS), seed=5, **_OPTIONS[which])
    numbers = text.skip_gram_sample(tf.range(8), seed=7, **_OPTIONS[which])
    with tf.Session() as session:
        return [pairs, numbers, [session.run([pairs, numbers]) for _ in range(3)], names(tf)]


def _table(tf, default=-1):
    keys = tf.constant(["and", "life", "the", "to", "universe"])
    values = tf.constant([10, 5, 1000, 300, 20], tf.int64)
    return tf.contrib.lookup.HashTable(
        tf.contrib.lookup.KeyValueTensorInitializer(keys, values), default_value=default
    )


@cases("plain", "often", "sampled")
def of_a_vocabulary(tf, np, which):
    options = _OPTIONS[which]
    text = _module(tf, "text")
    pairs = text.skip_gram_sample(
        tf.constant(WORDS * 3), 1, 1, vocab_freq_table=_table(tf), seed=2, **options
    )
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return [session.run(pairs) for _ in range(2)] + [names(tf)]


@cases("plain", "a tenth", "batches", "corpus")
def of_a_file(tf, np, which):
    options = _OPTIONS[which]
    text = _module(tf, "text")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "words.txt")
        with open(path, "w") as file:
            file.write("x,the,9\ny,life,3\nz,to,1\n")
        pairs = text.skip_gram_sample_with_text_vocab(
            tf.constant(WORDS), path, vocab_token_index=1, vocab_freq_index=2, min_skips=1, max_skips=1,
            seed=4, **options
        )  # fmt: skip
        with tf.Session() as session:
            session.run(tf.tables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            found = session.run(pairs)
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=5)
            return [pairs, found]


def refused_texts(tf, np):
    text = _module(tf, "text")
    sample = text.skip_gram_sample
    words = tf.constant(WORDS)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "words.txt")
        with open(path, "w") as file:
            file.write("the,9\nlife,-3\n")
        of_file = text.skip_gram_sample_with_text_vocab
        return [
            raises(lambda: sample(words, vocab_min_count=3)),
            raises(lambda: sample(words, vocab_freq_table=_table(tf), vocab_subsampling=0.1)),
            raises(lambda: sample(words, vocab_freq_table=_table(tf), vocab_subsampling=2.0, corpus_size=5)),
            raises(lambda: sample(words, vocab_freq_table={})),
            raises(lambda: sample(tf.constant([WORDS]))),
            raises(lambda: run(tf, sample(words, min_skips=-1))),
            raises(lambda: run(tf, sample(words, min_skips=3, max_skips=1))),
            raises(lambda: of_file(words, path)),
            raises(lambda: of_file(words, path, vocab_token_index=-1)),
            raises(lambda: of_file(words, path, vocab_token_index=1)),
            raises(lambda: of_file(words, path, vocab_freq_index=7)),
        ]


@cases(
    (["1 1:3.4 2:0.5 4:0.231", "1 2:2.5 3:inf 5:0.503"], 6, None, None),
    ([["1"], ["-1 5:2"]], 6, "float64", "int32"),
    (["  2   1:1  ", "3 9:1 0:4 0:4"], 6, "int64", "float32"),
)
def libsvm_rows(tf, np, rows, count, dtype, label_dtype):
    libsvm = _module(tf, "libsvm")
    dtype, label_dtype = dtype and tf.as_dtype(dtype), label_dtype and tf.as_dtype(label_dtype)
    features, labels = libsvm.decode_libsvm(tf.constant(rows), count, dtype, label_dtype)
    return [labels, features.values, run(tf, [features, labels]), names(tf)]


@cases("x 1:1", "1 a:1", "1 1", "1.5 1:1", "", "1 -1:1", "1 1:", "1 1:2:3")
def libsvm_refused(tf, np, row):
    libsvm = _module(tf, "libsvm")
    return raises(lambda: run(tf, libsvm.decode_libsvm(tf.constant([row]), 3)[1]))


@cases((2, 3, 12), (1, 6, 64), (6, 1, 6), (3, 2, 1))
def probes(tf, np, tables, planes, count):
    nearest_neighbor = _module(tf, "nearest_neighbor")
    products = tf.constant(normal(np, 5, tables * planes), tf.float32)
    found = nearest_neighbor.hyperplane_lsh_probes(products, tables, planes, count)
    return run(tf, list(found))


@cases(([[1.0, 2.0]], 1, 3, 1), ([[1.0, 2.0]], 1, 2, 5), ([1.0, 2.0], 1, 2, 1), ([[1.0, 2.0]], 0, 2, 1))
def probes_refused(tf, np, products, tables, planes, count):
    nearest_neighbor = _module(tf, "nearest_neighbor")
    found = nearest_neighbor.hyperplane_lsh_probes(products, tables, planes, count)
    return raises(lambda: run(tf, list(found)))
