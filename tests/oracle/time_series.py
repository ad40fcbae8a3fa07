"""What the programs about time series share: a series, a batch of it, an estimator's steps without chance."""

from kit import Close


def series(np, features=1, length=60):
    times = np.arange(length)
    waves = [np.sin(times / 3.0 + number) + 0.02 * times + 5 * number for number in range(features)]
    return {"times": times, "values": np.stack(waves, axis=1)}


def batch_of(tf, np, features=1, batch=2, window=8, beside=False):
    whole = series(np, features)
    starts = [3 * number for number in range(batch)]
    found = {
        name: tf.constant(np.stack([values[start : start + window] for start in starts]))
        for name, values in whole.items()
    }
    if beside:
        found["beside"] = tf.constant(
            np.cos(np.arange(batch * window)).reshape([batch, window, 1]), tf.float32
        )
    return found


def fill(tf, np, session):
    """Gives every variable values of its own, the same in every engine; statistics stay as they start."""
    filled, feeds = [], {}
    for variable in tf.global_variables():
        name = variable.op.name
        if name.startswith(("input_statistics", "global_step", "beta")) or name.endswith(
            ("Adam", "Adam_1", "Adagrad")
        ):
            continue
        size = int(np.prod(variable.shape.as_list()))
        number = sum(map(ord, name)) % 50
        values = 0.3 * np.sin(np.arange(size) + number).reshape(variable.shape.as_list())
        feeds[variable.initializer.inputs[1]] = values.astype(variable.dtype.as_numpy_dtype)
        filled.append(variable.initializer)
    session.run(filled, feeds)


def trained(tf, np, estimator, batch, steps=3):
    """Losses of some steps, names of variables, and what some of them have become."""
    tf.train.get_or_create_global_step()
    spec = estimator.model_fn(batch, None, tf.estimator.ModeKeys.TRAIN, None)
    losses = []
    with tf.Session() as session:
        session.run(
            [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()]
        )
        fill(tf, np, session)
        for _ in range(steps):
            losses.append(session.run([spec.loss, spec.train_op])[0])
        variables = {v.op.name: v for v in tf.global_variables()}
        statistics = {n: session.run(v) for n, v in variables.items() if n.startswith("input_statistics")}
        learned = [session.run(v) for _, v in sorted((v.op.name, v) for v in tf.trainable_variables())]
    return [
        Close(losses, 1e-4, 1e-5),
        sorted((n, v.shape.as_list(), v.dtype.base_dtype.name) for n, v in variables.items()),
        Close(statistics, 1e-5, 1e-6),
        Close(learned, 1e-3, 1e-3),
    ]


def evaluated(tf, np, estimator, batch):
    tf.train.get_or_create_global_step()
    spec = estimator.model_fn(batch, None, tf.estimator.ModeKeys.EVAL, None)
    with tf.Session() as session:
        session.run(
            [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()]
        )
        fill(tf, np, session)
        loss, predictions = session.run([spec.loss, spec.predictions])
        updates = {name: update for name, (_, update) in spec.eval_metric_ops.items()}
        session.run(updates)
        metrics = session.run({name: value for name, (value, _) in spec.eval_metric_ops.items()})
    return [Close(float(loss), 1e-4, 1e-5), Close(predictions, 1e-3, 1e-4), Close(metrics, 1e-3, 1e-4)]
