"""Every optimizer of tf.train follows its law, dense and sparse, on both kinds of variables."""

import numpy as np
import pytest

import tideflow as tf
from tests.train import laws

STEPS = 20
START = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
TARGET = np.cos(np.arange(12.0)).reshape(4, 3)
ROWS = [2, 0, 2]  # of a sparse gradient: row 2 comes twice

# name: (optimizer, law, what its state starts with where that is not zero)
OPTIMIZERS = {
    "gradient descent": (lambda: tf.train.GradientDescentOptimizer(0.1), laws.gradient_descent(), {}),
    "momentum": (lambda: tf.train.MomentumOptimizer(0.1, 0.9), laws.momentum(), {}),
    "nesterov": (
        lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        laws.momentum(nesterov=True),
        {},
    ),
    "adagrad": (lambda: tf.train.AdagradOptimizer(0.5), laws.adagrad(), {"a": 0.1}),
    "adadelta": (lambda: tf.train.AdadeltaOptimizer(1.0, 0.9, 1e-4), laws.adadelta(), {}),
    "adam": (lambda: tf.train.AdamOptimizer(0.1), laws.adam(), {}),
    "rmsprop": (lambda: tf.train.RMSPropOptimizer(0.05, 0.8, 0.5, 1e-3), laws.rms_prop(), {"a": 1.0}),
    "rmsprop centered": (
        lambda: tf.train.RMSPropOptimizer(0.05, 0.8, 0.5, 1e-3, centered=True),
        laws.rms_prop(centered=True),
        {"a": 1.0},
    ),
    "ftrl": (lambda: tf.train.FtrlOptimizer(0.5), laws.ftrl(), {"a": 0.1}),
    "ftrl regularized": (
        lambda: tf.train.FtrlOptimizer(0.5, -0.4, 0.2, 0.05, 0.1),
        laws.ftrl(power=-0.4, l1=0.05, l2=0.1),
        {"a": 0.2},
    ),
    "ftrl shrunk": (
        lambda: tf.train.FtrlOptimizer(0.5, l2_shrinkage_regularization_strength=0.1),
        laws.ftrl(shrinkage=0.1),
        {"a": 0.1},
    ),
    "proximal gradient descent": (
        lambda: tf.train.ProximalGradientDescentOptimizer(0.1, 0.02, 0.05),
        laws.proximal_gradient_descent(),
        {},
    ),
    "proximal adagrad": (
        lambda: tf.train.ProximalAdagradOptimizer(0.5, 0.2, 0.02, 0.05),
        laws.proximal_adagrad(),
        {"a": 0.2},
    ),
    "adagrad da": (
        lambda: tf.train.AdagradDAOptimizer(
            0.5,
            tf.train.get_or_create_global_step(),
            l1_regularization_strength=0.01,
            l2_regularization_strength=0.02,
        ),
        laws.adagrad_da(),
        {"a": 0.1},
    ),
}

of_optimizers = pytest.mark.parametrize("key", OPTIMIZERS)
of_kinds = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def trained(loss, optimizer, fetches, steps=STEPS):
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(loss, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(steps):
            session.run(train)
            seen.append(session.run(fetches))
        assert session.run(step) == steps
    return seen


def followed(key, rows=None, wanted=None):
    """The variable after each step, by the law: of 2 * (var - target) or, for rows, 2 * (var - wanted)."""
    _, law, starts = OPTIMIZERS[key]
    state = {name: np.full(START.shape, starts.get(name, 0.0)) for name in "abc"} | {"var": START.copy()}
    seen = []
    for step in range(1, STEPS + 1):
        if rows is None:
            law(state, 2 * (state["var"] - TARGET), step)
        elif key == "adam":  # the one that moves every row
            gradient = np.zeros_like(START)
            np.add.at(gradient, rows, 2 * (state["var"][rows] - wanted))
            law(state, gradient, step)
        else:
            unique, counts = np.unique(rows, return_counts=True)
            part = {name: value[unique] for name, value in state.items()}
            law(part, 2 * (part["var"] - wanted) * counts[:, None], step)
            for name, value in part.items():
                state[name][unique] = value
        seen.append(state["var"].copy())
    return seen


@of_optimizers
@of_kinds
def test_dense_steps_follow_the_law(key, use_resource):
    v = tf.Variable(START.astype(np.float32), use_resource=use_resource)
    seen = trained(tf.reduce_sum((v - TARGET.astype(np.float32)) ** 2), OPTIMIZERS[key][0](), v)
    np.testing.assert_allclose(seen, followed(key), 2e-4, 2e-5)


@of_optimizers
@of_kinds
def test_sparse_steps_follow_the_law(key, use_resource):
    v = tf.Variable(START.astype(np.float32), use_resource=use_resource)
    seen = trained(tf.reduce_sum((tf.gather(v, ROWS) - 0.5) ** 2), OPTIMIZERS[key][0](), v)
    np.testing.assert_allclose(seen, followed(key, ROWS, 0.5), 2e-4, 2e-5)


@of_optimizers
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_other_types(key, dtype):
    v = tf.Variable(START.astype(dtype))
    seen = trained(tf.reduce_sum((v - TARGET.astype(dtype)) ** 2), OPTIMIZERS[key][0](), v)
    assert seen[0].dtype == dtype
    if dtype == "float64":
        np.testing.assert_allclose(seen, followed(key), 1e-5, 1e-5)  # numbers come as float32
    else:
        np.testing.assert_allclose(seen[2], followed(key)[2], 0.05, 0.02)


@of_optimizers
def test_many_variables_of_any_layout(key):
    """One step of several variables may run as one kernel; gradients may come with other strides."""
    starts = [START, START.T, np.array(0.5), np.zeros([0, 3]), np.full([2, 1, 3], 0.25)]
    variables = [tf.Variable(start.astype(np.float32)) for start in starts]
    weights = [tf.constant(np.arange(start.size, dtype=np.float32).reshape(start.shape)) for start in starts]
    loss = tf.add_n([tf.reduce_sum(tf.transpose(v) * tf.transpose(w)) for v, w in zip(variables, weights)])
    seen = trained(loss, OPTIMIZERS[key][0](), variables, steps=3)
    alone = []
    for start in starts:
        with tf.Graph().as_default():
            v = tf.Variable(start.astype(np.float32))
            w = np.arange(start.size, dtype=np.float32).reshape(start.shape)
            alone.append(trained(tf.reduce_sum(v * w), OPTIMIZERS[key][0](), v, steps=3)[-1])
    for one, other in zip(seen[-1], alone, strict=True):
        np.testing.assert_allclose(one, other, 1e-5, 1e-6)


def test_adam_of_a_variable_that_lies_otherwise_in_memory():
    """A variable's memory may be that of a transposed initial value, its slots' never."""
    v = tf.Variable(tf.transpose(tf.constant(START.T.astype(np.float32))))
    seen = trained(tf.reduce_sum((v - TARGET.astype(np.float32)) ** 2), tf.train.AdamOptimizer(0.1), v)
    np.testing.assert_allclose(seen, followed("adam"), 2e-4, 2e-5)


# -------------------------------------------------------------------------------- slots and their names

SLOTS = {
    "gradient descent": [],
    "momentum": ["v/Momentum"],
    "adagrad": ["v/Adagrad"],
    "adadelta": ["v/Adadelta", "v/Adadelta_1"],
    "adam": ["beta1_power", "beta2_power", "v/Adam", "v/Adam_1"],
    "rmsprop": ["v/RMSProp", "v/RMSProp_1"],
    "rmsprop centered": ["v/RMSProp", "v/RMSProp_1", "v/RMSProp_2"],
    "ftrl": ["v/Ftrl", "v/Ftrl_1"],
    "proximal gradient descent": [],
    "proximal adagrad": ["v/ProximalAdagrad"],
    "adagrad da": ["v/AdagradDA", "v/AdagradDA_1"],
}


@pytest.mark.parametrize("key", SLOTS)
@of_kinds
def test_names_of_slots(key, use_resource):
    v = tf.Variable([1.0], name="v", use_resource=use_resource)
    optimizer = OPTIMIZERS[key][0]()
    optimizer.minimize(tf.reduce_sum(v))
    assert [x.op.name for x in optimizer.variables()] == SLOTS[key]
    assert not set(optimizer.variables()) & set(tf.trainable_variables())
    assert {type(x) for x in optimizer.variables()} <= {type(v)}


def test_two_optimizers_have_slots_of_their_own():
    v = tf.Variable([1.0], name="v")
    for _ in range(2):
        tf.train.AdamOptimizer().minimize(tf.reduce_sum(v))
    tf.train.MomentumOptimizer(0.1, 0.9, name="Mine").minimize(tf.reduce_sum(v))
    names = [x.op.name for x in tf.global_variables()]
    assert names == [
        *("v", "beta1_power", "beta2_power", "v/Adam", "v/Adam_1"),
        *("beta1_power_1", "beta2_power_1", "v/Adam_2", "v/Adam_3", "v/Mine"),
    ]


def test_one_optimizer_for_two_losses_shares_its_slots():
    v = tf.Variable([1.0], name="v")
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(tf.reduce_sum(v))
    optimizer.minimize(tf.reduce_sum(v * v))
    assert [x.op.name for x in optimizer.variables()] == ["v/Momentum"]
    assert optimizer.get_slot(v, "momentum").op.name == "v/Momentum"
    assert optimizer.get_slot(v, "other") is None
    assert optimizer.get_slot_names() == ["momentum"]


def test_slots_of_a_partitioned_variable_are_parts_too():
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [4, 2], initializer=tf.ones_initializer())
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(tf.reduce_sum(tf.convert_to_tensor(w)), var_list=[w])
    slots = optimizer.variables()
    assert [x.op.name for x in slots] == ["s/w/part_0/Momentum", "s/w/part_1/Momentum"]
    assert [x._save_slice_info.full_name for x in slots] == ["s/w/Momentum"] * 2
    assert [x._save_slice_info.var_offset for x in slots] == [[0, 0], [2, 0]]


# -------------------------------------------------------------------------------- bad hyperparameters


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.train.AdagradOptimizer(0.1, 0.0), "initial_accumulator_value must be positive: 0.0"),
        (lambda: tf.train.ProximalAdagradOptimizer(0.1, -1.0), "initial_accumulator_value must be positive"),
        (lambda: tf.train.AdagradDAOptimizer(0.1, None, 0.0), "squared_accumulator_value must be positive"),
        (
            lambda: tf.train.FtrlOptimizer(0.1, 0.5),
            "learning_rate_power 0.500000 needs to be negative or zero",
        ),
        (lambda: tf.train.FtrlOptimizer(0.1, -0.5, -1.0), "initial_accumulator_value -1.000000 needs to be"),
        (lambda: tf.train.FtrlOptimizer(0.1, -0.5, 0.1, -1.0), "l1_regularization_strength -1.000000"),
        (lambda: tf.train.Optimizer(False, ""), "Must specify the optimizer name"),
    ],
)
def test_bad_hyperparameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_optimizers_are_subclasses_of_optimizer_itself():
    """Programs list `tf.train`'s optimizers by their `__base__`."""
    kinds = [getattr(tf.train, name) for name in dir(tf.train) if name.endswith("Optimizer")]
    assert {kind.__base__ for kind in kinds if kind is not tf.train.Optimizer} == {tf.train.Optimizer}
