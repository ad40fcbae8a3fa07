"""Inference in int8 beside float32, on a CPU: `python -m benchmarks int8`, which writes RESULTS_INT8.md.

A perceptron and a convolutional network learn the digits of scikit-learn twice: in float32, and with fake
quantization by tf.contrib.quantize. Then three sessions classify digits in turn: the float network, the other
one with its rounding emulated in floats, and the same in products of bytes.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import tideflow as tf
from benchmarks.report import cpu_model
from tideflow.contrib import layers

RESULTS = Path(__file__).with_name("RESULTS_INT8.md")
BATCH = 256
TRAINING = 1500  # digits to learn from; the others are classified
STEPS, ROUNDS, RUNS = 120, 5, 10
KINDS = {"float32": "off", "emulated": "off", "int8": "auto"}  # and what TIDEFLOW_INT8 says


def perceptron(images: tf.Tensor, is_training: bool) -> tf.Tensor:
    x = layers.flatten(images)
    for i in range(3):
        x = layers.fully_connected(x, 1024, scope=f"dense{i}")
    return layers.fully_connected(x, 10, activation_fn=None, scope="scores")


def convnet(images: tf.Tensor, is_training: bool) -> tf.Tensor:
    norm = {"is_training": is_training, "decay": 0.9, "fused": True}
    x = images
    for i, channels in enumerate((64, 64, 128, 128)):
        x = layers.conv2d(
            x, channels, 3, scope=f"conv{i}", normalizer_fn=layers.batch_norm, normalizer_params=norm
        )
        if i % 2:
            x = layers.max_pool2d(x, 2, 2)
    return layers.fully_connected(layers.flatten(x), 10, activation_fn=None, scope="scores")


NETWORKS: dict[str, Callable] = {
    "perceptron 64-1024-1024-1024-10": perceptron,
    "conv net 64-64-128-128, 8x8, batch norm": convnet,
}


def main() -> None:
    digits = load_digits()
    images, labels = (digits.images / 16).astype(np.float32)[..., None], digits.target
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for title, network in NETWORKS.items():
            classify = {}
            for kind in KINDS:
                path = f"{folder}/{network.__name__}_{kind == 'float32'}"
                if kind != "int8":
                    _train(network, kind != "float32", images[:TRAINING], labels[:TRAINING], path)
                classify[kind] = _classifier(network, kind, path)
            rows.append(_measured(title, classify, images[TRAINING:], labels[TRAINING:]))
    text = _table(rows)
    RESULTS.write_text(text)
    print(text)


def _train(network: Callable, is_quantized: bool, images: np.ndarray, labels: np.ndarray, path: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(0)
        x, y = tf.placeholder(tf.float32, [None, 8, 8, 1]), tf.placeholder(tf.int64, [None])
        loss = tf.losses.sparse_softmax_cross_entropy(y, network(x, True))
        if is_quantized:
            tf.contrib.quantize.experimental_create_training_graph(quant_delay=STEPS // 3)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            update = tf.train.AdamOptimizer(1e-3).minimize(loss, tf.train.get_or_create_global_step())
        session.run(tf.global_variables_initializer())
        chance = np.random.RandomState(0)
        for _ in range(STEPS):
            chosen = chance.randint(0, len(images), 64)
            session.run(update, {x: images[chosen], y: labels[chosen]})
        tf.train.Saver().save(session, path)


def _classifier(network: Callable, kind: str, path: str) -> Callable[[np.ndarray], np.ndarray]:
    os.environ["TIDEFLOW_INT8"] = KINDS[kind]
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [BATCH, 8, 8, 1])
        scores = network(x, False)
        if kind != "float32":
            tf.contrib.quantize.experimental_create_eval_graph()
        answers = tf.argmax(scores, axis=1)
        session = tf.Session()
        tf.train.Saver().restore(session, path)
        return session.make_callable(answers, [x])


def _measured(title: str, classify: dict[str, Callable], images: np.ndarray, labels: np.ndarray) -> list[Any]:
    """Milliseconds of each kind, in turn, and the share of digits that it knows."""
    seconds: dict[str, list[float]] = {kind: [] for kind in classify}
    batch, right = images[:BATCH], labels[:BATCH]
    known = {kind: float((run(batch) == right).mean()) for kind, run in classify.items()}
    for _ in range(ROUNDS):
        for kind, run in classify.items():
            for _ in range(RUNS):
                began = time.perf_counter()
                run(batch)
                seconds[kind].append(time.perf_counter() - began)
    return [title, {kind: min(times) for kind, times in seconds.items()}, known]


def _table(rows: list[Any]) -> str:
    lines = [
        "# Inference in int8 beside float32",
        "",
        f"`python -m benchmarks int8`, on {cpu_model()}, {os.cpu_count()} cores. Digits of scikit-learn, "
        f"{BATCH} at a time: milliseconds (the quickest of {ROUNDS * RUNS} steps, the three in turn), how "
        "many times faster int8 is than the float32 network and than the emulation of its own rounding, and "
        "the share of digits that each knows.",
        "",
        "| network | float32 | emulated | int8 | gain | over emulated | float32 knows | emulated | int8 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for title, seconds, known in rows:
        times = " | ".join(f"{1e3 * seconds[kind]:.2f}" for kind in KINDS)
        shares = " | ".join(f"{known[kind]:.1%}" for kind in KINDS)
        gains = " | ".join(f"{seconds[kind] / seconds['int8']:.1f}" for kind in ("float32", "emulated"))
        lines.append(f"| {title} | {times} | {gains} | {shares} |")
    return "\n".join(lines) + "\n"
