"""Weight decay apart from the gradient (Loshchilov, Hutter 2017)."""

from __future__ import annotations

from typing import Any

from tideflow.export import export
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.ops.arrays import constants, indexing
from tideflow.ops.math import casting
from tideflow.train.optimizer import Optimizer
from tideflow.train.optimizers import AdamOptimizer, MomentumOptimizer
from tideflow.variables.base import Variable


@export("contrib.opt.DecoupledWeightDecayExtension")
class DecoupledWeightDecayExtension:
    """Put before an optimizer among a class's bases: variables shrink by a share of themselves, then move."""

    def __init__(self, weight_decay: Any, **kwargs: Any):
        self._decay_var_list: set[Variable] | None = None
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Any = None,
    ) -> Operation:
        """As the optimizer's; all variables shrink."""
        return super().minimize(
            loss,
            global_step=global_step,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            name=name,
            grad_loss=grad_loss,
        )

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Any = None,
    ) -> Operation:
        """As the optimizer's, with the variables that shrink (all, if None).

        What `minimize` was told of them does not count: it calls this function without, as TensorFlow 1.15's
        does.
        """
        self._decay_var_list = set(decay_var_list) if decay_var_list else None
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _prepare(self) -> None:
        decay = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._weight_decay_tensor = convert_to_tensor(decay, name="weight_decay")
        super()._prepare()

    def _shrunk(self, var: Variable, indices: Tensor | None = None) -> Any:
        """The operation after which a variable, or some of its rows, has shrunk."""
        if self._decay_var_list is not None and var not in self._decay_var_list:
            return constants.no_operation()
        share = casting.cast(self._weight_decay_tensor, var.dtype.base_dtype)
        if indices is None:
            return var.assign_sub(share * var, use_locking=self._use_locking)
        return var.scatter_sub(IndexedSlices(share * indexing.gather(var, indices), indices))

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        with control_dependencies([self._shrunk(var)]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Tensor, var: Variable) -> Any:
        with control_dependencies([self._shrunk(var)]):
            return super()._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        with control_dependencies([self._shrunk(var, grad.indices)]):
            return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        with control_dependencies([self._shrunk(handle, indices)]):
            return super()._resource_apply_sparse(grad, handle, indices)


@export("contrib.opt.extend_with_decoupled_weight_decay")
def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Optimizer]:
    """A class like `base_optimizer`, with weight decay as the first argument of its constructor."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """An optimizer with weight decay apart from the gradient."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any):
            self._decay_var_list = None
            self._weight_decay = weight_decay
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


@export("contrib.opt.MomentumWOptimizer")
class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


@export("contrib.opt.AdamWOptimizer")
class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
