"""tf.contrib.eager.Network and its checkpoints, tfprof.ProfileContext, heads of distributions."""

import os
import tempfile

from kit import raises, run


def _two(tf):
    class Two(tf.contrib.eager.Network):
        def __init__(self, name=None):
            super(Two, self).__init__(name=name)
            ones = tf.ones_initializer()
            self.a = self.track_layer(tf.layers.Dense(3, kernel_initializer=ones))
            self.b = self.track_layer(tf.layers.Dense(1, kernel_initializer=ones))

        def call(self, x):
            return self.b(self.a(x))

    return Two


def _outer(tf):
    Two = _two(tf)

    class Outer(tf.contrib.eager.Network):
        def __init__(self, name=None):
            super(Outer, self).__init__(name=name)
            self.i = self.track_layer(Two())
            self.j = self.track_layer(Two("j"))
            self.k = self.track_layer(
                tf.layers.Dense(2, name="last", kernel_initializer=tf.ones_initializer())
            )

        def call(self, x):
            return self.k(self.i(x) + self.j(x))

    return Outer


def names(tf, np):
    Two, x = _two(tf), tf.ones([2, 4])
    first = Two()
    early = raises(lambda: first.name)
    outputs = [first(x), Two()(x), Two("mine")(x), first(x)]
    with tf.variable_scope("around"):
        inner = Two()
        outputs.append(inner(x))
    outer = _outer(tf)()
    outputs.append(outer(x))
    return [
        early,
        outputs,
        [v.name for v in tf.global_variables()],
        [first.name, first.scope_name, inner.name, outer.name, outer.i.scope_name],
        [[layer.name for layer in net.layers] for net in (first, outer)],
        [v.name for v in outer.trainable_variables],
        raises(lambda: Two("mine")(x)),
        raises(Two, "a/b"),
        raises(Two, tf.get_variable_scope()),
    ]


def layers_of_networks(tf, np):
    outer = _outer(tf)()
    outer(tf.ones([2, 4]))
    return [
        outer.get_layer(index=0).name,
        outer.get_layer("last").name,
        raises(outer.get_layer),
        raises(outer.get_layer, index=9),
        raises(outer.get_layer, "other"),
        raises(outer.get_layer, "last", 0),
        raises(outer.add_variable, "x", [1]),
        raises(outer.add_loss, 1.0),
        raises(setattr, outer, "trainable", False),
        [outer.trainable, outer.losses],
        raises(outer.track_layer, 3),
        raises(outer.track_layer, tf.layers.Dense(1, name="last")),
    ]


def sequences(tf, np):
    ones = tf.ones_initializer()
    net = tf.contrib.eager.Sequential(
        [tf.layers.Dense(2, kernel_initializer=ones), tf.nn.relu, tf.layers.Dropout(0.5)], name="seq"
    )
    net.add(lambda x: x + 1)
    x = tf.ones([1, 3])
    outputs = [net(x), net(x, training=False)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(outputs)
    return [outputs, values, [v.name for v in net.variables], raises(net.add, 5)]


def checkpoints(tf, np):
    tfe, Outer, x = tf.contrib.eager, _outer(tf), tf.ones([2, 4])
    directory = tempfile.mkdtemp()
    saved, late, early = Outer(), Outer(), Outer()
    outputs = [saved(x)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(saved.i.a.kernel.assign(np.full([4, 3], 7.0)))
        path = tfe.save_network_checkpoint(saved, directory)
        numbered = tfe.save_network_checkpoint(saved, directory, global_step=5)
        tfe.restore_network_checkpoint(late, path)
        outputs.append(late(x))
        outputs.append(early(x))
        session.run([v.initializer for v in early.variables])
        tfe.restore_network_checkpoint(early, path)
        fresh = _two(tf)("fresh")
        tfe.restore_network_checkpoint(fresh, path, map_func=lambda n: n.replace("fresh/", "two/"))
        outputs.append(fresh(x))
        values = session.run(outputs)
    return [
        [os.path.basename(each) for each in (path, numbered)],
        tf.train.list_variables(path),
        values,
        [early.name, late.name],
        raises(tfe.save_network_checkpoint, Outer(), directory),
        raises(tfe.save_network_checkpoint, saved, directory, None, lambda n: "same"),
        raises(tfe.restore_network_checkpoint, saved, path, lambda n: "same"),
        raises(tfe.restore_variables_on_create(path).__enter__),
    ]


def scopes_entered_again(tf, np):
    with tf.variable_scope("x"):
        with tf.variable_scope("y") as y:
            pass
    with tf.variable_scope(y):
        with tf.variable_scope(None, "z") as z:
            pass
    found = [z.name]
    with tf.variable_scope("x"):
        with tf.variable_scope(None, "y") as again:
            found.append(again.name)
    with tf.variable_scope(y):
        with tf.variable_scope(None, "z") as z:
            found.append(z.name)
    return found


def profiles_of_steps(tf, np):
    context, directory = tf.contrib.tfprof.ProfileContext, tempfile.mkdtemp()
    x = tf.matmul(tf.ones([4, 3]), tf.get_variable("w", [3, 2]))
    options = dict(tf.profiler.ProfileOptionBuilder.time_and_memory(), output="none")
    counted = dict(tf.profiler.ProfileOptionBuilder.float_operation(), output="none")
    with context(directory, trace_steps=[1, 2], dump_steps=[3]) as profiles:
        profiles.add_auto_profiling("op", options, [2])
        profiles.add_auto_profiling("scope", options, [2, 3])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(5):
                session.run(x)
            profiles.trace_next_step()
            session.run(x)
            profiles.dump_next_step()
            session.run(x)
        found = [
            sorted(profiles.get_profiles("op")),
            sorted(profiles.get_profiles("scope")),
            raises(profiles.get_profiles, "code"),
            sorted(os.listdir(directory)),
            profiles.profiler.profile_name_scope(counted).total_float_ops,
            raises(context(directory).__enter__),
        ]
    with context(directory, enabled=False) as nothing:
        found.append([nothing.profiler, nothing.trace_next_step()])
    with context(directory, trace_steps=[], dump_steps=[]) as wrong:
        wrong.add_auto_profiling("other", options, [0])
        with tf.Session() as session:
            found.append([raises(session.run, tf.constant(1)), session.run(tf.constant(1))])
    return found + [raises(context, ""), raises(context, directory, list(range(101)))]


def heads_of_distributions(tf, np):
    ds, learn = tf.contrib.distributions, tf.contrib.learn

    def normal(logits):
        return ds.Normal(loc=logits[..., 0], scale=tf.nn.softplus(logits[..., 1]))

    head = ds.estimator_head_distribution_regression(normal, logits_dimension=2)
    logits = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    labels = tf.constant([[0.5], [2.5]])
    found = []
    for mode in (learn.ModeKeys.TRAIN, learn.ModeKeys.EVAL, learn.ModeKeys.INFER):
        made = head.create_model_fn_ops(
            {},
            mode,
            labels=None if mode == learn.ModeKeys.INFER else labels,
            train_op_fn=lambda loss: tf.no_op(),
            logits=logits,
        )
        found.append([sorted(made.predictions), run(tf, list(made.predictions.values()))])
        if made.loss is not None:
            found.append([made.loss.name.split("/")[-1], run(tf, made.loss)])
    poisson = ds.estimator_head_distribution_regression(lambda x: ds.Poisson(log_rate=x), 1)
    return [
        found,
        [head.logits_dimension, len(head.distributions), poisson.logits_dimension],
        raises(ds.estimator_head_distribution_regression, 3),
    ]
