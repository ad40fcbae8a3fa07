"""Trains one of the models on generated images, or words, and prints the loss and the speed.

python -m examples.models resnet50 --batch 64 --steps 200
python -m examples.models gpt2 --batch 4 --size 512 --steps 200
"""

import argparse
import importlib
import time

import numpy as np

import tideflow as tf

# By name: the module of the model, and the arguments that make it this one.
MODELS = {
    "alexnet": ("alexnet", {}),
    "overfeat": ("overfeat", {}),
    "oxfordnet": ("oxfordnet", {}),
    "googlenet": ("googlenet", {}),
    "inception_v3": ("inception_v3", {}),
    "resnet18": ("resnet", {"layers": 18}),
    "resnet50": ("resnet", {"layers": 50}),
    "dcgan": ("dcgan", {}),
    "lstm": ("lstm", {}),
    "lstm_sampled": ("lstm", {"samples": 512}),
    "gpt2": ("gpt2", {}),
}


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
    parser.add_argument("--learning-rate", type=float, default=0.01, help="of the optimizer (%(default)s)")
    options = parser.parse_args()
    train(options.model, options.batch, options.steps, options.size, options.classes, options.learning_rate)


def train(model, batch, steps, size=None, classes=1000, learning_rate=0.01, **sizes) -> list[float]:
    """Trains on one random batch; returns the losses that it printed, one in ten steps. Other sizes are
    passed on to the model.
    """
    with tf.Graph().as_default():
        tf.set_random_seed(0)
        module, fixed = MODELS[model]
        optimizer = tf.train.GradientDescentOptimizer(learning_rate)
        loss, update = training_step(module, batch, size, classes, optimizer, **{**fixed, **sizes})
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


def training_step(module, batch, size, classes, optimizer, **sizes) -> tuple[tf.Tensor, tf.Operation]:
    """The loss of a module's model for one random batch, and the operation that trains on it. DCGAN brings
    its own optimizer.
    """
    network = importlib.import_module(f"examples.models.{module}")
    if module == "dcgan":
        return network.training_step(random_images(batch, size or network.IMAGE_SIZE), **sizes)
    loss_of = {"gpt2": loss_of_text, "lstm": loss_of_lstm}.get(module, loss_of_images)
    loss = loss_of(network, batch, size, classes, sizes)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        return loss, optimizer.minimize(loss)


def loss_of_images(network, batch, size, classes, sizes) -> tf.Tensor:
    images = random_images(batch, size or network.IMAGE_SIZE)
    labels = tf.Variable(np.random.RandomState(1).randint(0, classes, batch), trainable=False)
    return tf.losses.sparse_softmax_cross_entropy(labels, network.logits(images, classes, True, **sizes))


def loss_of_text(network, batch, size, words, sizes) -> tf.Tensor:
    sizes = {**network.SMALL, "words": words, **sizes}
    text = random_text(batch, size or sizes["length"], words)
    logits = network.logits(text[:, :-1], **sizes)
    return tf.losses.sparse_softmax_cross_entropy(text[:, 1:], logits)


def loss_of_lstm(network, batch, size, words, sizes) -> tf.Tensor:
    return network.loss(
        random_text(batch, size or network.POSITIONS, words), **{**network.SIZES, "words": words, **sizes}
    )


def random_images(batch, size) -> tf.Variable:
    images = np.random.RandomState(0).randn(batch, size, size, 3).astype(np.float32)
    return tf.Variable(images, trainable=False)


def random_text(batch, size, words) -> tf.Variable:
    return tf.Variable(np.random.RandomState(0).randint(0, words, [batch, size + 1]), trainable=False)


if __name__ == "__main__":
    main()
