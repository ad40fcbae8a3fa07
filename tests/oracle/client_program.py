"""A program for TensorFlow's client, whose sessions are on the target that it is given.

python client_program.py TARGET first|next|wait
"""

import json
import sys
import tempfile

import tensorflow.compat.v1 as tf

tf.disable_eager_execution()


def build():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer(), use_resource=True)
    steps = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean((tf.matmul(x, w) - 1.0) ** 2)
    train = tf.train.AdamOptimizer(0.1).minimize(loss, steps)
    queue = tf.FIFOQueue(3, [tf.string], shapes=[[]], shared_name="words", name="words")
    return x, w, steps, loss, train, queue


def main(target, part):
    x, w, steps, loss, train, queue = build()
    word, put = queue.dequeue(), queue.enqueue("word")
    bad = tf.reshape(x, [-1, 4], name="bad")
    saver = tf.train.Saver()
    with tf.Session(target) as session:
        if part == "wait":
            print("waiting", flush=True)
            session.run(word)
        if part == "first":
            session.run(tf.global_variables_initializer())
        losses = [float(session.run([loss, train], {x: [[1, 2], [3, 4]]})[0]) for _ in range(3)]
        session.run(put)
        told = {"losses": losses, "steps": int(session.run(steps)), "word": session.run(word).decode()}
        with tempfile.TemporaryDirectory() as folder:
            path = saver.save(session, folder + "/model")
            session.run(w.assign([[0.0], [0.0]]))
            saver.restore(session, path)
            told["restored"] = float(session.run(loss, {x: [[1, 2]]}))
        try:
            session.run(bad, {x: [[1, 2], [3, 4], [5, 6]]})
        except tf.errors.InvalidArgumentError as error:
            told["bad"] = error.op.name
        try:
            session.run(word, options=tf.RunOptions(timeout_in_ms=100))
        except tf.errors.DeadlineExceededError:
            told["late"] = True
        metadata = tf.RunMetadata()
        session.run(train, {x: [[1, 2]]}, tf.RunOptions(trace_level=3), metadata)
        told["devices"] = [stats.device for stats in metadata.step_stats.dev_stats]
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
