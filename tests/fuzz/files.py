"""Damaged files and messages: checkpoints, records, events, images, SavedModels, Examples, iterators."""

from __future__ import annotations

import functools
import io
import random
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

import tideflow as tf
from tests.fuzz import graphs
from tests.fuzz.guard import ALLOWED_WHEN_BUILDING, little_memory, recorded, short_session
from tideflow.graph.errors import OpError
from tideflow.graph.varints import encode_varint
from tideflow.inspect import report_of
from tideflow.io import bmp, gif, jpeg, png
from tideflow.io.events import summary_iterator
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.io.records import RecordFile, framed, tf_record_iterator
from tideflow.io.saved_models import read_saved_model
from tideflow.io.tables import read_table, write_table
from tideflow.ops.datasets.iterators import restore_iterator_op

NAME = "files"

CORPUS = Path(__file__).parent.parent / "corpus"  # files that TensorFlow wrote
HUGE = [(1 << 63) - 1, (1 << 62) + 3, 1 << 40, (1 << 32) - 1, 1 << 31, 255]


class Case(NamedTuple):
    """The kind of file, the folder it belongs into, its name there, and its damaged contents."""

    kind: str
    folder: str
    name: str
    data: bytes


# ----------------------------------------------------------------------------------------------------- damage


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Bytes with a few of them changed, doubled or left out, or with a length put in that lies."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(changed) + 1)
        kind = chance.randrange(6)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and at < len(changed):
            changed[at] = chance.choice([0, 1, 0x7F, 0x80, 0xFF])
        elif kind == 2:
            del changed[at : at + chance.randint(1, 8)]
        elif kind == 3:
            changed[at:at] = changed[at : at + chance.randint(1, 16)]
        elif kind == 4:
            del changed[at:]
        else:
            lie = encode_varint(chance.choice(HUGE))
            changed[at : at + len(lie)] = lie
    return bytes(changed)


def _damaged_table(path: Path, chance: random.Random) -> bytes:
    """A table whose checksums are right, and one of whose entries is not."""
    table = dict(read_table(str(path)))
    key = chance.choice(sorted(table))
    buffer = io.BytesIO()
    write_table(buffer, sorted({**table, key: damaged(table[key], chance)}.items()))
    return buffer.getvalue()


def _damaged_records(path: Path, chance: random.Random) -> bytes:
    """Records whose checksums are right, and one of which is not."""
    with RecordFile(path) as file:
        whole = [record for _, record in file]
    at = chance.randrange(len(whole))
    whole[at] = damaged(whole[at], chance)
    return b"".join(map(framed, whole))


def _damaged_png(data: bytes, chance: random.Random) -> bytes:
    """A PNG with right checksums of its chunks."""
    chunks = list(png._chunks(data))
    at = chance.randrange(len(chunks))
    name, contents = chunks[at]
    if name == b"IDAT" and chance.random() < 0.5:
        contents = zlib.compress(damaged(zlib.decompress(contents), chance))
    else:
        contents = damaged(contents, chance)
    chunks[at] = name, contents
    return png.SIGNATURE + b"".join(png._chunk(*chunk) for chunk in chunks)


# ------------------------------------------------------------------------------------------------------ cases


@functools.cache
def _images() -> dict[str, bytes]:
    pixels = np.random.default_rng(0).integers(0, 255, (9, 7, 3), np.uint8)
    picture = Image.fromarray(pixels)
    files = {"wide.png": png.encode(pixels.astype(np.uint16) * 257)}
    for name, image, options in (
        ("a.png", picture, {}),
        ("palette.png", picture.quantize(17), {}),
        ("a.jpeg", picture, {}),
        ("progressive.jpeg", picture, {"progressive": True}),
        ("cmyk.jpeg", picture.convert("CMYK"), {}),
        ("a.gif", picture.quantize(8), {"save_all": True, "append_images": [picture.rotate(90)]}),
        ("a.bmp", picture, {}),
    ):
        buffer = io.BytesIO()
        image.save(buffer, name.rpartition(".")[2], **options)
        files[name] = buffer.getvalue()
    return files


def cases(seed: int) -> Iterator[Case]:
    """Damaged files, without end."""
    chance = random.Random(seed)
    while True:
        yield case(chance)


def case(chance: random.Random) -> Case:
    """A damaged file."""
    kind = chance.choice(sorted(CHECKS))
    if kind == "checkpoint":
        path = chance.choice(sorted(path for name in _CHECKPOINTS for path in (CORPUS / name).iterdir()))
        is_table = path.name == "m" or path.suffix == ".index"
        inside = is_table and chance.random() < 0.7
        data = _damaged_table(path, chance) if inside else damaged(path.read_bytes(), chance)
        return Case(kind, path.parent.name, path.name, data)
    if kind == "image":
        name, data = chance.choice(sorted(_images().items()))
        inside = name.endswith("png") and chance.random() < 0.6
        return Case(kind, "", name, _damaged_png(data, chance) if inside else damaged(data, chance))
    if kind == "iterator":
        state = b"tideflow iterator at %s" % chance.choice([b"0", b"3", b"%d" % (1 << 62), b"9" * 5000])
        return Case(kind, "", "state", state if chance.random() < 0.5 else damaged(state, chance))
    path = CORPUS / _PATHS[kind]
    if kind == "example":
        with RecordFile(path) as file:
            return Case(kind, "", path.name, damaged(chance.choice([record for _, record in file]), chance))
    if kind == "model" and chance.random() < 0.7:
        message = read_saved_model(path.parent)
        graphs.damage(message.meta_graphs[0], chance)
        return Case(kind, "model", path.name, message.SerializeToString())
    inside = kind in ("events", "records") and chance.random() < 0.5
    data = _damaged_records(path, chance) if inside else damaged(path.read_bytes(), chance)
    return Case(kind, "model" if kind == "model" else "", path.name, data)


_CHECKPOINTS = ("first", "objects", "second")
_PATHS = {
    "events": "events.out.tfevents.1",
    "records": "examples.tfrecord",
    "packed": "examples.gz.tfrecord",
    "example": "examples.tfrecord",
    "model": "model/saved_model.pb",
}


# ----------------------------------------------------------------------------------------------------- checks


def check(found: Case) -> None:
    """Reads a file in every way there is. Raises whatever a user must not see."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        if found.folder:
            place = Path(shutil.copytree(CORPUS / found.folder, place / found.folder))
        (place / found.name).write_bytes(found.data)
        CHECKS[found.kind](place, found)


def _refused(*allowed: type[Exception]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Errors of these kinds are answers; they must have words."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def call(*args: Any) -> None:
            try:
                function(*args)
            except allowed as error:
                assert str(error), f"{type(error).__name__} without words"

        return call

    return decorate


@_refused(OpError)
def _report(path: Path) -> None:
    report_of(path)


def _checkpoint(folder: Path, found: Case) -> None:
    @_refused(OpError)
    def read() -> None:
        with open_checkpoint(str(folder / "m")) as reader:
            for name in reader:
                _refused(OpError)(reader.read)(name)

    read()
    _report(folder / "m")


def _events(folder: Path, found: Case) -> None:
    _refused(OpError)(lambda: list(summary_iterator(folder / found.name)))()
    _report(folder / found.name)


def _records(folder: Path, found: Case) -> None:
    _refused(OpError)(lambda: list(tf_record_iterator(str(folder / found.name))))()
    _report(folder / found.name)


def _packed(folder: Path, found: Case) -> None:
    _refused(OpError)(lambda: list(tf_record_iterator(str(folder / found.name), "GZIP")))()
    _report(folder / found.name)


def _image(folder: Path, found: Case) -> None:
    decode: Callable[..., Any] = {"png": png, "jpeg": jpeg, "gif": gif, "bmp": bmp}[
        found.name.rpartition(".")[2]
    ].decode
    _refused(ValueError)(decode)(found.data)  # the kernels make InvalidArgumentError of it
    graph, given, decoded = _decoding()
    with short_session(graph) as session:
        _refused(tf.errors.InvalidArgumentError)(session.run)(decoded, {given: found.data})


@functools.cache
def _decoding() -> tuple[tf.Graph, Any, Any]:
    with tf.Graph().as_default() as graph:
        given = tf.placeholder(tf.string, [])
        return graph, given, tf.image.decode_image(given)


@_refused(*ALLOWED_WHEN_BUILDING, KeyError, OSError)  # as TensorFlow's loader
def _model(folder: Path, found: Case) -> None:
    _report(folder)
    with tf.Graph().as_default() as graph, short_session(graph) as session:
        tf.saved_model.load(session, ["serve"], str(folder))


@functools.cache
def _parsing() -> tuple[tf.Graph, Any, list[Any]]:
    features = {
        "a": tf.io.FixedLenFeature([2], tf.int64, default_value=[0, 0]),
        "f": tf.io.VarLenFeature(tf.float32),
        "s": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    }
    with tf.Graph().as_default() as graph:
        given = tf.placeholder(tf.string, [])
        return (
            graph,
            given,
            [
                tf.io.parse_example([given], features),
                tf.io.parse_single_example(given, features),
                tf.io.parse_single_sequence_example(given, {"a": features["a"]}, {"f": features["f"]}),
                tf.io.parse_tensor(given, tf.float32),
            ],
        )


def _example(folder: Path, found: Case) -> None:
    graph, given, fetches = _parsing()
    with short_session(graph) as session:
        for fetch in fetches:
            _refused(OpError)(session.run)(fetch, {given: found.data})


@_refused(OpError)
def _iterator(folder: Path, found: Case) -> None:
    with tf.Graph().as_default() as graph:
        iterator = tf.data.Dataset.range(5).make_initializable_iterator()
        restore = restore_iterator_op(iterator._iterator_resource, found.data, name="restore")
        with short_session(graph) as session:
            session.run(iterator.initializer)
            session.run(restore)
            session.run(iterator.get_next())


CHECKS: dict[str, Callable[[Path, Case], None]] = {
    "checkpoint": _checkpoint,
    "events": _events,
    "records": _records,
    "packed": _packed,
    "image": _image,
    "model": _model,
    "example": _example,
    "iterator": _iterator,
}


def one(random: random.Random, corpus: Path) -> None:
    """Makes one case and checks it."""
    found = case(random)
    with recorded(f"{NAME}-{found.kind}-{found.name}", found.data, corpus), little_memory():
        check(found)
