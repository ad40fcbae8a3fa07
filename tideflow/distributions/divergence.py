"""Kullback-Leibler divergences, by the kinds of the two distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import debugging
from tideflow.ops.math import reductions, unary

if TYPE_CHECKING:
    from tideflow.distributions.base import Distribution

_divergences: dict[tuple[type, type], Callable] = {}


@export("distributions.RegisterKL", "contrib.distributions.RegisterKL")
class RegisterKL:
    """Decorator that registers the Kullback-Leibler divergence of two types of distributions.

    The function takes a distribution of each type and a name.

    Args:
      dist_cls_a: The first type.
      dist_cls_b: The second type.

    Raises:
      ValueError: When applied, if there is a function for the types.
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type):
        self._key = dist_cls_a, dist_cls_b

    def __call__(self, kl_fn: Callable) -> Callable:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _divergences:
            a, b = (kind.__name__ for kind in self._key)
            raise ValueError(f"KL({a} || {b}) has already been registered to: {_divergences[self._key]}")
        _divergences[self._key] = kl_fn
        return kl_fn


def _registered(kind_a: type, kind_b: type) -> Callable | None:
    """The function for these kinds, or for the nearest kinds above them."""
    pairs = [
        (i + j, a, b)
        for i, a in enumerate(kind_a.__mro__)
        for j, b in enumerate(kind_b.__mro__)
        if (a, b) in _divergences
    ]
    return _divergences[min(pairs, key=lambda pair: pair[0])[1:]] if pairs else None


@export("distributions.kl_divergence", "contrib.distributions.kl_divergence")
def kl_divergence(
    distribution_a: Distribution,
    distribution_b: Distribution,
    allow_nan_stats: bool = True,
    name: str | None = None,
) -> Tensor:
    """Computes the Kullback-Leibler divergence of two distributions, in nats.

    Args:
      distribution_a: The first distribution.
      distribution_b: The second distribution.
      allow_nan_stats: Whether the result may be NaN; else a step fails.
      name: The name of the operation.

    Returns:
      A tensor of the shape of the batch.

    Raises:
      NotImplementedError: If no function is registered for the types.
    """
    function = _registered(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        result = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return result
        result = constants.identity(result, name="kl")
        names = f"{distribution_a.name} and {distribution_b.name}"
        said = (
            f"KL calculation between {names} returned NaN values (and was called with allow_nan_stats=False)"
        )
        none_is_nan = unary.logical_not(reductions.reduce_any(unary.is_nan(result)))
        with control_dependencies([debugging.Assert(none_is_nan, [f"{said}. Values:", result])]):
            return constants.identity(result, name="checked_kl")


def cross_entropy(ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None) -> Tensor:
    """The entropy of `ref` as `other` would encode it."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)
