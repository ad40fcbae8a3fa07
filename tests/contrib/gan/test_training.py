"""Models, whole losses and training: each kind of GAN makes steps, and what it makes is what it says."""

import numpy as np
import pytest

import tideflow as tf

gan = tf.contrib.gan
layers = tf.contrib.layers


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        yield


def _generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def _discriminator(data, inputs):
    return layers.fully_connected(data, 1, activation_fn=None, scope="judge")


def _data(seed=0):
    return tf.constant(np.random.RandomState(seed).normal(size=(6, 2)).astype("float32"))


def _gan():
    return gan.gan_model(_generator, _discriminator, _data(), _data(1))


def _acgan():
    def judge(data, inputs):
        return _discriminator(data, inputs), layers.fully_connected(
            data, 3, activation_fn=None, scope="class"
        )

    labels = tf.one_hot([0, 1, 2, 0, 1, 2], 3)
    return gan.acgan_model(_generator, judge, _data(), _data(1), labels)


def _infogan():
    def judge(data, inputs):
        found = layers.fully_connected(data, 1, activation_fn=None, scope="find")
        return _discriminator(data, inputs), [tf.distributions.Normal(found, 1.0)]

    return gan.infogan_model(_generator, judge, _data(), [_data(1)], [tf.ones([6, 1])])


def _one_step(model, loss):
    ops = gan.gan_train_ops(
        model, loss, tf.train.GradientDescentOptimizer(0.1), tf.train.GradientDescentOptimizer(0.1)
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(tf.trainable_variables())
        session.run([ops.generator_train_op, ops.discriminator_train_op])
        session.run(ops.global_step_inc_op)
        after = session.run(tf.trainable_variables())
        assert session.run(tf.train.get_global_step()) >= 1
    return [not np.array_equal(a, b) for a, b in zip(before, after, strict=True)]


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (_gan, {}),
        (_gan, {"gradient_penalty_weight": 1.0, "gradient_penalty_target": 2.0}),
        (_gan, {"generator_loss_fn": gan.losses.modified_generator_loss}),
        (_acgan, {"aux_cond_generator_weight": 1.0, "aux_cond_discriminator_weight": 0.5}),
        (_infogan, {"mutual_information_penalty_weight": 1.0}),
    ],
    ids=["plain", "penalty", "modified", "classes", "information"],
)
def test_a_step_of_training_changes_both_sides(make, options):
    model = make()
    loss = gan.gan_loss(model, **options)
    assert isinstance(loss, gan.GANLoss)
    assert all(v.op.name.startswith("Generator/") for v in model.generator_variables)
    changed = _one_step(model, loss)
    assert changed[0]
    assert len(changed) == len(model.generator_variables) + len(model.discriminator_variables)


def test_losses_are_those_of_the_parts_and_regularization():
    def generate(noise):
        return layers.fully_connected(
            noise, 2, None, weights_regularizer=layers.l2_regularizer(2.0), scope="a"
        )

    model = gan.gan_model(generate, _discriminator, _data(), _data(1))
    loss = gan.gan_loss(model)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, outputs, kernel = session.run(
            [loss, model.discriminator_gen_outputs, model.generator_variables[0]]
        )
    np.testing.assert_allclose(found.generator_loss, -outputs.mean() + (kernel**2).sum(), rtol=1e-4)


def test_a_weight_belongs_to_its_kind_of_model():
    model = _gan()
    with pytest.raises(ValueError, match="`model` must be an `InfoGANModel`"):
        gan.gan_loss(model, mutual_information_penalty_weight=1.0)
    with pytest.raises(ValueError, match="must be an `ACGANModel`"):
        gan.gan_loss(model, aux_cond_generator_weight=1.0)
    with pytest.raises(ValueError, match="`gradient_penalty_weight` must be greater than 0"):
        gan.gan_loss(model, gradient_penalty_weight=-1.0)
    with pytest.raises(ValueError, match="must be the same shape as real data"):
        gan.gan_model(_generator, _discriminator, tf.zeros([5, 2]), _data(1), "G", "D")
    with pytest.raises(TypeError, match="must output a tuple"):
        gan.acgan_model(_generator, _discriminator, _data(), _data(1), tf.zeros([6, 3]), "G2", "D2")


def test_there_and_back():
    model = gan.cyclegan_model(_generator, _discriminator, _data(), _data(1))
    loss = gan.cyclegan_loss(model, cycle_consistency_loss_weight=2.0)
    assert all(_one_step(model, loss))
    assert model.model_y2x.generator_variables[0].op.name == "ModelY2X/Generator/map/weights"


def test_many_domains():
    def translate(data, domains):
        return layers.fully_connected(tf.concat([data, domains], 1), 2, None, scope="map")

    def judge(data, domains):
        outputs = layers.fully_connected(data, 1 + domains, None, scope="judge")
        return outputs[:, 0], outputs[:, 1:]

    labels = tf.one_hot([0, 1, 2, 0, 1, 2], 3)
    model = gan.stargan_model(translate, judge, _data(), labels)
    loss = gan.stargan_loss(model)
    assert all(_one_step(model, loss))


def test_hooks_make_as_many_steps_as_they_say(tmp_path):
    counts = [tf.Variable(0, name=name) for name in ("g", "d")]
    step = tf.train.get_or_create_global_step()
    ops = gan.GANTrainOps(counts[0].assign_add(1), counts[1].assign_add(1), step.assign_add(1))
    for get_hooks, each in (
        (gan.get_sequential_train_hooks(gan.GANTrainSteps(3, 2)), [3, 2]),
        (gan.get_joint_train_hooks(gan.GANTrainSteps(1, 4)), [1, 4]),
    ):
        found = []

        class Watch(tf.train.SessionRunHook):
            def end(self, session):
                found.extend(session.run(counts))

        gan.gan_train(
            ops,
            str(tmp_path / str(each[0])),
            get_hooks,
            hooks=[tf.train.StopAtStepHook(num_steps=5), Watch()],
            save_checkpoint_secs=None,
            save_summaries_steps=None,
        )
        assert found == [5 * n for n in each]


def test_steps_for_a_supervisor():
    model = _gan()
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    ops = gan.gan_train_ops(model, gan.gan_loss(model), optimizer, optimizer)
    step = gan.get_sequential_train_steps(gan.GANTrainSteps(2, 1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        counter = tf.train.get_global_step()
        loss, stops = step(
            session, ops, counter, {"should_stop": counter >= 1, "should_log": tf.constant(False)}
        )
        assert np.isfinite(loss)
        assert stops


def test_updates_belong_to_a_side():
    model = _gan()
    stray = tf.Variable(0, name="stray").assign_add(1)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, stray)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="There are unused update ops"):
        gan.gan_train_ops(model, gan.gan_loss(model), optimizer, optimizer)
    gan.gan_train_ops(model, gan.gan_loss(model), optimizer, optimizer, check_for_unused_update_ops=False)


def test_the_discriminator_may_learn_from_a_pool():
    model = _gan()
    loss = gan.gan_loss(model, tensor_pool_fn=lambda pair: gan.features.tensor_pool(pair, 2))
    assert sum(_one_step(model, loss)) == 3  # the judge's offset makes no difference
