"""Examples a second that are parsed into tensors: by columns, by protobuf's own parser, by TensorFlow's."""

import json
import subprocess
from pathlib import Path

import numpy as np

import tideflow as tf
from benchmarks.peers import PEERS, QUIET
from benchmarks.serving.driver import say
from benchmarks.serving.tensorflow_parsing import rate

SCRIPT = Path(__file__).with_name("tensorflow_parsing.py")
BATCHES = (1, 32, 1024)
COUNT = 1024  # examples of each kind

# Features of an Example: name, type, how many values.
KINDS = {
    "a click: 13 integers, 26 words": [
        *((f"number{i}", "int64", 1) for i in range(13)),
        *((f"word{i}", "string", 1) for i in range(26)),
    ],
    "a picture: 784 floats, a label": [("picture", "float32", 784), ("label", "int64", 1)],
    "a query: a word, an age, 20 integers": [
        ("user", "string", 1),
        ("age", "float32", 1),
        ("seen", "int64", 20),
    ],
}


def parsing(work: Path, pictures: Path, seconds: float) -> str:
    """The table of all kinds of Examples and sizes of batches. All parsers get the same bytes, and must make
    the same numbers of them.
    """
    rows = [
        "| an Example | rows | Tideflow, by columns | protobuf | TensorFlow | to protobuf | to TensorFlow |",
        "|---|---|---|---|---|---|---|",
    ]
    for title, features in KINDS.items():
        say(f"parsing {title}")
        examples = made(features)
        file = work / "examples.tfrecord"
        with tf.io.TFRecordWriter(str(file)) as writer:
            for example in examples:
                writer.write(example)
        theirs = _by_tensorflow(file, features, seconds)
        for batch in BATCHES:
            batches = [examples[i : i + batch] for i in range(0, COUNT, batch)]
            ours, our_sum = by_columns(batches, features, seconds)
            generic, generic_sum = by_protobuf(batches, features, seconds)
            their_rate, their_sum = theirs.get(str(batch), (None, our_sum))
            np.testing.assert_allclose([generic_sum, their_sum], our_sum, rtol=1e-5)
            rows.append(
                f"| {title} | {batch:,} | {ours:,.0f} | {generic:,.0f} | "
                f"{f'{their_rate:,.0f}' if their_rate else 'not installed'} | {ours / generic:.1f} × | "
                f"{f'{ours / their_rate:.1f} ×' if their_rate else ''} |"
            )
    return "\n".join(rows)


def made(features) -> list[bytes]:
    """Serialised Examples with made-up values."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(COUNT):
        example = tf.train.Example()
        for name, dtype, size in features:
            feature = example.features.feature[name]
            if dtype == "string":
                feature.bytes_list.value.extend(b"%08x" % n for n in random.integers(1 << 32, size=size))
            elif dtype == "int64":
                feature.int64_list.value.extend(random.integers(100_000, size=size).tolist())
            else:
                feature.float_list.value.extend(random.random(size).tolist())
        found.append(example.SerializeToString())
    return found


def by_columns(batches, features, seconds: float) -> tuple[float, float]:
    """Examples a second through a session of ours, as a served model parses them, and the sum of numbers."""
    spec = {name: tf.FixedLenFeature([size], tf.as_dtype(dtype)) for name, dtype, size in features}
    with tf.Graph().as_default(), tf.Session() as session:
        serialized = tf.placeholder(tf.string, [None])
        parse = session.make_callable(tf.parse_example(serialized, spec), [serialized])
        fed = [np.array(batch, object) for batch in batches]
        return rate(parse, fed, seconds)


def by_protobuf(batches, features, seconds: float) -> tuple[float, float]:
    """The same by protobuf's own parser, message by message, into one array for each feature."""
    lists = {"string": "bytes_list", "int64": "int64_list", "float32": "float_list"}
    types = {"string": object, "int64": np.int64, "float32": np.float32}

    def parse(batch):
        messages = [tf.train.Example.FromString(example).features.feature for example in batch]
        return {
            name: np.array([getattr(message[name], lists[dtype]).value for message in messages], types[dtype])
            for name, dtype, _ in features
        }

    return rate(parse, batches, seconds)


def _by_tensorflow(file: Path, features, seconds: float) -> dict[str, tuple[float, float]]:
    python = PEERS["tensorflow"].python
    if not python.exists():
        return {}
    task = json.dumps(
        {"file": str(file), "features": features, "seconds": seconds, "batches": BATCHES, "count": COUNT}
    )
    done = subprocess.run(
        [python, SCRIPT, task], env=QUIET, capture_output=True, text=True, check=True, timeout=600
    )
    return json.loads(done.stdout.splitlines()[-1])
