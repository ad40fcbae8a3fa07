"""What programs written elsewhere do that nothing here did before."""

import shutil
import tempfile

from kit import cases, graph, product, raises, run

_SLICES = {
    "a row": lambda tf, v, i: (v[1], [1.0, 2.0]),
    "a row and all": lambda tf, v, i: (v[1, :], [1.0, 2.0]),
    "a row by a tensor": lambda tf, v, i: (v[tf.constant(2)], [1.0, 2.0]),
    "a row by a variable": lambda tf, v, i: (v[i, :], [1.0, 2.0]),
    "rows between variables": lambda tf, v, i: (v[i : i + 1], [[1.0, 2.0]]),
    "rows to a size": lambda tf, v, i: (v[: tf.shape(tf.zeros([2]))[0]], [[1.0, 2.0], [3.0, 4.0]]),
    "an element": lambda tf, v, i: (v[0, 1], 5.0),
}


@cases(*product(_SLICES, [False, True]))
def slices_are_assigned(tf, np, key, resource):
    v = tf.get_variable("v", [3, 2], use_resource=resource, initializer=tf.zeros_initializer())
    i = tf.get_variable("i", [], tf.int32, use_resource=resource, initializer=tf.zeros_initializer())
    part, value = _SLICES[key](tf, v, i)
    return [run(tf, tf.assign(part, value)), graph(tf)]


@cases(False, True)
def slices_are_assigned_in_a_branch(tf, np, resource):
    v = tf.get_variable("v", [3, 2], use_resource=resource, initializer=tf.zeros_initializer())
    return run(tf, tf.cond(tf.constant(True), lambda: tf.assign(v[0], [7.0, 8.0]), lambda: v + 0.0))


def a_slice_of_a_tensor_is_not_assigned(tf, np):
    return raises(lambda: tf.assign(tf.zeros([2])[0], 1.0))


@cases(*product(["list", "array"], [1, 2]))
def parts_of_a_variable_from_values(tf, np, key, count):
    value = [[1.0, 2.0], [3.0, 4.0]]
    value = np.array(value, np.float32) if key == "array" else value
    v = tf.get_variable(
        "v", [2, 2], initializer=value, partitioner=tf.fixed_size_partitioner(count), dtype=tf.float32
    )
    return [run(tf, tf.convert_to_tensor(v)), graph(tf)]


def bases_of_optimizers(tf, np):
    kinds = {name: getattr(tf.train, name) for name in dir(tf.train) if name.endswith("Optimizer")}
    return {name: kind.__base__.__name__ for name, kind in kinds.items() if name != "Optimizer"}


def casts_of_variables(tf, np):
    v = tf.get_variable("v", [2], use_resource=True, initializer=tf.zeros_initializer())
    r = tf.get_variable("r", [2], use_resource=False, initializer=tf.zeros_initializer())
    return [
        [tf.cast(v, tf.float32) is v, tf.to_float(v) is v, tf.cast(r, tf.float32) is r],
        tf.cast(r, tf.float32),
        tf.cast(v, tf.float64),
        graph(tf),
    ]


def objects_are_tracked_by_name(tf, np):
    class Owner(tf.keras.optimizers.Optimizer):
        def __init__(self):
            super(Owner, self).__init__("owner")
            self.inner = self._track_trackable(tf.train.Checkpoint(v=tf.Variable(2.0, name="v")), "named")

        def get_config(self):
            return {}

    root = tf.train.Checkpoint(owner=Owner())
    refused = [
        raises(lambda: root._track_trackable(1, "a")),
        raises(
            lambda: (
                root._track_trackable(tf.Variable(1.0), "a") and root._track_trackable(tf.Variable(1.0), "a")
            )
        ),
    ]
    folder = tempfile.mkdtemp()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = root.save(folder + "/checkpoint", session=session)
    names = sorted(name for name, _ in tf.train.list_variables(path))
    shutil.rmtree(folder)
    return [refused, names]


def an_optimizer_without_a_learning_rate(tf, np):
    class Halving(tf.keras.optimizers.Optimizer):
        def _create_slots(self, var_list):
            pass

        def _resource_apply_dense(self, grad, var, apply_state=None):
            return var.assign(var / 2.0)

        def get_config(self):
            return {}

    x = tf.keras.Input((1,))
    model = tf.keras.Model(x, tf.keras.layers.Dense(1, kernel_initializer="ones")(x))
    model.compile(Halving("halving"), "mse")
    model.fit(np.ones([2, 1]), np.zeros([2, 1]), verbose=0)
    return model.get_weights()


def keras_models_take_tensors(tf, np):
    x = tf.keras.Input((2,), name="feature")
    model = tf.keras.Model(x, tf.keras.layers.Dense(1, kernel_initializer="ones", name="out")(x))
    model.compile("sgd", "mse")
    data, targets = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [2.0]])
    loss = model.fit({"feature": data}, targets, epochs=2, steps_per_epoch=2, verbose=0).history["loss"]
    return [
        loss,
        model.predict({"feature": data}, steps=1),
        model.predict(data, steps=2),
        model.evaluate(data, targets, steps=1, verbose=0),
        tf.keras.backend.function([x], [x + 1.0])([data]),
    ]


def numbers_in_arrays_are_near(tf, np):
    class Case(tf.test.TestCase):
        def runTest(self):
            pass

    case = Case()
    case.assertNear(np.ones([1]), np.ones([1]), err=1e-3)
    case.assertNear(np.float32(1.0), np.array(1.0), err=1e-3)
    return raises(lambda: case.assertNear(np.ones([1]), np.zeros([1]), err=1e-3))
