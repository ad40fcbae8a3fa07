"""Keras's optimizers. Their laws stand in `ops/state/training.py`; slots and numbers here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.keras.optimizers.optimizer import Optimizer, operation_of, scatter_add, scatter_update
from tideflow.keras.optimizers.schedules import LearningRateSchedule
from tideflow.layers.argument_docs import described
from tideflow.layers.keras_state import epsilon as default_epsilon
from tideflow.ops.state import training, variable_rows

if TYPE_CHECKING:
    pass

_WORDS = {
    "learning_rate": "The learning rate: a number, a schedule, or a function without arguments.",
    "momentum": "How much of the last change is kept.",
    "nesterov": "Whether Nesterov's form of momentum is used.",
    "rho": "The decay of the average of squared gradients.",
    "epsilon": "A small number that keeps divisions finite.",
    "centered": "Whether gradients are divided by an estimate of their variance.",
    "beta_1": "The decay of the average of gradients.",
    "beta_2": "The decay of the average of squared gradients.",
    "amsgrad": "Whether the largest average so far is used (Reddi et al., 2018).",
    "initial_accumulator_value": "The first value of the sum of squared gradients.",
    "learning_rate_power": "How the rate depends on the sum of squared gradients: negative or zero.",
    "l1_regularization_strength": "The factor of the absolute values.",
    "l2_regularization_strength": "The factor of the squares.",
    "l2_shrinkage_regularization_strength": "The factor of the squares, of the gradient's step only.",
    "name": "The name of the optimizer.",
    "kwargs": "`clipnorm`, `clipvalue`, `decay` and `lr` of `tf.keras.optimizers.Optimizer`.",
}


def _momentum_used(momentum: Any) -> bool:
    if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
        raise ValueError("`momentum` must be between [0, 1].")
    return isinstance(momentum, tf.Tensor) or callable(momentum) or momentum > 0


@export("keras.optimizers.SGD")
@described("Gradient descent, with momentum if asked for.", **_WORDS)
class SGD(Optimizer):
    _config = ("learning_rate", "decay", "momentum", "nesterov")

    def __init__(
        self,
        learning_rate: float | LearningRateSchedule | Callable[[], Any] = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        name: str = "SGD",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._momentum = _momentum_used(momentum)
        self._set_hyper("momentum", momentum)
        self.nesterov = nesterov
        self._law = training.keras_momentum if self._momentum else training.gradient_descent
        self._states = {"accum": "momentum"} if self._momentum else {}

    _numbers = {"alpha": "lr_t", "lr": "lr_t"}

    def _attributes(self) -> dict[str, Any]:
        return {"use_nesterov": self.nesterov} if self._momentum else {}

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        momentum = tf.identity(self._get_hyper("momentum", dtype))
        return {**super()._coefficients(dtype), "momentum": momentum}

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, handle: Any, indices: Any, **kwargs: Any
    ) -> Any:
        if self._momentum:
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices, **kwargs)
        rate = self._numbers_for(handle, kwargs.get("apply_state"))["lr_t"]
        return variable_rows.resource_scatter_add_op(handle.handle, indices, -grad * rate)


class _OfFirstKeras(Optimizer):
    """An optimizer that takes weights of Keras's first form, in which the number of updates is missing."""

    def set_weights(self, weights: Sequence[Any]) -> None:
        uncounted = len(self.weights) == len(weights) + 1
        super().set_weights([np.array(0), *weights] if uncounted else weights)


@export("keras.optimizers.RMSprop")
@described("Gradients divided by the root of the moving average of their squares.", **_WORDS)
class RMSprop(_OfFirstKeras):
    _config = ("learning_rate", "decay", "rho", "momentum", "epsilon", "centered")
    _numbers = {"lr": "lr_t"}

    def __init__(
        self,
        learning_rate: float | LearningRateSchedule | Callable[[], Any] = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("rho", rho)
        self._momentum = _momentum_used(momentum)
        self._set_hyper("momentum", momentum)
        self.epsilon = epsilon or default_epsilon()
        self.centered = centered
        self._law = training.centered_rms_prop if centered else training.rms_prop
        # In the order in which the slots are made.
        self._states = {
            "ms": "rms",
            **({"mom": "momentum"} if self._momentum else {}),
            **({"mg": "mg"} if centered else {}),
        }

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        found = super()._coefficients(dtype)
        rho = tf.identity(self._get_hyper("rho", dtype))
        return {
            **found,
            "neg_lr_t": -found["lr_t"],
            "epsilon": tf.convert_to_tensor(self.epsilon, dtype),
            "rho": rho,
            "momentum": tf.identity(self._get_hyper("momentum", dtype)),
            "one_minus_rho": 1.0 - rho,
        }

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        if self._momentum:
            return super()._resource_apply_dense(grad, var, apply_state)
        c = self._numbers_for(var, apply_state)
        rms = self.get_slot(var, "rms")
        rms_t = rms.assign(c["rho"] * rms + c["one_minus_rho"] * tf.square(grad))
        denominator = rms_t
        if self.centered:
            mg = self.get_slot(var, "mg")
            mg_t = mg.assign(c["rho"] * mg + c["one_minus_rho"] * grad)
            denominator = rms_t - tf.square(mg_t)
        return operation_of(var.assign(var - c["lr_t"] * grad / (tf.sqrt(denominator) + c["epsilon"])))

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:
        if self._momentum:
            return super()._resource_apply_sparse(grad, var, indices, apply_state)
        c = self._numbers_for(var, apply_state)

        def averaged(slot: str, values: Any) -> Any:
            variable = self.get_slot(var, slot)
            with tf.control_dependencies([variable.assign(variable * c["rho"])]):
                return scatter_add(variable, indices, values * c["one_minus_rho"])

        rms_t = averaged("rms", grad * grad)
        denominator = tf.gather(rms_t, indices)
        done = [rms_t]
        if self.centered:
            mg_t = averaged("mg", grad)
            denominator -= tf.square(tf.gather(mg_t, indices))
            done.append(mg_t)
        step = c["neg_lr_t"] * grad / (tf.sqrt(denominator) + c["epsilon"])
        return tf.group(scatter_add(var, indices, step), *done)


@export("keras.optimizers.Adagrad")
@described("Gradients divided by the root of the sum of their squares.", **_WORDS)
class Adagrad(_OfFirstKeras):
    _config = ("learning_rate", "decay", "initial_accumulator_value", "epsilon")
    _law = training.adagrad_v2
    _states = {"accum": "accumulator"}
    _numbers = {"lr": "lr_t"}

    def __init__(
        self,
        learning_rate: float | LearningRateSchedule | Callable[[], Any] = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        name: str = "Adagrad",
        **kwargs: Any,
    ):
        if initial_accumulator_value < 0.0:
            raise ValueError(f"initial_accumulator_value must be non-negative: {initial_accumulator_value}")
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self.initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon or default_epsilon()

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            first = tf.constant_initializer(self.initial_accumulator_value, dtype=var.dtype.base_dtype)
            self.add_slot(var, "accumulator", first)

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        found = super()._coefficients(dtype)
        return {
            **found,
            "epsilon": tf.convert_to_tensor(self.epsilon, dtype),
            "neg_lr_t": -found["lr_t"],
            "zero": tf.zeros((), tf.int64),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Optimizer:
        return super().from_config({"initial_accumulator_value": 0.0, **config}, custom_objects)


@export("keras.optimizers.Adadelta")
@described("Steps scaled by moving averages of squared gradients and squared steps.", **_WORDS)
class Adadelta(_OfFirstKeras):
    _config = ("learning_rate", "decay", "rho", "epsilon")
    _law = training.adadelta
    _states = {"accum": "accum_grad", "accum_update": "accum_var"}
    _numbers = {"lr": "lr_t"}

    def __init__(
        self,
        learning_rate: float | LearningRateSchedule | Callable[[], Any] = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        name: str = "Adadelta",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("rho", rho)
        self.epsilon = epsilon or default_epsilon()

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        return {
            **super()._coefficients(dtype),
            "epsilon": tf.convert_to_tensor(self.epsilon, dtype),
            "rho": tf.identity(self._get_hyper("rho", dtype)),
        }


class _Moments(Optimizer):
    """What Adam and its relatives share: two averages, and how far they are from their start."""

    _numbers = {
        "lr": "lr_t",
        "beta1": "beta_1_t",
        "beta2": "beta_2_t",
        "beta1_power": "beta_1_power",
        "beta2_power": "beta_2_power",
    }
    _states = {"m": "m", "v": "v"}

    def __init__(
        self, learning_rate: Any, beta_1: float, beta_2: float, epsilon: float, name: str, **kwargs: Any
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = epsilon or default_epsilon()

    def _decays(self, dtype: Any) -> tuple[Any, Any, Any]:
        """The number of this step, and the decays of the two averages."""
        step = tf.cast(self.iterations + 1, dtype)
        beta_1, beta_2 = (tf.identity(self._get_hyper(name, dtype)) for name in ("beta_1", "beta_2"))
        return step, beta_1, beta_2


def _averaged_rows(slot: Any, decay: Any, indices: Any, values: Any) -> Any:
    """All of a slot decays, and rows of it are added to."""
    with tf.control_dependencies([slot.assign(slot * decay)]):
        return scatter_add(slot, indices, values)


@export("keras.optimizers.Adam")
@described("Steps by moving averages of gradients and squared gradients (Kingma and Ba, 2014).", **_WORDS)
class Adam(_Moments):
    _config = ("learning_rate", "decay", "beta_1", "beta_2", "epsilon", "amsgrad")

    def __init__(
        self,
        learning_rate: float | LearningRateSchedule | Callable[[], Any] = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Any,
    ):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad
        self._law = training.adam_with_amsgrad if amsgrad else training.adam
        if amsgrad:
            self._states = {"m": "m", "v": "v", "vhat": "vhat"}

    def set_weights(self, weights: Sequence[Any]) -> None:
        params = self.weights
        of_first_keras = len(weights) == 3 * int((len(params) - 1) / 2) + 1  # its last third is for `amsgrad`
        super().set_weights(weights[: len(params)] if of_first_keras else weights)

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        found = super()._coefficients(dtype)
        step, beta_1, beta_2 = self._decays(dtype)
        beta_1_power, beta_2_power = tf.pow(beta_1, step), tf.pow(beta_2, step)
        return {
            **found,
            "lr": found["lr_t"] * (tf.sqrt(1 - beta_2_power) / (1 - beta_1_power)),
            "epsilon": tf.convert_to_tensor(self.epsilon, dtype),
            "beta_1_t": beta_1,
            "beta_1_power": beta_1_power,
            "one_minus_beta_1_t": 1 - beta_1,
            "beta_2_t": beta_2,
            "beta_2_power": beta_2_power,
            "one_minus_beta_2_t": 1 - beta_2,
        }

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:
        c = self._numbers_for(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t = _averaged_rows(m, c["beta_1_t"], indices, grad * c["one_minus_beta_1_t"])
        v_t = _averaged_rows(v, c["beta_2_t"], indices, grad * grad * c["one_minus_beta_2_t"])
        done = [m_t, v_t]
        if self.amsgrad:
            v_hat = self.get_slot(var, "vhat")
            v_t = v_hat.assign(tf.maximum(v_hat, v_t))
            done.append(v_t)
        step = var.assign_sub(c["lr"] * m_t / (tf.sqrt(v_t) + c["epsilon"]))
        return tf.group(step, *done)


@export("keras.optimizers.Adamax")
@described("Adam with the largest gradient in the place of the average of squares.", **_WORDS)
class Adamax(_Moments):
    _config = ("learning_rate", "decay", "beta_1", "beta_2", "epsilon")
    _law = training.ada_max

    def __init__(
        self,
        learning_rate: float | LearningRateSchedule | Callable[[], Any] = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        name: str = "Adamax",
        **kwargs: Any,
    ):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        found = super()._coefficients(dtype)
        step, beta_1, beta_2 = self._decays(dtype)
        beta_1_power = tf.pow(beta_1, step)
        return {
            **found,
            "neg_scaled_lr": -found["lr_t"] / (1 - beta_1_power),
            "epsilon": tf.convert_to_tensor(self.epsilon, dtype),
            "beta_1_t": beta_1,
            "beta_1_power": beta_1_power,
            "one_minus_beta_1_t": 1 - beta_1,
            "beta_2_t": beta_2,
            "zero": tf.zeros((), tf.int64),
        }

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:
        c = self._numbers_for(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = tf.gather(m, indices) * c["beta_1_t"] + grad * c["one_minus_beta_1_t"]
        v_rows = tf.maximum(tf.gather(v, indices) * c["beta_2_t"], tf.abs(grad))
        with tf.control_dependencies([m_rows, v_rows]):
            kept = scatter_update(m, indices, m_rows), scatter_update(v, indices, v_rows)
        rows = c["neg_scaled_lr"] * (m_rows / (v_rows + c["epsilon"]))
        return tf.group(scatter_add(var, indices, rows), *kept)


@export("keras.optimizers.Nadam")
@described("Adam with Nesterov's momentum (Dozat, 2015).", **_WORDS)
class Nadam(_Moments):
    _config = ("learning_rate", "decay", "beta_1", "beta_2", "epsilon")

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        name: str = "Nadam",
        **kwargs: Any,
    ):
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        if isinstance(kwargs.get("lr", learning_rate), LearningRateSchedule):
            raise ValueError(
                "The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as the "
                "learning rate."
            )
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self._m_cache: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        if self._m_cache is None:
            dtype = var_list[0].dtype.base_dtype
            self._m_cache = self.add_weight("momentum_cache", [], dtype, "ones", trainable=False)
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        rate, beta_1, beta_2 = (
            tf.identity(self._get_hyper(name, dtype)) for name in ("learning_rate", "beta_1", "beta_2")
        )
        step, following = (tf.cast(self.iterations + ahead, dtype) for ahead in (1, 2))
        base = tf.cast(0.96, dtype)
        m_t = beta_1 * (1.0 - 0.5 * tf.pow(base, self._initial_decay * step))
        m_t_1 = beta_1 * (1.0 - 0.5 * tf.pow(base, self._initial_decay * following))
        schedule = tf.cast(tf.identity(self._m_cache), dtype) * m_t
        if dtype is self._m_cache.dtype.base_dtype:
            schedule = tf.identity(self._m_cache.assign(schedule))
        next_schedule = schedule * m_t_1
        return {
            "lr_t": rate,
            "neg_lr_t": -rate,
            "epsilon": tf.convert_to_tensor(self.epsilon, dtype),
            "beta_1_t": beta_1,
            "beta_2_t": beta_2,
            "m_t": m_t,
            "m_t_1": m_t_1,
            "one_minus_beta_1_t": 1 - beta_1,
            "one_minus_beta_2_t": 1 - beta_2,
            "one_minus_m_t": 1.0 - m_t,
            "one_minus_m_schedule_new": 1.0 - schedule,
            "one_minus_m_schedule_next": 1.0 - next_schedule,
            "v_t_prime_denominator": 1.0 - tf.pow(beta_2, step),
        }

    def _step(self, grad: Any, m: Any, v: Any, c: dict[str, Any]) -> Any:
        ahead = c["one_minus_m_t"] * (grad / c["one_minus_m_schedule_new"]) + c["m_t_1"] * (
            m / c["one_minus_m_schedule_next"]
        )
        return c["lr_t"] * ahead / (tf.sqrt(v / c["v_t_prime_denominator"]) + c["epsilon"])

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        c = self._numbers_for(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t = m.assign(c["beta_1_t"] * m + c["one_minus_beta_1_t"] * grad)
        v_t = v.assign(c["beta_2_t"] * v + c["one_minus_beta_2_t"] * tf.square(grad))
        return operation_of(var.assign(var - self._step(grad, m_t, v_t, c)))

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:
        c = self._numbers_for(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t = _averaged_rows(m, c["beta_1_t"], indices, grad * c["one_minus_beta_1_t"])
        v_t = _averaged_rows(v, c["beta_2_t"], indices, grad * grad * c["one_minus_beta_2_t"])
        rows = self._step(grad, tf.gather(m_t, indices), tf.gather(v_t, indices), c)
        return tf.group(scatter_add(var, indices, -rows), m_t, v_t)


@export("keras.optimizers.Ftrl")
@described("Follow the regularized leader (McMahan et al., 2013).", **_WORDS)
class Ftrl(Optimizer):
    _config = (
        "learning_rate",
        "decay",
        "initial_accumulator_value",
        "learning_rate_power",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
    )
    _states = {"accum": "accumulator", "linear": "linear"}
    _numbers = {
        "lr": "lr_t",
        "l1": "l1_regularization_strength",
        "l2": "l2_regularization_strength",
        "l2_shrinkage": "l2_shrinkage_regularization_strength",
        "lr_power": "learning_rate_power",
    }

    def __init__(
        self,
        learning_rate: float | LearningRateSchedule | Callable[[], Any] = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        positive = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for argument, value in positive.items():
            if value < 0.0:
                raise ValueError(f"{argument} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("learning_rate_power", learning_rate_power)
        self._set_hyper("l1_regularization_strength", l1_regularization_strength)
        self._set_hyper("l2_regularization_strength", l2_regularization_strength)
        self.initial_accumulator_value = initial_accumulator_value
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._law = training.ftrl_v2 if l2_shrinkage_regularization_strength > 0 else training.ftrl

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            first = tf.constant_initializer(self.initial_accumulator_value, dtype=var.dtype.base_dtype)
            self.add_slot(var, "accumulator", first)
            self.add_slot(var, "linear")

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        names = ("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength")
        return {
            **super()._coefficients(dtype),
            **{name: tf.identity(self._get_hyper(name, dtype)) for name in names},
            "l2_shrinkage_regularization_strength": tf.cast(self.l2_shrinkage_regularization_strength, dtype),
        }
