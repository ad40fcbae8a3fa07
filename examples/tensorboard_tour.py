"""Writes one of everything that TensorBoard shows: run it, then open the directory it names.

A small network learns to tell three kinds of pictures apart. On the way it writes scalars, histograms,
images, sounds, text, a graph with what a step costs, an embedding for the projector, a mesh, curves and
hyperparameters. docs/tensorboard.md says where to find each.
"""

import argparse
import itertools
import math
import os
import sys

import numpy as np
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import metadata as custom_scalars
from tensorboard.plugins.hparams import summary_v2 as hparams
from tensorboard.plugins.mesh import metadata as mesh_metadata
from tensorboard.plugins.mesh import plugin_data_pb2 as mesh
from tensorboard.plugins.pr_curve import metadata as pr_curve

import tideflow as tf
from tideflow.contrib import projector

SIDE, KINDS = 16, ("stripes", "disc", "noise")
STEPS, MEASURE_EVERY = 60, 5
ABOUT = "# A tour\nWhat *TensorBoard* shows of a **Tideflow** program."


def pictures(count: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Pictures [count, SIDE, SIDE, 1] of the three kinds, and which is which."""
    kinds = rng.randint(0, len(KINDS), count)
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    stripes = (x // 3 % 2).astype(np.float32)
    disc = ((x - SIDE / 2) ** 2 + (y - SIDE / 2) ** 2 < 25).astype(np.float32)
    shapes = np.stack([stripes, disc, np.full_like(disc, 0.5)])
    noise = rng.rand(count, SIDE, SIDE).astype(np.float32)
    return (0.15 * shapes[kinds] + 0.85 * noise)[..., None], kinds.astype(np.int32)


def network(rate: float):
    """The graph, in scopes and with names, as its page shows it."""
    with tf.name_scope("input"):
        x = tf.placeholder(tf.float32, [None, SIDE, SIDE, 1], name="pictures")
        y = tf.placeholder(tf.int32, [None], name="kinds")
        tf.summary.image("seen", x, max_outputs=3)
    with tf.variable_scope("convolution"), tf.device("/cpu:0"):
        kernel = tf.get_variable("kernel", [3, 3, 1, 8], initializer=tf.glorot_uniform_initializer(seed=1))
        h = tf.nn.relu(tf.nn.conv2d(x, kernel, [1, 2, 2, 1], "SAME"), name="activation")
        tf.summary.histogram("weights", kernel)
        tf.summary.histogram("made", h)
    with tf.variable_scope("classes"):
        h = tf.layers.dense(tf.layers.flatten(h), 16, tf.nn.tanh, name="features")
        classes = tf.get_variable("embedding", [3, 16], initializer=tf.glorot_uniform_initializer(seed=2))
        logits = tf.matmul(h, classes, transpose_b=True, name="logits")
    with tf.name_scope("training"):
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        accuracy = tf.reduce_mean(
            tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), y), tf.float32)
        )
        step = tf.train.AdamOptimizer(rate).minimize(loss)
        tf.summary.scalar("loss", loss)
        tf.summary.scalar("accuracy", accuracy)
    return x, y, h, tf.nn.softmax(logits), accuracy, step


def sound_and_words() -> tf.Tensor:
    """Summaries that are written once: a chord of half a second, a page of Markdown, a table."""
    seconds = np.arange(4000, dtype=np.float32) / 8000
    tones = [np.sin(2 * math.pi * tone * seconds) for tone in (220, 277.2, 329.6)]
    kinds = [["number", "kind"], *([str(i), kind] for i, kind in enumerate(KINDS))]
    with tf.name_scope("once"):
        loudness = tf.placeholder_with_default(0.3, [], name="loudness")
        return tf.summary.merge(
            [
                tf.summary.audio(
                    "chord", loudness * tf.constant(sum(tones)[None, :, None]), 8000, collections=[]
                ),
                tf.summary.text("about", tf.constant(ABOUT), collections=[]),
                tf.summary.text("kinds", tf.constant(kinds), collections=[]),
            ]
        )


def icosahedron() -> tf.Summary:
    """A mesh: twelve vertices, twenty faces, a colour for each vertex."""
    golden = (1 + 5**0.5) / 2
    flat = [(0.0, a, b * golden) for a in (-1, 1) for b in (-1, 1)]
    vertices = np.array([np.roll(each, turn) for turn in range(3) for each in flat], np.float32)
    near = np.linalg.norm(vertices[:, None] - vertices[None], axis=-1) < 2.1
    faces = [
        (i, j, k)
        for i, j, k in itertools.permutations(range(12), 3)
        if i < j and i < k and near[i, j] and near[j, k] and near[i, k]
        if np.linalg.det(vertices[[i, j, k]]) > 0  # counter-clockwise, seen from outside
    ]
    colors = ((vertices / golden + 1) * 127).astype(np.uint8)
    parts = {mesh.MeshPluginData.VERTEX: vertices, mesh.MeshPluginData.FACE: np.array(faces, np.int32)}
    parts[mesh.MeshPluginData.COLOR] = colors
    bits = mesh_metadata.get_components_bitmask(parts)
    summary = tf.Summary()
    for kind, values in parts.items():
        described = mesh_metadata.create_summary_metadata(
            "icosahedron", None, kind, bits, [1, *values.shape], None, json_config="{}"
        )
        name = mesh_metadata.get_instance_name("icosahedron", kind)
        summary.value.add(tag=name, metadata=described, tensor=tf.make_tensor_proto(values[None]))
    return summary


def curves(truth: np.ndarray, chances: np.ndarray) -> tf.Summary:
    """Precision and recall of the first kind against the rest."""
    thresholds = np.linspace(0, 1, 21)[:, None]
    said, true = chances[:, 0] >= thresholds, truth == 0
    found, wrong = (said & true).sum(1), (said & ~true).sum(1)
    rows = [found, wrong, (~said & ~true).sum(1), (~said & true).sum(1)]
    rows += [found / np.maximum(found + wrong, 1), found / max(true.sum(), 1)]
    described = pr_curve.create_summary_metadata("first kind", "stripes against the rest", len(thresholds))
    values = tf.make_tensor_proto(np.stack(rows).astype(np.float32))
    return tf.Summary(value=[tf.Summary.Value(tag="first_kind", metadata=described, tensor=values)])


def side_by_side() -> tf.Summary:
    """A chart of the custom scalars page."""
    chart = layout_pb2.Chart(
        title="learning", multiline=layout_pb2.MultilineChartContent(tag=["training/.*"])
    )
    layout = layout_pb2.Layout(category=[layout_pb2.Category(title="all", chart=[chart])])
    page = tf.make_tensor_proto(layout.SerializeToString())
    described = custom_scalars.create_summary_metadata()
    value = tf.Summary.Value(tag=custom_scalars.CONFIG_SUMMARY_TAG, metadata=described, tensor=page)
    return tf.Summary(value=[value])


def show_embedding(session: tf.Session, logdir: str, features: np.ndarray, kinds: np.ndarray) -> None:
    """The features of the test pictures, row by row, for the projector."""
    table = tf.get_variable("shown_features", initializer=features)
    session.run(table.initializer)
    tf.train.Saver([table]).save(session, os.path.join(logdir, "model.ckpt"))
    with open(os.path.join(logdir, "kinds.tsv"), "w") as file:
        file.write("".join(f"{KINDS[kind]}\n" for kind in kinds))
    config = projector.ProjectorConfig()
    config.embeddings.add(tensor_name=table.name, metadata_path="kinds.tsv")
    with tf.summary.FileWriter(logdir) as writer:
        projector.visualize_embeddings(writer, config)
    projector.export_tensors(logdir)


def train(logdir: str, rate: float, seed: int = 0) -> float:
    """One run, in a directory of its own; returns the accuracy it reached."""
    rng = np.random.RandomState(seed)
    test_pictures, test_kinds = pictures(60, rng)
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(seed)
        x, y, features, chances, accuracy, step = network(rate)
        once = sound_and_words()
        everything = tf.summary.merge_all()
        test = {x: test_pictures, y: test_kinds}
        with tf.Session() as session, tf.summary.FileWriter(logdir, graph) as writer:
            session.run(tf.global_variables_initializer())
            writer.add_summary(hparams.hparams_pb({"rate": rate, "steps": STEPS}))
            writer.add_summary(side_by_side())
            writer.add_summary(icosahedron(), 0)
            writer.add_summary(session.run(once), 0)
            for i in range(STEPS + 1):
                batch = dict(zip((x, y), pictures(32, rng), strict=True))
                if i % MEASURE_EVERY == 0:
                    writer.add_summary(session.run(everything, test), i)
                    writer.add_summary(curves(test_kinds, session.run(chances, test)), i)
                session.run(step, batch)
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            costs = tf.RunMetadata()
            for _ in range(2):  # the first time, kernels set themselves up
                session.run(step, batch, options=options, run_metadata=costs)
            writer.add_run_metadata(costs, f"step {STEPS}", STEPS)
            show_embedding(session, logdir, session.run(features, test), test_kinds)
            return float(session.run(accuracy, test))


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logdir", default="out/tensorboard_tour")
    parser.add_argument("--rates", type=float, nargs="+", default=[0.01, 0.001])
    arguments = parser.parse_args(argv)
    for rate in arguments.rates:
        run = os.path.join(arguments.logdir, f"rate_{rate:g}")
        print(f"{run}: {train(run, rate):.0%} of the pictures told apart")
    print(f"to see it: {sys.executable} -m tensorboard.main --logdir {arguments.logdir}")


if __name__ == "__main__":
    main(sys.argv[1:])
