"""An op of one's own: squared hinge loss per element, with a torch kernel, a shape rule and a gradient.

docs/add_an_op.md walks through it, error by error. Run: python examples/add_an_op.py
"""

import numpy as np
import torch

import tideflow as tf
from tideflow.graph.op import Op, ShapeError

hinge_op = Op("SquaredHinge", "logits: T, signs: T -> loss: T", T=(tf.float32, tf.float64), margin=1.0)


@hinge_op.shape
def _(logits, signs):
    if not logits.is_compatible_with(signs):
        raise ShapeError(f"logits and signs must have one shape, but are {logits} and {signs}")
    return logits.merge_with(signs)


@hinge_op.kernel
def _(logits, signs, *, margin):
    return torch.clamp(margin - logits * signs, min=0).square()


@hinge_op.gradient
def _(op, grad):
    logits, signs = op.inputs
    short = tf.nn.relu(op.attrs["margin"] - logits * signs)  # public ops: second derivatives come free
    return -2.0 * grad * short * signs, -2.0 * grad * short * logits


def squared_hinge(logits, signs, margin=1.0, name=None):
    """max(0, margin - logits * signs) ** 2, element by element."""
    return hinge_op(logits, signs, margin=margin, name=name)


def main():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 2)).astype(np.float32)
    signs = np.sign(points @ [1.0, -2.0] + 0.3).astype(np.float32)

    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.placeholder(tf.float32, [None])
    w = tf.get_variable("w", [2, 1])
    b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    logits = tf.squeeze(tf.matmul(x, w), 1) + b
    loss = tf.reduce_mean(squared_hinge(logits, y))
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(301):
            value, _ = sess.run([loss, step], {x: points, y: signs})
            if i % 100 == 0:
                print(f"step {i:3d}  loss {value:.4f}")
        right = np.mean(np.sign(sess.run(logits, {x: points})) == signs)
    print(f"{right:.1%} of the points are on the right side")

    try:
        squared_hinge(tf.zeros([2]), tf.zeros([3]))
    except ValueError as error:
        print(f"\nA bad call says what is wrong, and where:\n  {error}")


if __name__ == "__main__":
    main()
