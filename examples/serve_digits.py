"""Serves the network of digits.py, and sends it pictures of digits that it has never seen.

It trains for some seconds, writes a SavedModel as version 1 of the model "digits", starts `tideflow serve` on
it, and asks it over REST and over gRPC. Then the server stays, with its page to look at, until Ctrl-C.
"""

import argparse
import contextlib
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from digits import build_network, load_pictures, train
from rich.console import Console

import tideflow as tf
from tideflow.serving.client import Client

SHADES = " .:-=+*#%@"


def export(folder, steps, seed, console):
    """Trains the network, and writes it as a SavedModel; returns the pictures that were kept aside."""
    training, test = load_pictures(seed)
    tf.set_random_seed(seed)
    net = build_network()
    with tf.Session() as sess, tf.summary.FileWriter(folder.parent / "logs", sess.graph) as writer:
        sess.run(tf.global_variables_initializer())
        train(net, sess, training, test, steps, seed, console, writer)
        logits = net.guess.op.inputs[0]
        outputs = {"digit": net.guess, "probabilities": tf.nn.softmax(logits)}
        tf.saved_model.simple_save(sess, str(folder / "digits" / "1"), {"picture": net.x}, outputs)
    return test


@contextlib.contextmanager
def served(folder, flags):
    """`tideflow serve` on a folder of models; its two addresses."""
    command = [sys.executable, "-m", "tideflow", "serve", str(folder), *flags]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        rest, grpc = (server.stdout.readline().strip() for _ in range(2))
        if not grpc:
            raise SystemExit(server.wait() or 1)
        yield rest.rpartition(" ")[2].rstrip("/"), f"grpc://{grpc.rpartition(' ')[2]}"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def wait_until_served(client):
    while True:
        with contextlib.suppress(tf.errors.NotFoundError):
            status = client.statuses("digits")[0]
            if status.error:
                raise SystemExit(f"The network cannot be served: {status.error}")
            if status.state == "AVAILABLE":
                return
        time.sleep(0.1)


def show(console, pictures, answers, found):
    """Three pictures as characters, with what the server said."""
    for picture, answer, digit, chances in zip(pictures, answers, found["digit"], found["probabilities"]):
        for row in picture[:, :, 0]:
            console.print("   " + "".join(SHADES[int(pixel * 9)] * 2 for pixel in row), highlight=False)
        console.print(f"   it is a {answer}; the server says {digit}, to {chances[digit]:.1%}\n")


def ask(console, url, pictures, answers):
    """Sends the pictures one by one, and then all at once; says how many answers were right."""
    with Client(url) as client:
        wait_until_served(client)
        client.predict("digits", pictures[:1])
        started = time.perf_counter()
        digits = [client.predict("digits", picture[np.newaxis])["digit"][0] for picture in pictures]
        seconds = time.perf_counter() - started
        together = client.predict("digits", pictures)
        assert (together["digit"] == digits).all()
    right = np.mean(np.equal(digits, answers))
    each = 1000 * seconds / len(answers)
    console.print(f"{url}: {right:.1%} of {len(answers)} unseen digits right, {each:.2f} ms each")
    return together


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=300, help="training steps (%(default)s)")
    parser.add_argument("--models", type=Path, default="out/models", help="where models are (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of weights, dropout, batches (%(default)s)")
    parser.add_argument("--once", action="store_true", help="end when the pictures were answered")
    return parser.parse_known_args()


def main():
    options, flags = parse_options()
    console = Console()
    shutil.rmtree(options.models / "digits", ignore_errors=True)
    pictures, answers = export(options.models, options.steps, options.seed, console)
    with served(options.models, flags) as (rest, grpc):
        for url in (rest, grpc):
            found = ask(console, url, pictures, answers)
        show(console, pictures[:3], answers[:3], found)
        console.print(f"The server's page: {rest}/")
        if not options.once:
            console.print("Ctrl-C ends it.")
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()


if __name__ == "__main__":
    main()
