"""One layer, h = ReLU(xW + b), on a batch of made-up pictures: build the graph first, run it afterwards."""

import numpy as np

import tideflow as tf


def main():
    b = tf.Variable(tf.zeros((100,)))
    W = tf.Variable(tf.random_uniform((784, 100), -1, 1))
    x = tf.placeholder(tf.float32, (100, 784))
    h = tf.nn.relu(tf.matmul(x, W) + b)

    print("Until now there is only a graph, and h is a name in it:", h)
    sess = tf.Session()
    sess.run(tf.initialize_all_variables())
    activations = sess.run(h, {x: np.random.random((100, 784))})
    print("A session gives it a value, of shape", activations.shape)
    print(f"ReLU let {np.mean(activations > 0):.0%} of it through; the largest is {activations.max():.2f}")


if __name__ == "__main__":
    main()
