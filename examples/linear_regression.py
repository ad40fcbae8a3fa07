"""Linear regression, y = Wx + b, one sample at a time.

Stochastic gradient descent finds the line that the samples were drawn from.
"""

import numpy as np

import tideflow as tf

TRUE_W, TRUE_B = 0.1, 0.3


def main():
    x = tf.placeholder(tf.float32, shape=[None], name="x")
    y_label = tf.placeholder(tf.float32, shape=[None], name="y_label")

    W = tf.get_variable(shape=[], name="W")
    b = tf.get_variable(shape=[], name="b")
    y = W * x + b

    loss = tf.reduce_mean(tf.square(y - y_label))
    train_step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

    rng = np.random.RandomState(0)
    with tf.Session() as sess:
        sess.run(tf.initialize_all_variables())
        print("before: y = {:.4f} x + {:.4f}".format(*sess.run([W, b])))
        for _ in range(1000):
            x_in = rng.rand(1)
            sess.run(train_step, feed_dict={x: x_in, y_label: TRUE_W * x_in + TRUE_B})
        print("after:  y = {:.4f} x + {:.4f}".format(*sess.run([W, b])))
        print(f"truth:  y = {TRUE_W:.4f} x + {TRUE_B:.4f}")


if __name__ == "__main__":
    main()
