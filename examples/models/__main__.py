"""Trains one of the models on generated images, or words, and prints the loss and the speed.

python -m examples.models resnet --batch 64 --steps 200
python -m examples.models gpt2 --batch 4 --size 512 --steps 200
"""

import argparse
import importlib
import time

import numpy as np

import tideflow as tf

MODELS = ("alexnet", "googlenet", "gpt2", "overfeat", "oxfordnet", "resnet")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m examples.models",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--batch", type=int, default=32, help="images or texts a step (%(default)s)")
    parser.add_argument("--steps", type=int, default=50, help="steps to train (%(default)s)")
    parser.add_argument("--size", type=int, help="pixels of an image's side, or words of a text")
    parser.add_argument("--classes", type=int, default=1000, help="of images, or words to know (%(default)s)")
    parser.add_argument("--learning-rate", type=float, default=0.01, help="of SGD (%(default)s)")
    options = parser.parse_args()
    train(options.model, options.batch, options.steps, options.size, options.classes, options.learning_rate)


def train(model, batch, steps, size=None, classes=1000, learning_rate=0.01, **sizes) -> list[float]:
    """Trains on one random batch; returns the losses that it printed, one in ten steps. Other sizes are
    passed on to the model.
    """
    network = importlib.import_module(f"examples.models.{model}")
    with tf.Graph().as_default():
        tf.set_random_seed(0)
        loss = (loss_of_text if model == "gpt2" else loss_of_images)(network, batch, size, classes, sizes)
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


def loss_of_images(network, batch, size, classes, sizes) -> tf.Tensor:
    size = size or network.IMAGE_SIZE
    chance = np.random.RandomState(0)
    images = tf.Variable(chance.randn(batch, size, size, 3).astype(np.float32), trainable=False)
    labels = tf.Variable(chance.randint(0, classes, batch), trainable=False)
    return tf.losses.sparse_softmax_cross_entropy(labels, network.logits(images, classes, True, **sizes))


def loss_of_text(network, batch, size, words, sizes) -> tf.Tensor:
    sizes = {**network.SMALL, "words": words, **sizes}
    size = size or sizes["length"]
    text = tf.Variable(np.random.RandomState(0).randint(0, words, [batch, size + 1]), trainable=False)
    logits = network.logits(text[:, :-1], **sizes)
    return tf.losses.sparse_softmax_cross_entropy(text[:, 1:], logits)


if __name__ == "__main__":
    main()
