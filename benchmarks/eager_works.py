"""What `benchmarks/eager.py` measures, for Tideflow and TensorFlow alike and for PyTorch.

Run as a program in TensorFlow 1.15's own environment (Python 3.7, no other module of the repository), it
answers each line of its input by the seconds of all works, as JSON.
"""

import json
import os
import sys
import time

import numpy as np

SECONDS_OF_A_TURN = 0.02  # of one work, of one peer, in one round


def arrays():
    chance = np.random.RandomState(0)
    return {
        "vector": chance.randn(10).astype(np.float32),
        "matrix": chance.randn(10, 10).astype(np.float32),
        "images": chance.rand(100, 784).astype(np.float32),
        "labels": chance.randint(0, 10, 100).astype(np.int64),
        "weights": [
            (0.05 * chance.randn(784, 100)).astype(np.float32),
            np.zeros(100, np.float32),
            (0.05 * chance.randn(100, 10)).astype(np.float32),
            np.zeros(10, np.float32),
        ],
    }


def of_tf(tf):
    """The works by their titles: functions without arguments, whose results are arrays or tensors."""
    given = arrays()
    v, m = tf.constant(given["vector"]), tf.constant(given["matrix"])
    images, labels = tf.constant(given["images"]), tf.constant(given["labels"])

    def training(optimizer):
        w1, b1, w2, b2 = variables = [tf.Variable(value) for value in given["weights"]]

        def step():
            with tf.GradientTape() as tape:
                hidden = tf.nn.relu(tf.matmul(images, w1) + b1)
                logits = tf.matmul(hidden, w2) + b2
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
                loss = tf.reduce_mean(losses)
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        return step

    def hundred(x):
        for _ in range(25):
            x = tf.tanh(x * 0.5 + 0.1) - 0.2
        return x

    compiled = tf.function(hundred)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [10])
        y = hundred(x)
    session = tf.Session(graph=graph)
    return {
        "a + b, 10 elements": lambda: v + v,
        "a * 2.0, 10 elements": lambda: v * 2.0,
        "tf.tanh, 10 elements": lambda: tf.tanh(v),
        "tf.nn.relu, 10 elements": lambda: tf.nn.relu(v),
        "tf.matmul, 10 x 10": lambda: tf.matmul(m, m),
        "tf.reduce_sum, 10 x 10": lambda: tf.reduce_sum(m),
        "tf.reduce_mean of rows, 10 x 10": lambda: tf.reduce_mean(m, 1),
        "tf.reshape, 10 x 10": lambda: tf.reshape(m, [5, 20]),
        "tf.transpose, 10 x 10": lambda: tf.transpose(m),
        "tf.concat of two, 10 x 10": lambda: tf.concat([m, m], 0),
        "tf.cast to int32, 10 x 10": lambda: tf.cast(m, tf.int32),
        "x[1:3], 10 x 10": lambda: m[1:3],
        "taped MLP step, gradient descent": training(tf.train.GradientDescentOptimizer(0.01)),
        "taped MLP step, Adam": training(tf.train.AdamOptimizer(0.001)),
        "100 small ops, eagerly": lambda: hundred(v),
        "100 small ops, tf.function": lambda: compiled(v),
        "100 small ops, a session": lambda: session.run(y, {x: given["vector"]}),
    }


def of_torch(torch):
    """The same in PyTorch's own words."""
    given = arrays()
    v, m = torch.from_numpy(given["vector"]), torch.from_numpy(given["matrix"])
    images, labels = torch.from_numpy(given["images"]), torch.from_numpy(given["labels"])

    def training(kind, rate):
        w1, b1, w2, b2 = parameters = [torch.tensor(x, requires_grad=True) for x in given["weights"]]
        optimizer = kind(parameters, rate)

        def step():
            optimizer.zero_grad()
            hidden = torch.relu(torch.matmul(images, w1) + b1)
            loss = torch.nn.functional.cross_entropy(torch.matmul(hidden, w2) + b2, labels)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    def hundred(x):
        for _ in range(25):
            x = torch.tanh(x * 0.5 + 0.1) - 0.2
        return x

    return {
        "a + b, 10 elements": lambda: v + v,
        "a * 2.0, 10 elements": lambda: v * 2.0,
        "tf.tanh, 10 elements": lambda: torch.tanh(v),
        "tf.nn.relu, 10 elements": lambda: torch.relu(v),
        "tf.matmul, 10 x 10": lambda: torch.matmul(m, m),
        "tf.reduce_sum, 10 x 10": lambda: torch.sum(m),
        "tf.reduce_mean of rows, 10 x 10": lambda: torch.mean(m, 1),
        "tf.reshape, 10 x 10": lambda: torch.reshape(m, [5, 20]),
        "tf.transpose, 10 x 10": lambda: m.t().contiguous(),
        "tf.concat of two, 10 x 10": lambda: torch.cat([m, m], 0),
        "tf.cast to int32, 10 x 10": lambda: m.to(torch.int32),
        "x[1:3], 10 x 10": lambda: m[1:3],
        "taped MLP step, gradient descent": training(torch.optim.SGD, 0.01),
        "taped MLP step, Adam": training(torch.optim.Adam, 0.001),
        "100 small ops, eagerly": lambda: hundred(v),
    }


class Works:
    """The works of one peer: what each computes at first, and how long it takes."""

    def __init__(self, works):
        self.works = works
        self.first = {title: float(np.sum(np.asarray(run()))) for title, run in works.items()}
        self._turns = {}
        for title, run in works.items():
            for _ in range(20):
                run()
            once = min(seconds(run, 1) for _ in range(5))
            self._turns[title] = max(1, int(SECONDS_OF_A_TURN / once))

    def measured(self, title):
        """The seconds of one run, in this round."""
        return seconds(self.works[title], self._turns[title])


def seconds(run, count):
    began = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - began) / count


def main():
    """TensorFlow's side. What it prints by itself is no answer."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    import tensorflow as tf

    tf.enable_eager_execution(tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1))
    works = Works(of_tf(tf))
    print(json.dumps({"version": tf.__version__, "first": works.first}), file=answers)
    for title in sys.stdin:
        print(json.dumps(works.measured(title.strip())), file=answers)


if __name__ == "__main__":
    main()
