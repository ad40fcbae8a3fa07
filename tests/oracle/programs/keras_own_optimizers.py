"""Optimizers of programs on Keras's base class, as its versions from 1.13 to 1.15 had it."""

from kit import Close, cases, raises


def _with_momentum(tf):
    """In the manner of 1.13: updates take no state, and ask for each number themselves."""

    class Momentum(tf.keras.optimizers.Optimizer):
        def __init__(self, rate=0.1, name="Momentum", **kwargs):
            super().__init__(name, **kwargs)
            self._set_hyper("learning_rate", rate)
            self._set_hyper("mu", 0.9)

        def _create_slots(self, var_list):
            for var in var_list:
                self.add_slot(var, "m")

        def _resource_apply_dense(self, grad, var):
            rate, mu = self._decayed_lr(var.dtype.base_dtype), self._get_hyper("mu", var.dtype.base_dtype)
            m = self.get_slot(var, "m")
            m_t = tf.assign(m, mu * m + grad, use_locking=self._use_locking)
            return tf.group(tf.assign_sub(var, rate * m_t, use_locking=self._use_locking), m_t)

        def _resource_apply_sparse(self, grad, var, indices):
            m = self.get_slot(var, "m")
            with tf.control_dependencies([tf.assign(m, m * self._get_hyper("mu", var.dtype.base_dtype))]):
                m_t = self._resource_scatter_add(m, indices, grad)
            return tf.group(tf.assign_sub(var, self._decayed_lr(var.dtype.base_dtype) * m_t), m_t)

        def get_config(self):
            return super().get_config()

    return Momentum()


def _with_decay(tf):
    """In the manner of 1.15: numbers are prepared for each device and type."""

    class Decayed(tf.keras.optimizers.Adam):
        def _prepare_local(self, var_device, var_dtype, apply_state):
            super()._prepare_local(var_device, var_dtype, apply_state)
            apply_state[(var_device, var_dtype)]["decay"] = tf.constant(0.01, var_dtype)

        def _shrunk(self, var, apply_state):
            where = var.device, var.dtype.base_dtype
            found = (apply_state or {}).get(where) or self._fallback_apply_state(*where)
            return tf.assign_sub(var, found["decay"] * found["lr_t"] * var)

        def _resource_apply_dense(self, grad, var, apply_state=None):
            with tf.control_dependencies([self._shrunk(var, apply_state)]):
                return super()._resource_apply_dense(grad, var, apply_state=apply_state)

        def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
            with tf.control_dependencies([self._shrunk(var, None)]):
                return super()._resource_apply_sparse(grad, var, indices)

    return Decayed(0.1)


def _with_halved_gradients(tf):
    class Halved(tf.keras.optimizers.SGD):
        def _compute_gradients(self, loss, var_list, grad_loss=None):
            pairs = super()._compute_gradients(loss, var_list, grad_loss)
            return [(tf.convert_to_tensor(grad) * 0.5, var) for grad, var in pairs]

    return Halved(0.1)


def _with_rows_as_they_come(tf):
    class Rows(tf.keras.optimizers.SGD):
        def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, **kwargs):
            return self._resource_scatter_add(handle, indices, -grad)

    return Rows(0.1)


_MAKERS = {
    "no state": _with_momentum,
    "prepared": _with_decay,
    "gradients": _with_halved_gradients,
    "duplicates": _with_rows_as_they_come,
}


@cases(*_MAKERS)
def steps_of_own_optimizers(tf, np, how):
    v = tf.Variable([1.0, 2.0], use_resource=True)
    table = tf.Variable([[1.0], [2.0], [3.0]], use_resource=True)
    optimizer = _MAKERS[how](tf)
    train = optimizer.minimize(
        lambda: tf.reduce_sum(v * v) + tf.reduce_sum(tf.gather(table, [0, 0, 2]) * 3.0), [v, table]
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        return Close(sess.run([v, table]), 1e-5, 1e-6), len(optimizer.weights)


@cases("no state", "prepared")
def models_train_with_own_optimizers(tf, np, how):
    keras = tf.keras
    first = keras.layers.Embedding(5, 3, input_length=2, embeddings_initializer=keras.initializers.Ones())
    model = keras.Sequential([first, keras.layers.Flatten(), keras.layers.Dense(1, "relu", False, "ones")])
    model.compile(_MAKERS[how](tf), "mse")
    model._make_train_function()
    x, y = np.array([[0, 0], [1, 2], [4, 1]]), np.array([[1.0], [2.0], [0.0]])
    history = model.fit(x, y, epochs=3, batch_size=3, verbose=0).history
    return Close(history["loss"], 1e-4), Close(model.get_weights(), 1e-4, 1e-5)


@cases("an unknown name", "an unknown variable", "known")
def slots_of_an_optimizer(tf, np, which):
    optimizer = tf.keras.optimizers.Adam()
    known, other = tf.Variable([1.0], name="known", use_resource=True), tf.Variable([2.0], use_resource=True)
    optimizer.apply_gradients([(tf.constant([1.0]), known)])
    variable, name = {
        "an unknown name": (known, "momentum"),
        "an unknown variable": (other, "m"),
        "known": (known, "m"),
    }[which]
    if which == "known":
        return optimizer.get_slot(variable, name).name
    return raises(optimizer.get_slot, variable, name)
