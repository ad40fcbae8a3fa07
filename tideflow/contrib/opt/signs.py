"""Optimizers that ask whether gradient and momentum agree in sign (Bello, Zoph, Vasudevan, Le 2017)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays import constants, indexing, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, casting, powers, unary
from tideflow.ops.state import reference_variables, training
from tideflow.train.optimizer import Optimizer
from tideflow.train.optimizers import LawUpdates
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _SignOptimizer(Optimizer, LawUpdates):
    _states = {"m": "m"}
    _tensor_suffix = "_t"
    _tensor_names: dict[str, str] = {}  # of the hyperparameters, in the order in which they are made

    def __init__(
        self, learning_rate: Any, beta: Any, sign_decay_fn: Callable | None, use_locking: bool, name: str
    ):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: TensorLike | None = None,
        name: str | None = None,
    ) -> Operation:
        if self._sign_decay_fn is not None:
            self._sign_decay_t = convert_to_tensor(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare(self) -> None:
        for number, name in self._tensor_names.items():
            self._make_tensor(number, name)
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert_to_tensor(1.0, name="sign_decay")

    def _multiplier(self, agreement: Tensor, var: Variable) -> Tensor:
        """By what the gradient is multiplied, given the decayed product of the signs."""
        raise NotImplementedError

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        rate, beta = self._number("lr", var), self._number("beta", var)
        m = self.get_slot(var, "m")
        mean = reference_variables.assign(m, m * beta + grad * (1 - beta), use_locking=self._use_locking)
        signs = indexing.gather(unary.sign(mean), grad.indices) * unary.sign(grad.values)
        multiplier = self._multiplier(self._number("sign_decay", var) * signs, var)
        step = IndexedSlices(rate * multiplier * grad.values, grad.indices, grad.dense_shape)
        return grouping.group(var.scatter_sub(step, use_locking=self._use_locking), mean)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        return self._apply_sparse(IndexedSlices(grad, indices, shapes.shape(handle)), handle)


@export("contrib.opt.AddSignOptimizer")
class AddSignOptimizer(_SignOptimizer):
    """`var -= learning_rate * (alpha + sign_decay * sign(gradient) * sign(m)) * gradient`

    Args:
      learning_rate: The learning rate.
      alpha: What is added to the sign.
      beta: The decay of m, the running mean of gradients.
      sign_decay_fn: A function from the global step to the factor of the sign; 1 if None.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: The name of the optimizer.
    """

    _law = training.add_sign
    _numbers = {"lr": "lr", "beta": "beta", "alpha": "alpha", "sign_decay": "sign_decay"}
    _tensor_names = {"lr": "learning_rate", "beta": "beta", "alpha": "alpha"}

    def __init__(
        self,
        learning_rate: TensorLike = 0.1,
        alpha: TensorLike = 1.0,
        beta: TensorLike = 0.9,
        sign_decay_fn: Callable | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _multiplier(self, agreement: Tensor, var: Variable) -> Tensor:
        return self._number("alpha", var) + agreement


@export("contrib.opt.PowerSignOptimizer")
class PowerSignOptimizer(_SignOptimizer):
    """`var -= learning_rate * base ** (sign_decay * sign(gradient) * sign(m)) * gradient`

    Args:
      learning_rate: The learning rate.
      base: The base of the power.
      beta: The decay of m, the running mean of gradients.
      sign_decay_fn: A function from the global step to the factor of the sign; 1 if None.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: The name of the optimizer.
    """

    _law = training.power_sign
    _numbers = {"lr": "lr", "beta": "beta", "logbase": "logbase", "sign_decay": "sign_decay"}
    _tensor_names = {"lr": "learning_rate", "beta": "beta", "logbase": "logbase"}

    def __init__(
        self,
        learning_rate: TensorLike = 0.1,
        base: float = math.e,
        beta: TensorLike = 0.9,
        sign_decay_fn: Callable | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = math.log(base)

    def _multiplier(self, agreement: Tensor, var: Variable) -> Tensor:
        return powers.pow(math.e, self._number("logbase", var) * agreement)


# ------------------------------------------------------------------------------------------ decays of signs


def get_linear_decay_fn(decay_steps: int) -> Callable:
    """A function of the global step that falls evenly from 1 to 0 in `decay_steps` steps."""

    def linear_decay_fn(global_step: Any) -> Tensor:
        step = _required(global_step, "linear_decay", decay_steps)
        left = casting.cast(decay_steps, dtypes.int32) - casting.cast(step, dtypes.int32)
        return binary.maximum(0.0, casting.cast(left, dtypes.float32) / _float(decay_steps))

    return linear_decay_fn


def get_cosine_decay_fn(
    decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None
) -> Callable:
    """A function of the global step that swings between 1 and 0 along a cosine.

    It makes `num_periods` periods in `decay_steps` steps, and stays 0 after `zero_after` of them, if given.
    """

    def cosine_decay_fn(global_step: Any) -> Tensor:
        step = _required(global_step, "cosine_decay", decay_steps)
        fraction = 2.0 * num_periods * (_float(step) / _float(decay_steps))
        decayed = _half_wave(fraction)
        if zero_after is None:
            return decayed
        return indexing.where(binary.greater_equal(fraction, 2 * zero_after), 0.0, decayed)

    return cosine_decay_fn


def get_restart_decay_fn(
    decay_steps: int, num_periods: float = 1, zero_after: float | None = None
) -> Callable:
    """A function of the global step that falls from 1 to 0 along a cosine, and then starts again.

    It does so `num_periods` times in `decay_steps` steps, and stays 0 after `zero_after` of them, if given.
    """

    def restart_decay_fn(global_step: Any) -> Tensor:
        step = _required(global_step, "cosine_decay", decay_steps)
        decayed = _half_wave(binary.mod(num_periods * _float(step), decay_steps) / _float(decay_steps))
        if zero_after is None:
            return decayed
        done = _float(num_periods * step) / _float(decay_steps)
        return indexing.where(binary.greater_equal(done, zero_after), 0.0, decayed)

    return restart_decay_fn


def _required(global_step: Any, decay: str, decay_steps: int) -> Tensor:
    if global_step is None:
        raise ValueError(f"global_step is required for {decay}.")
    return binary.minimum(global_step, decay_steps)


def _float(x: Any) -> Tensor:
    return casting.cast(x, dtypes.float32)


def _half_wave(fraction: Tensor) -> Tensor:
    return 0.5 * (1.0 + unary.cos(constants.constant(math.pi) * fraction))
