"""Weight decay apart from the gradient (Loshchilov, Hutter 2017)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike


@export("contrib.opt.DecoupledWeightDecayExtension")
class DecoupledWeightDecayExtension:
    """Put before an optimizer among a class's bases: variables shrink by a share of themselves, then move.

    Args:
      weight_decay: The share of itself by which a variable shrinks at each step, or a function that gives it.
      kwargs: Arguments of the optimizer.
    """

    def __init__(self, weight_decay: TensorLike | Callable[[], TensorLike], **kwargs: Any):
        self._decay_var_list: set[Variable] | None = None
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: TensorLike,
        global_step: TensorLike | None = None,
        var_list: Sequence[VariableLike] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
        decay_var_list: Sequence[VariableLike] | None = None,
    ) -> Operation:
        """As the optimizer's; all variables shrink.

        Args:
          loss: The loss, a scalar.
          global_step: The global step, which is counted up; none if None.
          var_list: The variables; all trainable ones if None.
          gate_gradients: As of `Optimizer.compute_gradients`.
          aggregation_method: As of `Optimizer.compute_gradients`.
          colocate_gradients_with_ops: Whether gradients are computed where their operations are.
          name: The name scope of the operations.
          grad_loss: The gradient by the loss; 1 if None.
          decay_var_list: The variables that shrink; all if None.

        Returns:
          The operation.
        """
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
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: TensorLike | None = None,
        name: str | None = None,
        decay_var_list: Sequence[VariableLike] | None = None,
    ) -> Operation:
        """As the optimizer's, with the variables that shrink (all, if None).

        What `minimize` was told of them does not count: it calls this function without, as TensorFlow 1.15's
        does.

        Args:
          grads_and_vars: Pairs of a gradient and its variable.
          global_step: The global step, which is counted up; none if None.
          name: The name scope of the operations.
          decay_var_list: The variables that shrink; all if None.

        Returns:
          The operation.
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
    """A class like `base_optimizer`, with weight decay as the first argument of its constructor.

    Args:
      base_optimizer: The class of the optimizer.

    Returns:
      The new class.
    """

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """An optimizer with weight decay apart from the gradient."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any):
            self._decay_var_list = None
            self._weight_decay = weight_decay
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


@export("contrib.opt.MomentumWOptimizer")
class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with weight decay.

    Args:
      weight_decay: The share of itself by which a variable shrinks at each step, or a function that gives it.
      learning_rate: The learning rate.
      momentum: The share of the last step that the next one keeps.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: The name of the optimizer.
      use_nesterov: Whether Nesterov's momentum is used.
    """

    def __init__(
        self,
        weight_decay: TensorLike | Callable[[], TensorLike],
        learning_rate: TensorLike,
        momentum: TensorLike,
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
    """Adam with weight decay.

    Args:
      weight_decay: The share of itself by which a variable shrinks at each step, or a function that gives it.
      learning_rate: The learning rate.
      beta1: The decay of the running mean of gradients.
      beta2: The decay of the second running mean.
      epsilon: A small number that keeps divisors from zero.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: The name of the optimizer.
    """

    def __init__(
        self,
        weight_decay: TensorLike | Callable[[], TensorLike],
        learning_rate: TensorLike = 0.001,
        beta1: TensorLike = 0.9,
        beta2: TensorLike = 0.999,
        epsilon: TensorLike = 1e-8,
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
