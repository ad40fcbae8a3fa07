"""Mixed precision in one call: the rewrite of steps is switched on, and the optimizer scales the loss."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.runtime.settings import settings
from tideflow.train.loss_scale import LossScale, MixedPrecisionLossScaleOptimizer
from tideflow.train.optimizer import Optimizer

_log = logging.getLogger("tideflow")
_OPTION = "auto_mixed_precision"

# Kinds of optimizers, and what makes of one of them, and of a loss scale, one that scales the loss.
_SCALED: list[tuple[type, Callable[[Any, Any], Any]]] = [(Optimizer, MixedPrecisionLossScaleOptimizer)]


def scale_losses_of(kind: type, wrap: Callable[[Any, Any], Any]) -> None:
    """Says how optimizers of another kind scale the loss."""
    _SCALED.append((kind, wrap))


@export("train.experimental.enable_mixed_precision_graph_rewrite")
def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: LossScale | float | str = "dynamic") -> Any:
    """Lets GPUs compute in float16 where that is safe, and scales the loss so that gradients do not vanish.

    Sessions that are made afterwards compute matrix products and convolutions on GPUs in float16, and what
    lies between them; variables, losses and sums stay in float32. A session whose ConfigProto has
    `graph_options.rewrite_options.auto_mixed_precision` OFF does not. CPUs go on in float32, unless
    `tf.config.optimizer.set_experimental_options({"auto_mixed_precision_onednn_bfloat16": True})` lets them,
    and GPUs, use bfloat16.

    Args:
      opt: A `tf.train.Optimizer` or `tf.keras.optimizers.Optimizer`.
      loss_scale: A `tf.train.experimental.LossScale`, a number for a fixed scale, or `"dynamic"`.

    Returns:
      The optimizer to use: it applies the other to gradients of the scaled loss, scaled back.

    Raises:
      ValueError: If `opt` is no optimizer, or one that scales the loss already.
    """
    wrapped = _wrapped(opt, loss_scale)
    if settings.has_plain_session:
        _log.warning(
            "You already have existing Sessions that do not use mixed precision. "
            "enable_mixed_precision_graph_rewrite() will not affect these Sessions."
        )
    settings.optimizer_options[_OPTION] = True
    return wrapped


def _wrapped(opt: Any, loss_scale: Any) -> Any:
    name = type(opt).__name__
    if name in ("MixedPrecisionLossScaleOptimizer", "LossScaleOptimizer"):
        raise ValueError(
            f'"opt" must not already be an instance of a {name}. `enable_mixed_precision_graph_rewrite` will '
            f"automatically wrap the optimizer with a {name}."
        )
    for kind, wrap in _SCALED:
        if isinstance(opt, kind):
            return wrap(opt, loss_scale)
    raise ValueError(
        '"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, but got: '
        f"{opt}"
    )


@export("train.experimental.disable_mixed_precision_graph_rewrite")
def disable_mixed_precision_graph_rewrite() -> None:
    """Ends what `tf.train.experimental.enable_mixed_precision_graph_rewrite` has begun, for sessions that are
    made afterwards. Optimizers that scale the loss go on doing so.
    """
    if not settings.optimizer_options.get(_OPTION):
        _log.warning(
            "disable_mixed_precision_graph_rewrite() called when mixed precision is already disabled."
        )
    settings.optimizer_options[_OPTION] = False
