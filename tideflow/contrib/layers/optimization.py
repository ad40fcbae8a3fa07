"""`optimize_loss`: from a loss to a training operation in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.ops.arrays import creation, indexing, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, casting, clipping, unary
from tideflow.ops.random import distributions
from tideflow.summary import functions as summary
from tideflow.train import optimizers
from tideflow.train.moving_averages import assign_moving_average
from tideflow.train.optimizer import Optimizer
from tideflow.variables.collections import trainable_variables
from tideflow.variables.global_step import assert_global_step, get_global_step
from tideflow.variables.initializers import Constant, Zeros
from tideflow.variables.variable_scope import get_variable, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike

OPTIMIZER_CLS_NAMES: dict[str, Callable] = {
    "Adagrad": optimizers.AdagradOptimizer,
    "Adam": optimizers.AdamOptimizer,
    "Ftrl": optimizers.FtrlOptimizer,
    "Momentum": lambda learning_rate: optimizers.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": optimizers.RMSPropOptimizer,
    "SGD": optimizers.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]
expose(OPTIMIZER_CLS_NAMES, "contrib.layers.OPTIMIZER_CLS_NAMES")
expose(OPTIMIZER_SUMMARIES, "contrib.layers.OPTIMIZER_SUMMARIES")

_DEFAULT_SUMMARIES = ["loss", "learning_rate", "global_gradient_norm"]


@export("contrib.layers.optimize_loss")
def optimize_loss(
    loss: TensorLike,
    global_step: VariableLike | None,
    learning_rate: TensorLike | None,
    optimizer: str | type[Optimizer] | Optimizer | Callable,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: float | Callable | None = None,
    learning_rate_decay_fn: Callable | None = None,
    update_ops: Sequence[Any] | None = None,
    variables: Sequence[Any] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Tensor:
    """Makes a step of training of a loss.

    Args:
      loss: The loss, a scalar.
      global_step: The global step; that of the graph if None.
      learning_rate: The learning rate; None where the optimizer has its own.
      optimizer: The name of an optimizer (`"Adam"`, …), its class, an optimizer, or a function from the
        learning rate to one.
      gradient_noise_scale: The scale of the noise that is added to gradients; None for none.
      gradient_multipliers: Factors of gradients, by variable or its name.
      clip_gradients: The largest common norm of the gradients, or a function from gradients and variables to
        clipped ones; None for none.
      learning_rate_decay_fn: A function from the learning rate and the global step to the decayed learning
        rate.
      update_ops: Operations that run before the step; those in the collection UPDATE_OPS if None.
      variables: The variables to train; all trainable ones if None.
      name: The variable scope of the operations.
      summaries: What is summarized, of `tf.contrib.layers.OPTIMIZER_SUMMARIES`.
      colocate_gradients_with_ops: Whether gradients are computed where their operations are.
      increment_global_step: Whether the global step is counted up.

    Returns:
      The loss, a tensor that makes a step of training when it is computed.

    Raises:
      ValueError: If the loss is not a scalar, or an optimizer or summary is not known.
    """
    loss = convert_to_tensor(loss)
    if loss.shape.ndims not in (0, None):
        raise ValueError(f"Loss must be scalar, but has shape {loss.shape}")
    if global_step is None:
        global_step = get_global_step()
    else:
        assert_global_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        update_ops = list(set(get_collection(GraphKeys.UPDATE_OPS))) if update_ops is None else update_ops
        if update_ops:
            loss = grouping.with_dependencies(list(update_ops), loss)
        summaries = _DEFAULT_SUMMARIES if summaries is None else list(summaries)
        for kind in summaries:
            if kind not in OPTIMIZER_SUMMARIES:
                raise ValueError(
                    f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {kind}."
                )
        rate = _learning_rate(learning_rate, learning_rate_decay_fn, global_step, summaries)
        chosen = _optimizer(optimizer, rate)
        pairs = chosen.compute_gradients(
            loss,
            trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gradient_noise_scale is not None:
            pairs = _with_noise(pairs, gradient_noise_scale)
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
            if not pairs:
                raise ValueError(
                    "Empty list of (gradient, var) pairs encountered. This is most likely to be caused by an "
                    "improper value of gradient_multipliers."
                )
        wants_norms = "global_gradient_norm" in summaries or "gradient_norm" in summaries
        if wants_norms:
            summary.scalar("global_norm/gradient_norm", clipping.global_norm([grad for grad, _ in pairs]))
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in summaries:
            summary.scalar("loss", loss)
        _summarize_gradients(pairs, summaries)
        if wants_norms and clip_gradients is not None:
            norm = clipping.global_norm([grad for grad, _ in pairs])
            summary.scalar("global_norm/clipped_gradient_norm", norm)
        step = global_step if increment_global_step else None
        train_op = chosen.apply_gradients(pairs, global_step=step, name="train")
        return grouping.with_dependencies([train_op], loss)


def _learning_rate(given: Any, decay: Callable | None, global_step: Any, summaries: Sequence[str]) -> Any:
    rate = None
    if given is not None:
        if isinstance(given, Tensor) and given.shape.ndims == 0:
            rate = given
        elif isinstance(given, float):
            if given < 0.0:
                raise ValueError(f"Invalid learning_rate {given}.")
            rate = get_variable("learning_rate", [], trainable=False, initializer=Constant(given))
        else:
            raise ValueError(f"Learning rate should be 0d Tensor or float. Got {given} of type {type(given)}")
    if rate is not None and decay is not None:
        if global_step is None:
            raise ValueError("global_step is required for learning_rate_decay_fn.")
        rate = decay(rate, global_step)
        if "learning_rate" in summaries:  # else it stays as it is
            summary.scalar("learning_rate", rate)
    return rate


def _optimizer(given: Any, rate: Any) -> Optimizer:
    """An optimizer from its name, its class, itself, or a function of the learning rate that makes one."""
    if isinstance(given, str):
        if given not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided {given}."
            )
        if rate is None:
            raise ValueError(f"Learning rate must be specified for {given}.")
        return OPTIMIZER_CLS_NAMES[given](learning_rate=rate)
    if isinstance(given, type) and issubclass(given, Optimizer):
        if rate is None:
            raise ValueError("Learning rate must be specified for an optimizer class.")
        return given(learning_rate=rate)
    if isinstance(given, Optimizer):
        return given
    if callable(given):
        made = given(rate) if rate is not None else given()
        if not isinstance(made, Optimizer):
            raise ValueError(
                f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}."
            )
        return made
    raise ValueError(
        "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer "
        f"or function with one argument. Got {given}."
    )


def _summarize_gradients(pairs: list, summaries: Sequence[str]) -> None:
    for grad, variable in pairs:
        if grad is None:
            continue
        name, values = variable.name.replace(":", "_"), _values(grad)
        if "gradients" in summaries:
            summary.histogram(f"gradients/{name}", values)
        if "gradient_norm" in summaries:
            summary.scalar(f"gradient_norm/{name}", clipping.global_norm([values]))


def _values(grad: Any) -> Tensor:
    return grad.values if isinstance(grad, IndexedSlices) else grad


def _like(grad: Any, values: Tensor) -> Any:
    return (
        IndexedSlices(values, grad.indices, grad.dense_shape) if isinstance(grad, IndexedSlices) else values
    )


def _with_noise(pairs: list, scale: float) -> list:
    """Gradients with normal noise of deviation `scale` added to each element."""

    def noisy(grad: Any) -> Any:
        shape = grad.dense_shape if isinstance(grad, IndexedSlices) else shapes.shape(grad)
        return distributions.truncated_normal(shape) * scale + grad

    return [(None if grad is None else noisy(grad), variable) for grad, variable in pairs]


def _multiplied(pairs: list, factors: Mapping[Any, Any]) -> list:
    """Gradients times the factor of their variable, which goes by itself or by its name."""

    def multiplied(grad: Any, variable: Any) -> Any:
        factor = factors.get(variable, factors.get(variable.name))
        if grad is None or factor is None:
            return grad
        return _like(grad, _values(grad) * casting.cast(factor, _values(grad).dtype))

    return [(multiplied(grad, variable), variable) for grad, variable in pairs]


def _clipped(pairs: list, limit: Any) -> list:
    if limit is None:
        return pairs
    if callable(limit):
        return limit(pairs)
    if not isinstance(limit, float):
        raise ValueError(f"Unknown type {type(limit)} for clip_gradients")
    grads, variables = zip(*pairs)
    return list(zip(clipping.clip_by_global_norm(list(grads), limit)[0], variables))


@export("contrib.slim.adaptive_clipping_fn")
def adaptive_clipping_fn(
    std_factor: TensorLike = 2.0,
    decay: TensorLike = 0.95,
    static_max_norm: TensorLike | None = None,
    global_step: VariableLike | None = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable:
    """Makes a function for `optimize_loss(clip_gradients=...)` that clips norms far above those of late.

    It keeps moving averages of the logarithm of the gradients' common norm and of its square. A norm that is
    `std_factor` standard deviations above the mean is brought down to the mean.

    Args:
      std_factor: How many standard deviations are allowed.
      decay: How much the averages keep in a step.
      static_max_norm: A norm that is never exceeded; None for none.
      global_step: The global step: the first steps count more then; None if they do not.
      report_summary: Whether a summary of the greatest norm is added.
      epsilon: What is added to norms, and the least variance.
      name: The name of the averages' scope.

    Returns:
      A function from pairs of gradients and variables to such pairs.
    """

    def clip(pairs: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        norm = clipping.global_norm([gradient for gradient, _ in pairs])
        with variable_scope(name, "AdaptiveMaxNorm", [norm]):
            log_norm = unary.log(norm + epsilon)
            kept = decay
            if global_step is not None:
                step = casting.cast(global_step, dtypes.float32)
                kept = binary.minimum(decay, step / (step + 1.0))
            mean = _moving_average("mean", log_norm, kept)
            deviation = unary.sqrt(
                binary.maximum(
                    epsilon, _moving_average("sq_mean", unary.square(log_norm), kept) - unary.square(mean)
                )
            )
            greatest = unary.exp(mean + std_factor * deviation)
        if report_summary:
            summary.scalar("global_norm/adaptive_max_gradient_norm", greatest)
        factor = indexing.where(norm < greatest, creation.ones_like(norm), unary.exp(mean) / norm)
        if static_max_norm is not None:
            factor = binary.minimum(static_max_norm / norm, factor)
        return [(_scaled(gradient, factor), variable) for gradient, variable in pairs]

    return clip


def _moving_average(name: str, value: Tensor, decay: Any) -> Tensor:
    kept = get_variable(name, value.shape, value.dtype, Zeros(), trainable=False)
    return assign_moving_average(kept, value, decay, zero_debias=False)


def _scaled(gradient: Any, factor: Tensor) -> Any:
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return None if gradient is None else gradient * factor
