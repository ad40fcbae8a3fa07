"""tf.contrib.eager.Network in eager mode, and variables restored as they are made."""

import tempfile

from kit import raises

EAGER = True


def _net(tf, name=None):
    ones = tf.ones_initializer()
    layers = [tf.layers.Dense(2, kernel_initializer=ones), tf.layers.Dense(1, kernel_initializer=ones)]
    return tf.contrib.eager.Sequential(layers, name=name)


def saved_and_restored(tf, np):
    tfe, x = tf.contrib.eager, tf.ones([1, 3])
    net, later, now = _net(tf, "a"), _net(tf), _net(tf)
    net(x)
    net.layers[0].kernel.assign(np.full([3, 2], 5.0))
    path = tfe.save_network_checkpoint(net, tempfile.mkdtemp())
    tfe.restore_network_checkpoint(later, path)
    now(x)
    tfe.restore_network_checkpoint(now, path)
    return [
        [each(x).numpy() for each in (net, later, now)],
        [[v.name for v in each.variables] for each in (net, later, now)],
        raises(lambda: _net(tf, "a")(x)),
        raises(lambda: tf.train.Checkpoint(net=net).save(tempfile.mkdtemp() + "/c")),
    ]


def restored_on_create(tf, np):
    tfe = tf.contrib.eager
    prefix = tempfile.mkdtemp() + "/c"
    path = tfe.Saver([tfe.Variable([1.0, 2.0], name="v"), tfe.Variable(3.0, name="w")]).save(prefix)
    with tfe.restore_variables_on_create(path):
        v, again = tfe.Variable([0.0, 0.0], name="v"), tfe.Variable([0.0, 0.0], name="v")
        other = raises(tfe.Variable, 0.0, name="other")
    with tfe.restore_variables_on_create(path, map_func=lambda name: name[-1]):
        w = tf.get_variable("my_w", initializer=0.0)
    with tfe.restore_variables_on_create(None):
        plain = tfe.Variable(4.0, name="w")
    after = tfe.Variable(5.0, name="w")
    return [
        [each.numpy() for each in (v, again, w, plain, after)],
        other,
        raises(tfe.restore_variables_on_create(path, map_func=3).__enter__),
    ]
