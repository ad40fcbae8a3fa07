"""tf.keras under strategies: batches divided among replicas, gradients added, metrics of all of them."""

from kit import cases, raises
from strategy_models import (
    KINDS,
    OPTIMIZERS,
    close,
    compiled,
    learned,
    network,
    replica_step,
    samples,
    strategy_of,
    trained_heads,
)


@cases(*[(kind, 12, 4) for kind in KINDS], ("mirrored", 9, 4), ("mirrored", 10, 5), ("mirrored three", 7, 2))
def training(tf, np, kind, number, size):
    model = compiled(tf, np, strategy_of(tf, kind))
    x, y = samples(np, number)
    return learned(model, model.fit(x, y, batch_size=size, epochs=2, shuffle=False, verbose=0))


@cases(*OPTIMIZERS)
def training_by(tf, np, optimizer):
    model = compiled(tf, np, strategy_of(tf, "mirrored"), optimizer, normalized=True)
    x, y = samples(np, 16)
    return learned(model, model.fit(x, y, batch_size=16, epochs=2, shuffle=False, verbose=0))


@cases("mirrored", "one device")
def evaluating_and_predicting(tf, np, kind):
    model = compiled(tf, np, strategy_of(tf, kind))
    x, y = samples(np, 12)
    values = (x, y)
    history = model.fit(x, y, batch_size=6, validation_data=values, shuffle=False, verbose=0)
    return learned(model, history) + [close([model.evaluate(x, y, 4, 0), model.predict(x, 6)])]


def training_on_a_dataset(tf, np):
    model = compiled(tf, np, strategy_of(tf, "mirrored"))
    batches = tf.data.Dataset.from_tensor_slices(samples(np, 10)).batch(4)
    return learned(model, model.fit(batches, epochs=2, verbose=0))


def training_with_weights_of_samples(tf, np):
    model = compiled(tf, np, strategy_of(tf, "mirrored"))
    x, y = samples(np, 12)
    weights = np.arange(12, dtype="float32") / 12
    return learned(model, model.fit(x, y, 4, 2, 0, shuffle=False, sample_weight=weights))


def steps_say_the_size_of_a_batch(tf, np):
    model = compiled(tf, np, strategy_of(tf, "mirrored"))
    x, y = samples(np, 12)
    few = raises(model.fit, x, y, batch_size=5, steps_per_epoch=4, verbose=0)
    odd = raises(model.fit, x, y, steps_per_epoch=5, verbose=0)
    return [few, odd, learned(model, model.fit(x, y, steps_per_epoch=2, shuffle=False, verbose=0))]


def two_outputs(tf, np):
    return trained_heads(tf, np)


def models_made_elsewhere(tf, np):
    strategy = strategy_of(tf, "mirrored")
    model = network(tf)
    with strategy.scope():
        outside = raises(model.compile, "sgd", "mse")
        inside = network(tf)
        targets = raises(inside.compile, "sgd", "mse", target_tensors=[tf.ones([4, 1])])
        inside = network(tf)
    inside.compile("sgd", "mse")
    return [outside, targets, raises(inside.fit, *samples(np, 4), verbose=0)]


def loops_of_the_program(tf, np):
    strategy = strategy_of(tf, "mirrored")
    model = compiled(tf, np, strategy)
    batches = tf.data.Dataset.from_tensor_slices(samples(np, 16)).batch(8)
    with strategy.scope():
        optimizer, metric = tf.keras.optimizers.Adam(0.1), tf.keras.metrics.MeanSquaredError()
        iterator = strategy.make_dataset_iterator(batches)
        step = replica_step(tf, model, optimizer, metric)
        losses = strategy.experimental_run(lambda given: step(*given), iterator)
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, losses)
        result = metric.result()
    session = tf.keras.backend.get_session()
    session.run(iterator.initialize())
    session.run([variable.initializer for variable in [*optimizer.weights, *metric.variables]])
    found = [session.run(total) for _ in range(2)]
    return close([found, session.run(result), *model.get_weights()])
