"""tf.contrib.constrained_optimization: losses that fall while constraints hold."""

import importlib

from kit import Close, cases, names, raises


def _module(tf):
    """TensorFlow's own contrib has this module only for who imports it."""
    if tf.__name__ == "tensorflow":
        return importlib.import_module("tensorflow.contrib.constrained_optimization")
    return tf.contrib.constrained_optimization


def _problem(tf, np, proxies=False, before=None):
    v = tf.get_variable("v", initializer=[0.5, -1.0], use_resource=True)

    class Problem(_module(tf).ConstrainedMinimizationProblem):
        @property
        def objective(self):
            return tf.reduce_sum(tf.square(v - [2.0, 1.0]))

        @property
        def constraints(self):
            return tf.stack([v[0] + v[1] - 1.0, v[0] - 0.8])

        @property
        def proxy_constraints(self):
            return tf.stack([v[0] + v[1] - 1.1, v[0] - 0.7]) if proxies else None

        @property
        def pre_train_ops(self):
            return before

    return Problem()


_KINDS = {
    "external": lambda m, o, c: m.AdditiveExternalRegretOptimizer(o, c),
    "additive": lambda m, o, c: m.AdditiveSwapRegretOptimizer(o, c),
    "multiplicative": lambda m, o, c: m.MultiplicativeSwapRegretOptimizer(
        o, c, minimum_multiplier_radius=0.1, initial_multiplier_radius=0.5
    ),
}


@cases("external", "additive", "multiplicative")
def steps(tf, np, which):
    step = tf.train.get_or_create_global_step()
    found = []
    for i, (two, proxies) in enumerate(((False, False), (True, True))):
        with tf.variable_scope("model%d" % i):
            problem = _problem(tf, np, proxies)
            gradient = tf.train.GradientDescentOptimizer
            optimizer = _KINDS[which](_module(tf), gradient(0.1), gradient(0.3) if two else None)
            train = optimizer.minimize(problem, global_step=step if two else None)
            found += [train.name, problem.num_constraints]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(12):
                session.run(train)
            # One optimizer updates both kinds of variables at once: what is read first is chance there.
            alone = which == "external" and not two
            found.append([] if alone else Close(session.run(tf.global_variables()), 1e-4, 1e-5))
    return [found, [u.name for u in tf.global_variables()], len(names(tf)) > 0]


def first_steps_without_constraints(tf, np):
    step = tf.train.get_or_create_global_step()
    counter = tf.get_variable("counter", initializer=0.0)
    problem = _problem(tf, np, before=[tf.assign_add(counter, 1.0)])
    optimizer = _module(tf).AdditiveExternalRegretOptimizer(tf.train.GradientDescentOptimizer(0.1))
    train = optimizer.minimize(problem, unconstrained_steps=2, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []
        for _ in range(4):
            session.run(train)
            found.append(session.run(tf.global_variables()))
        return [Close(found, 1e-4), raises(lambda: optimizer.minimize(problem, unconstrained_steps=2))]


def refused(tf, np):
    m, o = _module(tf), tf.train.GradientDescentOptimizer(0.1)
    return [
        raises(lambda: m.AdditiveExternalRegretOptimizer(o, maximum_multiplier_radius=-1.0)),
        raises(lambda: m.MultiplicativeSwapRegretOptimizer(o, minimum_multiplier_radius=0.0)),
        raises(lambda: m.MultiplicativeSwapRegretOptimizer(o, None, 0.5, 0.1)),
    ]
