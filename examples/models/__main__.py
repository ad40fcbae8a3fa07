"""Trains one of the paper's image models on generated images, and prints the loss and the speed.

python -m examples.models resnet --batch 64 --steps 200
"""

import argparse
import importlib
import time

import numpy as np

import tideflow as tf

MODELS = ("alexnet", "googlenet", "overfeat", "oxfordnet", "resnet")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m examples.models",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--batch", type=int, default=32, help="images a step (%(default)s)")
    parser.add_argument("--steps", type=int, default=50, help="steps to train (%(default)s)")
    parser.add_argument("--size", type=int, help="of the images, in pixels (the paper's)")
    parser.add_argument("--classes", type=int, default=1000, help="of images (%(default)s)")
    parser.add_argument("--learning-rate", type=float, default=0.01, help="of SGD (%(default)s)")
    options = parser.parse_args()
    train(options.model, options.batch, options.steps, options.size, options.classes, options.learning_rate)


def train(model, batch, steps, size=None, classes=1000, learning_rate=0.01, **sizes) -> list[float]:
    """Trains on one batch of random images; returns the losses that it printed, one in ten steps. Other sizes
    are passed on to the model.
    """
    network = importlib.import_module(f"examples.models.{model}")
    size = size or network.IMAGE_SIZE
    with tf.Graph().as_default():
        tf.set_random_seed(0)
        chance = np.random.RandomState(0)
        images = tf.Variable(chance.randn(batch, size, size, 3).astype(np.float32), trainable=False)
        labels = tf.Variable(chance.randint(0, classes, batch), trainable=False)
        logits = network.logits(images, classes, True, **sizes)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            update = tf.train.GradientDescentOptimizer(learning_rate).minimize(loss)
        losses = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            began, counted = time.perf_counter(), 0
            for step in range(1, steps + 1):
                if step % 10:
                    session.run(update)
                else:
                    losses.append(session.run([loss, update])[0])
                    seconds = (time.perf_counter() - began) / (step - counted)
                    print(f"step {step}: loss {losses[-1]:.3f}, {1e3 * seconds:.1f} ms a step", flush=True)
                    began, counted = time.perf_counter(), step
    return losses


if __name__ == "__main__":
    main()
