"""Policies: the types in which layers compute and keep their variables."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.export import export
from tideflow.layers.precision import set_global_policy
from tideflow.platform import logging
from tideflow.train.loss_scale import LossScale, loss_scale_of
from tideflow.variables.behavior import v2_behavior_enabled

_DEFAULT = "USE_DEFAULT"
_FLOAT32_VARIABLES = "_with_float32_vars"


@export("keras.mixed_precision.experimental.Policy")
class Policy:
    """The types in which a layer computes and keeps its variables, and the loss scale that goes with them.

    Args:
      name: A type, such as `"float16"`; `"infer"` for that of the inputs; one of them with
        `_with_float32_vars` after it for variables in float32; or `"mixed_float16"` or `"mixed_bfloat16"`.
      loss_scale: A loss scale, a number, or `"dynamic"`; none if None. By default it is dynamic for
        `"mixed_float16"`.

    Raises:
      TypeError: If the name is not a string.
      ValueError: If it stands for no policy.
    """

    def __init__(self, name: str, loss_scale: LossScale | float | str | None = _DEFAULT):
        if isinstance(name, tf.DType):
            raise TypeError(
                f"'name' must be a string, not a DType. Instead, pass DType.name. Got: {name.name}"
            )
        if not isinstance(name, str):
            raise TypeError(f"'name' must be a string, but got: {name}")
        old = {"infer_float32_vars": "infer_with_float32_vars", "float32_with_float32_vars": "float32"}
        self._name = old.get(name, name)
        self._compute_dtype, self._variable_dtype = _types(self._name)
        if isinstance(loss_scale, str) and loss_scale == _DEFAULT:
            loss_scale = "dynamic" if self._name == "mixed_float16" else None
        if loss_scale and self._compute_dtype not in (None, "float16"):
            logging.warning(
                "Creating a Policy with a loss scale is only useful for float16 policies. You passed "
                "loss_scale=%r for policy %s. Consider not passing any loss_scale instead.",
                loss_scale,
                name,
            )
        self._loss_scale = None if loss_scale is None else loss_scale_of(loss_scale)

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def compute_dtype(self) -> str | None:
        """The type in which a layer computes; None for that of its inputs."""
        return self._compute_dtype

    @property
    def variable_dtype(self) -> str | None:
        """The type of a layer's variables; None for that of its inputs."""
        return self._variable_dtype

    @property
    def should_cast_variables(self) -> bool:
        """Whether variables are cast before a layer computes with them."""
        return self._variable_dtype != self._compute_dtype

    @property
    def loss_scale(self) -> LossScale | None:
        """The scale of the loss; None if there is none."""
        return self._loss_scale

    def __repr__(self) -> str:
        return f'<Policy "{self._name}", loss_scale={self._loss_scale}>'


def _types(name: str) -> tuple[str | None, str | None]:
    if name in ("mixed_float16", "mixed_bfloat16"):
        return name.removeprefix("mixed_"), "float32"
    base = name.removesuffix(_FLOAT32_VARIABLES)
    kept = base != name
    try:
        dtype = None if base == "infer" else tf.as_dtype(base).name
    except TypeError:
        words = (
            f"Cannot convert value {name} to a mixed precision Policy. Valid policies include include those "
            'in the form "<dtype>" and "<dtype>_with_float32_vars", where <dtype> is the name of a dtype.'
        )
        if kept:
            words += (
                f" The value {name} ends with _with_float32_vars, but {base} cannot be converted to a DType"
            )
        raise ValueError(words) from None
    return dtype, "float32" if kept else dtype


_global: list[Any] = [None]


@export("keras.mixed_precision.experimental.global_policy")
def global_policy() -> Policy:
    """The policy of layers that have none of their own: `"infer"`, unless the program has set another.

    After `tf.enable_v2_behavior` it is that of `tf.keras.backend.floatx()`.
    """
    return _global[0] or Policy(tf.keras.backend.floatx() if v2_behavior_enabled() else "infer")


@export("keras.mixed_precision.experimental.set_policy")
def set_policy(policy: Policy | str | None) -> None:
    """Sets the policy of layers that have none of their own.

    Args:
      policy: The policy, or its name; None for the default.

    Raises:
      ValueError: If the policy does not infer its type, unless `tf.enable_v2_behavior` was called.
    """
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy(policy)
    if policy and policy.compute_dtype and not v2_behavior_enabled():
        raise ValueError("The global policy can only be set to a non-infer policy in TensorFlow 2")
    _global[0] = policy
    set_global_policy(policy)
