"""tf.contrib.eager: functions that are called after each operation, and checks for inf and NaN."""

from kit import raises

EAGER = True


def _collected(tf, call):
    tfe = tf.contrib.eager
    found = []
    tfe.add_execution_callback(
        lambda kind, inputs, attrs, outputs, name: found.append(
            (kind, [x.numpy().tolist() for x in inputs], [x.numpy().tolist() for x in outputs], name)
        )
    )
    call()
    tfe.clear_execution_callbacks()
    call()
    return found


def operations(tf, np):
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 5.0])
    return [
        _collected(tf, lambda: tf.multiply(x, y)),
        _collected(tf, lambda: tf.multiply(x, y, name="named")),
        [each[:3] for each in _collected(tf, lambda: tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]))],
        [kind for kind, _, _, _ in _collected(tf, lambda: x * y - 2.0 / x)],
        [kind for kind, _, _, _ in _collected(tf, lambda: tf.nn.relu(tf.tanh(x)))],
        [len(outputs) for _, _, outputs, _ in _collected(tf, lambda: tf.split(x, 2))],
    ]


def operations_that_ran_before(tf, np):
    x = tf.constant(np.arange(16.0).reshape(4, 4))

    def call():
        (
            tf.concat([x, x], 0),
            x[1:3],
            tf.stack([x, x]),
            tf.transpose(x),
            tf.squeeze(x[:1]),
            x + x,
            tf.zeros_like(x),
        )

    call()
    return [kind for kind, *_ in _collected(tf, call)]


def checks(tf, np):
    tfe = tf.contrib.eager
    zero = tf.constant([0.0, 1.0])
    found = [tfe.seterr(), tfe.seterr("raise"), tfe.seterr(), [a.value for a in tfe.ExecutionCallback]]
    found = [{key: str(value) for key, value in each.items()} for each in found[:3]] + found[3:]
    found += [
        raises(lambda: 1.0 / zero),
        raises(lambda: tf.log(-zero)),
        raises(lambda: tf.constant(1.0) / 2.0),
    ]
    found += [raises(lambda: tf.log(zero, name="logged")), str(tfe.seterr("ignore")["inf_or_nan"])]
    found += [(1.0 / zero).numpy()]
    with tfe.errstate("raise"):
        found += [raises(lambda: tf.divide(zero, zero))]
    found += [tf.divide(zero, zero).numpy()]
    tfe.add_execution_callback(tfe.nan_callback)
    found += [(1.0 / zero).numpy(), raises(lambda: zero / zero)]
    tfe.clear_execution_callbacks()
    tfe.add_execution_callback(tfe.inf_callback)
    found += [(zero / zero).numpy(), raises(lambda: 1.0 / zero)]
    tfe.clear_execution_callbacks()
    return found + [raises(tfe.seterr, "other")]


def gradients(tf, np):
    tfe = tf.contrib.eager
    x = tf.Variable([0.0, 4.0])
    tfe.seterr("raise")
    with tf.GradientTape() as tape:
        y = tf.sqrt(x)
    found = raises(tape.gradient, y, x)
    tfe.seterr("ignore")
    return found


def directly(tf, np):
    tfe = tf.contrib.eager
    bad, good = tf.constant([np.nan, 1.0]), tf.constant([1, 2])
    return [
        raises(tfe.inf_nan_callback, "Op", [], (), [good, bad], None),
        raises(tfe.inf_nan_callback, "Op", [], (), [good, bad], "name", check_nan=False),
        raises(tfe.inf_nan_callback, "Op", [], (), [bad], "name", action="ignore"),
        raises(tfe.nan_callback, "Op", [], (), [bad], None, action="other"),
    ]
