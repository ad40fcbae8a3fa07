"""The switches between TensorFlow 1's behaviour and TensorFlow 2's. Tideflow is the former: what turns
the latter off has nothing to do, and what would turn it on says what to do instead.
"""

from __future__ import annotations

from tideflow.export import export


@export("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether conditionals and loops are functional operations: False."""
    return False


@export("disable_v2_behavior")
def disable_v2_behavior() -> None:
    """Does nothing: the behaviour is TensorFlow 1's in any case."""


@export("disable_tensor_equality")
def disable_tensor_equality() -> None:
    """Does nothing: tensors are compared by identity in any case."""


@export("disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """Does nothing: control flow is TensorFlow 1's in any case."""


@export("disable_v2_tensorshape")
def disable_v2_tensorshape() -> None:
    """Does nothing: the elements of a shape are Dimensions in any case."""


@export("enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """Does nothing: conditionals and loops compute the same in both forms."""


@export("enable_v2_behavior")
def enable_v2_behavior() -> None:
    """Raises RuntimeError: the behaviour is TensorFlow 1's."""
    raise RuntimeError(
        "Tideflow has TensorFlow 1's behaviour (graphs and sessions) only; remove tf.enable_v2_behavior()."
    )


@export("enable_tensor_equality")
def enable_tensor_equality() -> None:
    """Raises RuntimeError: tensors are compared by identity."""
    raise RuntimeError(
        "Tideflow compares tensors by identity, as TensorFlow 1 does: write tf.equal(a, b) for their "
        "elements."
    )


@export("enable_v2_tensorshape")
def enable_v2_tensorshape() -> None:
    """Raises RuntimeError: the elements of a shape are Dimensions."""
    raise RuntimeError(
        "The elements of a tf.TensorShape are Dimensions, as in TensorFlow 1: "
        "tf.compat.dimension_value(shape[i]), or shape.as_list()[i], is the int (or None)."
    )
