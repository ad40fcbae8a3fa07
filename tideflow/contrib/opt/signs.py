"""Optimizers that ask whether gradient and momentum agree in sign (Bello, Zoph, Vasudevan, Le 2017)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation
from tideflow.ops.state import training
from tideflow.train.optimizers import LawOptimizer
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _SignOptimizer(LawOptimizer):
    _states = {"m": "m"}

    def __init__(
        self, learning_rate: Any, beta: Any, sign_decay_fn: Callable | None, use_locking: bool, name: str
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn
        self._sign_decay: Any = 1.0

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: TensorLike | None = None,
        name: str | None = None,
    ) -> Operation:
        if self._sign_decay_fn is not None:
            self._sign_decay = convert_to_tensor(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)


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
    _numbers = {"lr": "learning_rate", "beta": "beta", "alpha": "alpha", "sign_decay": "sign_decay"}

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
    _numbers = {"lr": "learning_rate", "beta": "beta", "logbase": "logbase", "sign_decay": "sign_decay"}

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
