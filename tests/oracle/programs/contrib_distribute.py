"""tf.contrib.distribute: steps as objects and what runs them, several steps in one operation."""

import os
from importlib import import_module

from kit import Close, cases, raises

_STRATEGIES = {
    "mirrored": lambda tf: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
    "one device": lambda tf: tf.distribute.OneDeviceStrategy("/cpu:0"),
}


def _session(tf):
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))


def _part(tf):
    return (
        import_module(tf.__name__ + ".contrib.distribute")
        if tf.__name__ == "tensorflow"
        else tf.contrib.distribute
    )


@cases(*[(kind, count) for kind in sorted(_STRATEGIES) for count in (1, 2)])
def steps(tf, np, kind, iterations):
    part, strategy = _part(tf), _STRATEGIES[kind](tf)
    with strategy.scope():
        weight = tf.get_variable("w", initializer=1.0)

        def dataset():
            return tf.data.Dataset.from_tensor_slices(np.arange(8, dtype=np.float32))

        step = part.StandardSingleLossStep(
            dataset,
            lambda context, x: tf.square(weight * x - 1.0),
            tf.train.GradientDescentOptimizer(0.01),
            strategy,
            iterations,
        )
        with _session(tf) as session:
            monitor = part.Monitor(step, session)
            monitor.run_steps(2)
            found = [session.run(strategy.experimental_local_results(weight)[0])]
            monitor.run_steps()
            return [Close(found, 1e-5), step.distribution is strategy]


@cases(*sorted(_STRATEGIES))
def several(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)
    with strategy.scope():
        dataset = tf.data.Dataset.from_tensor_slices(np.arange(12, dtype=np.float32))
        iterator = strategy.make_input_fn_iterator(lambda _: dataset)
        inside = []

        def step(context, x):
            inside.append(tf.distribute.in_cross_replica_context())

            def on_replica(value):
                return value * 2.0

            doubled = strategy.extended.call_for_each_replica(on_replica, args=(x,))
            context.set_last_step_output("sum", doubled, tf.distribute.ReduceOp.SUM)
            context.set_non_tensor_output("text", "kept")
            return strategy.group(doubled)

        found = strategy.extended.experimental_run_steps_on_iterator(step, iterator, 3, {"sum": 0.0})
        with _session(tf) as session:
            session.run(iterator.initialize())
            values = session.run([found.run_op, found.last_step_outputs["sum"]])[1]
            return [inside, values, found.non_tensor_outputs]


def refused(tf, np):
    part = _part(tf)
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    step = part.Step(strategy)
    config = part.DistributeConfig(eval_distribute="b")
    found = [raises(step), step.initialize(), raises(part.Monitor, step), list(config)]
    found += [raises(part.MultiWorkerAllReduce, [], 1, [3])]
    before = os.environ.pop("TF_CONFIG", None)
    for text in ("{}", '{"cluster": {"worker": ["a:1"]}}', '{"cluster": {"worker": ["a:1"]}, "task": {}}'):
        os.environ["TF_CONFIG"] = text
        found.append(raises(part.run_standard_tensorflow_server))
    os.environ.pop("TF_CONFIG")
    if before is not None:
        os.environ["TF_CONFIG"] = before
    return found
