"""A training program that tells every step it makes: for tests that kill it."""

import tideflow as tf

SAVE_STEPS = 4


def train(folder, last_step, tell):
    """Trains to `last_step` under a MonitoredTrainingSession; `tell` is given the step at each moment."""
    step = tf.train.get_or_create_global_step()
    count = tf.get_variable("count", initializer=tf.zeros([], tf.int64))
    weights = tf.get_variable("weights", [20], initializer=tf.ones_initializer())
    # What is learnt at a step depends on its number alone: whoever made each step once has the same weights.
    target = tf.sin(tf.range(20.0) + tf.cast(step, tf.float32))
    loss = tf.reduce_mean(tf.square(weights - target))
    tf.summary.scalar("loss", loss)
    update = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.control_dependencies([update]), tf.control_dependencies([tf.assign_add(count, 1)]):
        train_op = tf.assign_add(step, 1)
    # One thread: OpenMP's others do not survive a fork.
    config = tf.ConfigProto(intra_op_parallelism_threads=1)
    with tf.train.MonitoredTrainingSession(
        config=config,
        checkpoint_dir=folder,
        save_checkpoint_steps=SAVE_STEPS,
        save_summaries_steps=5,
        hooks=[tf.train.StopAtStepHook(last_step=last_step)],
    ) as session:
        tell(("restored", session.run_step_fn(lambda step_context: int(step_context.session.run(step)))))
        while not session.should_stop():
            tell(("step", int(session.run(train_op))))
    tell(("done", last_step))


def train_and_send(folder, last_step, connection):
    """As `train`, in a process of its own."""
    train(folder, last_step, connection.send)
