"""Eager mode: tf.keras under strategies, by `fit` and by loops of the program."""

from kit import cases, raises
from strategy_models import (
    KINDS,
    close,
    compiled,
    learned,
    network,
    replica_step,
    samples,
    strategy_of,
    trained_heads,
)

EAGER = True


@cases(*[(kind, 12, 4) for kind in KINDS], ("mirrored", 9, 4), ("mirrored", 10, 5), ("mirrored three", 7, 2))
def training(tf, np, kind, number, size):
    model = compiled(tf, np, strategy_of(tf, kind))
    x, y = samples(np, number)
    found = learned(model, model.fit(x, y, batch_size=size, epochs=2, shuffle=False, verbose=0))
    return [*found, close([model.evaluate(x, y, size, 0), model.predict(x, size)])]


def replicas_without_samples(tf, np):
    model = compiled(tf, np, strategy_of(tf, "mirrored"), "adam", normalized=True)
    x, y = samples(np, 17)
    history = model.fit(x, y, 16, 1, 0, shuffle=False).history
    return close([history["loss"], *tf.keras.backend.batch_get_value(model.trainable_weights)])


@cases("dataset", "weights of samples", "validation")
def training_on(tf, np, what):
    model = compiled(tf, np, strategy_of(tf, "mirrored"))
    x, y = samples(np, 10)
    if what == "dataset":
        history = model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(4), epochs=2, verbose=0)
    elif what == "validation":
        history = model.fit(x, y, 4, 2, 0, shuffle=False, validation_split=0.2)
    else:
        history = model.fit(x, y, 4, 2, 0, shuffle=False, sample_weight=np.arange(10, dtype="float32") / 10)
    return learned(model, history)


def two_outputs(tf, np):
    return trained_heads(tf, np)


def models_made_elsewhere(tf, np):
    strategy = strategy_of(tf, "mirrored")
    model = network(tf)
    with strategy.scope():
        outside = raises(model.compile, "sgd", "mse")
        inside = network(tf)
    inside.compile("sgd", "mse")
    return [outside, raises(inside.fit, *samples(np, 4), verbose=0)]


@cases(True, False)
def loops_of_the_program(tf, np, traced):
    strategy = strategy_of(tf, "mirrored")
    model = compiled(tf, np, strategy)
    with strategy.scope():
        optimizer, metric = tf.keras.optimizers.Adam(0.1), tf.keras.metrics.MeanSquaredError()
        step = replica_step(tf, model, optimizer, metric)
        batches = tf.data.Dataset.from_tensor_slices(samples(np, 16)).batch(8)
        batches = strategy.experimental_distribute_dataset(batches)

        def run(x, y):
            losses = strategy.experimental_run_v2(step, args=(x, y))
            return strategy.reduce(tf.distribute.ReduceOp.SUM, losses)

        run = tf.function(run) if traced else run
        found = [run(x, y) for x, y in batches]
        result = metric.result()
    return close([*found, result, *model.get_weights()])


def names_of_logical_cpus(tf, np):
    strategy_of(tf, "mirrored")
    with tf.device("/cpu:1"):
        x = tf.constant(1.0)
        found = [x, x + 1.0, tf.constant([1.0, 2.0]), tf.zeros([2]), tf.Variable(1.0)]
        found += tf.split(tf.ones([4]), 2)
    return [value.device for value in found] + [(x + 1.0).device]


def loops_in_functions(tf, np):
    """`for` over a distributed dataset, and over an iterator of one, in a tf.function."""
    strategy = strategy_of(tf, "mirrored")
    batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(10).batch(4))

    def total(x):
        return tf.reduce_sum(tf.cast(x, tf.float32))

    @tf.function
    def summed(batches):
        found = 0.0
        for batch in batches:
            found += strategy.reduce("SUM", strategy.experimental_run_v2(total, args=(batch,)), axis=None)
        return found

    return summed(batches), summed(batches)


def sums_read_outside(tf, np):
    """What copies that are joined when they are read give inside and outside of the scope."""
    strategy = strategy_of(tf, "mirrored")
    with strategy.scope():
        total = tf.Variable(
            0.0,
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        strategy.experimental_run_v2(lambda: total.assign_add(1.0))
        inside = total.read_value()
    return inside, total.read_value(), total.dtype


def refused_inputs(tf, np):
    strategy = strategy_of(tf, "mirrored")

    def variable(**modes):
        with strategy.scope():
            return tf.Variable(1.0, name="v", **modes)

    none = tf.VariableSynchronization.NONE
    return [
        raises(strategy.experimental_distribute_dataset, 5),
        raises(iter, strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2))),
        raises(variable, aggregation="x"),
        raises(variable, synchronization="x"),
        raises(variable, synchronization=none),
    ]
