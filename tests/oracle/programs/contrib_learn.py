"""tf.contrib.learn: what needs no estimator."""

import os
import tempfile

from kit import cases, raises

_TEXTS = ["I like to read books", "She sings, and I like that", "TensorFlow's NNs don't sing", ""]


def words(tf, np):
    learn = tf.contrib.learn.preprocessing
    processor = learn.VocabularyProcessor(4, min_frequency=0)
    rows = list(processor.fit_transform(_TEXTS))
    seldom = learn.VocabularyProcessor(4, min_frequency=1)
    frequent = list(seldom.fit_transform(_TEXTS))
    return [
        [list(words) for words in learn.tokenizer(_TEXTS)],
        rows,
        list(processor.reverse(rows)),
        list(processor.transform(["I never read"])),
        frequent,
        len(processor.vocabulary_),
        len(seldom.vocabulary_),
        list(
            learn.VocabularyProcessor(2, tokenizer_fn=lambda texts: map(str.split, texts)).fit_transform(
                _TEXTS
            )
        ),
    ]


def saved(tf, np):
    learn = tf.contrib.learn.preprocessing
    processor = learn.VocabularyProcessor(4)
    processor.fit(_TEXTS)
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "vocabulary")
    processor.save(path)
    again = learn.VocabularyProcessor.restore(path)
    return list(again.transform(_TEXTS))


def letters(tf, np):
    processor = tf.contrib.learn.preprocessing.ByteProcessor(8)
    rows = list(processor.fit_transform(["abc", b"longer than that", "h\u00e9"]))
    return [rows, list(processor.reverse(rows))]


def vocabulary(tf, np):
    v = tf.contrib.learn.preprocessing.CategoricalVocabulary()
    numbers = [v.get("c"), v.get("a"), v.get("c")]
    for word in ["c", "a", "c", "b", "b", "d", "b"]:
        v.add(word)
    v.freeze()
    numbers += [v.get("new"), len(v), v.reverse(1)]
    v.trim(1, 3)
    numbers += [v.get(word) for word in "abcd"]
    plain = tf.contrib.learn.preprocessing.CategoricalVocabulary(support_reverse=False)
    return [numbers, len(v), raises(plain.reverse, 0)]


def categories(tf, np):
    learn = tf.contrib.learn.preprocessing
    table = [["a", "x"], ["b", "a"], ["a", float("nan")]]
    apart, shared = learn.CategoricalProcessor(), learn.CategoricalProcessor(share=True, min_frequency=1)
    return [
        list(apart.fit_transform(table)),
        list(shared.fit_transform(table)),
        list(apart.transform([["z", "x"]])),
    ]


def modes(tf, np):
    m = tf.contrib.learn.ModeKeys
    return [m.TRAIN, m.EVAL, m.INFER, raises(m.validate, "other"), raises(m.validate, "train")]


def tables(tf, np):
    path = os.path.join(tempfile.mkdtemp(), "table.csv")
    base = tf.contrib.learn.datasets.base
    with open(path, "w") as file:
        file.write("2,3\n1.0,2.5,3.0,0\n4.0,5.0,6.0,1\n")
    with_header = base.load_csv_with_header(path, "int64", "float32")
    with open(path, "w") as file:
        file.write("1,1.0,2.5\n0,4.0,5.0\n")
    without = base.load_csv_without_header(path, "int64", "float64", target_column=0)
    return [list(with_header), list(without), with_header._fields]


@cases("TaskType", "ProblemType", "PredictionKey")
def names_of(tf, np, kind):
    found = vars(getattr(tf.contrib.learn, kind))
    return sorted((name, value) for name, value in found.items() if not name.startswith("_"))
