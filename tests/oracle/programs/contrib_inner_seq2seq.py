"""Steps of the beam search, and decoders that are layers."""

import importlib

from kit import cases, raises, run


def _module(tf, name):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow.contrib." + name)


def _variables(tf):
    return [(v.op.name, v.shape, v.dtype.name) for v in tf.global_variables()]


def beams(tf, np):
    m = _module(tf, "seq2seq.python.ops.beam_search_decoder")
    o = []
    p = tf.constant(np.log(np.arange(1.0, 31).reshape(2, 3, 5) / 40), tf.float32)
    f = tf.constant([[True, False, False], [False, True, True]])
    o.append(run(tf, m._mask_probs(p, 0, f)))
    st = m.BeamSearchDecoderState(
        cell_state=tf.zeros([2, 3]),
        log_probs=tf.nn.log_softmax(tf.ones([2, 3])),
        lengths=tf.constant(2, shape=[2, 3], dtype=tf.int64),
        finished=tf.zeros([2, 3], tf.bool),
        accumulated_attention_probs=(),
    )
    lg = np.full([2, 3, 5], 0.0001, np.float32)
    lg[0, 0, 2] = 1.9
    lg[0, 0, 3] = 2.1
    lg[0, 1, 3] = 3.1
    lg[0, 1, 4] = 0.9
    lg[1, 0, 1] = 0.5
    lg[1, 1, 2] = 2.7
    lg[1, 2, 2] = 10.0
    lg[1, 2, 3] = 0.2
    a, b = m._beam_search_step(
        2,
        tf.constant(lg),
        tf.zeros([2, 3]),
        st,
        batch_size=tf.constant(2),
        beam_width=3,
        end_token=0,
        length_penalty_weight=0.6,
        coverage_penalty_weight=0.0,
    )
    o.append(run(tf, [a.scores, a.predicted_ids, a.parent_ids, b.lengths, b.finished, b.log_probs]))
    S = tf.TensorShape
    o += [
        [
            bool(m._check_static_batch_beam_maybe(S(x), *y))
            for x, y in (
                ([2, 3], (2, 3)),
                ([6], (2, 3)),
                ([None], (2, 3)),
                ([5], (2, 3)),
                ([2, 4], (2, 3)),
                ([6, None], (2, 3)),
                ([2, None], (2, 3)),
                ([3, 3], (None, 3)),
            )
        ]
    ]
    o += [
        run(tf, m._length_penalty(tf.constant([1, 5]), 0.6)),
        m._length_penalty(tf.constant([1, 5]), 0.0),
        run(
            tf,
            m._tensor_gather_helper(
                tf.constant([[1, 0], [0, 1]]), tf.constant([[5, 6], [7, 8]]), tf.constant(2), 2, [-1]
            ),
        ),
    ]
    return o


@cases("train", "greedy", "sample", "infer", "custom", "sched_e", "sched_o", "dense")
def decoder_v2(tf, np, k):
    B = _module(tf, "seq2seq.python.ops.basic_decoder").BasicDecoderV2
    S = _module(tf, "seq2seq.python.ops.sampler")
    r = np.random.RandomState(0)
    x = tf.constant(r.normal(size=[2, 4, 3]).astype(np.float32))
    emb = tf.constant(r.normal(size=[3, 3]).astype(np.float32))
    z = tf.zeros([2, 3])
    L = tf.constant([4, 2])
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.4)):
        c = tf.nn.rnn_cell.GRUCell(3)
        if k == "train":
            d = B(c, S.TrainingSampler())
            o = d(x, initial_state=z, sequence_length=L)
        if k == "dense":
            d = B(
                c,
                S.TrainingSampler(),
                output_layer=tf.keras.layers.Dense(5, kernel_initializer="ones"),
                output_time_major=True,
                impute_finished=True,
            )
            o = d(x, initial_state=z, sequence_length=L)
        if k == "greedy":
            d = B(c, S.GreedyEmbeddingSampler(), maximum_iterations=5)
            o = d(emb, initial_state=z, start_tokens=[0, 1], end_token=2)
        if k == "sample":
            d = B(c, S.SampleEmbeddingSampler(seed=1), maximum_iterations=3)
            o = d(emb, initial_state=z, start_tokens=tf.constant([0, 1]), end_token=2)
        if k == "infer":
            d = B(
                c,
                S.InferenceSampler(lambda o: o, [3], tf.float32, lambda s: tf.reduce_all(s > 5.0, axis=-1)),
                maximum_iterations=3,
            )
            o = d(x[:, 0], initial_state=z)
        if k == "custom":
            d = B(
                c,
                S.CustomSampler(
                    lambda i: (tf.tile([False], [2]), i[:, 0]),
                    lambda time, outputs, state: tf.cast(tf.argmax(outputs, -1), tf.int32),
                    lambda time, outputs, state, sample_ids: (tf.tile([time >= 2], [2]), outputs, state),
                ),
            )
            o = d(x, initial_state=z)
        if k == "sched_e":
            d = B(c, S.ScheduledEmbeddingTrainingSampler(0.0))
            o = d(x, initial_state=z, sequence_length=L, embedding=emb)
        if k == "sched_o":
            d = B(c, S.ScheduledOutputTrainingSampler(1.0))
            o = d(x, initial_state=z, sequence_length=L)
    v = run(tf, [o[0].rnn_output, o[1], o[2]])
    return [
        v if k != "sample" else [q.shape for q in v],
        o[0].rnn_output,
        o[0].sample_id,
        [(a[-12:], b) for a, b, _ in _variables(tf)],
        str(d.output_size),
        str(d.output_dtype),
    ]


def loss(tf, np):
    L = _module(tf, "seq2seq.python.ops.loss").SequenceLoss
    a = tf.ones([2, 3, 4])
    t = tf.constant([[0, 1, 2], [1, 2, 3]])
    w = tf.constant([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    return [
        run(
            tf,
            [
                L()(t, a, w),
                L(sum_over_timesteps=False)(t, a, w),
                L(average_across_timesteps=True, sum_over_timesteps=False, sum_over_batch=False)(t, a, w),
                L(
                    average_across_timesteps=True,
                    average_across_batch=True,
                    sum_over_timesteps=False,
                    sum_over_batch=False,
                )(t, a, w),
            ],
        ),
        raises(L(average_across_timesteps=True), t, a, w),
        L(name="q").name,
    ]
