"""Sequences in pieces: the state goes from each piece to the next, whatever the batches are."""

import numpy as np

import tideflow as tf


def test_states_go_from_piece_to_piece_until_all_sequences_end():
    with tf.Graph().as_default(), tf.Session() as session:
        key, steps = tf.placeholder(tf.string, []), tf.placeholder(tf.float32, [None])
        saver = tf.contrib.training.SequenceQueueingStateSaver(
            batch_size=2,
            num_unroll=2,
            input_length=tf.shape(steps)[0],
            input_key=key,
            input_sequences={"x": steps},
            input_context={"name": tf.identity(key)},
            initial_states={"sum": tf.constant(0.0)},
            allow_small_batch=True,
        )
        batch = saver.next_batch
        total = batch.state("sum") + tf.reduce_sum(batch.sequences["x"], 1)
        save = batch.save_state("sum", total)
        data = {b"a": np.arange(6.0), b"b": np.arange(2.0), b"c": np.arange(4.0) * 10}
        for name, values in data.items():
            session.run(saver.prefetch_op, {key: name, steps: values})
        session.run(saver.close())
        ends, pieces = {}, 0
        while pieces < 6:
            names, places, counts, sums, _ = session.run(
                [batch.context["name"], batch.sequence, batch.sequence_count, total, save]
            )
            pieces += len(names)
            ends.update({n: s for n, p, c, s in zip(names, places, counts, sums, strict=True) if p + 1 == c})
    assert ends == {name: values.sum() for name, values in data.items()}
