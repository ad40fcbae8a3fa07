"""A softmax classifier of handwritten digits, its cross entropy written out by hand."""

import numpy as np
from sklearn.datasets import load_digits

import tideflow as tf

BATCH = 100


def main():
    digits = load_digits()
    pictures = digits.data / 16.0
    answers = np.eye(10)[digits.target]
    train, test = slice(0, 1500), slice(1500, None)

    x = tf.placeholder(tf.float32, [None, 64])
    W = tf.Variable(tf.zeros([64, 10]))
    b = tf.Variable(tf.zeros([10]))
    prediction = tf.nn.softmax(tf.matmul(x, W) + b)

    label = tf.placeholder(tf.float32, [None, 10])
    cross_entropy = tf.reduce_mean(-tf.reduce_sum(label * tf.log(prediction), axis=1))
    train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)

    correct = tf.equal(tf.argmax(prediction, 1), tf.argmax(label, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

    rng = np.random.RandomState(0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1001):
            chosen = rng.randint(0, 1500, BATCH)
            _, loss = sess.run(
                [train_step, cross_entropy],
                feed_dict={x: pictures[train][chosen], label: answers[train][chosen]},
            )
            if step % 200 == 0:
                right = sess.run(accuracy, {x: pictures[test], label: answers[test]})
                print(f"step {step:4d}   loss {loss:.4f}   accuracy on unseen digits {right:.1%}")


if __name__ == "__main__":
    main()
