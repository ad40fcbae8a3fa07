"""The switches between TensorFlow 1's behaviour and TensorFlow 2's. Tideflow is the former: what turns
the latter off has nothing to do, and what would turn it on says what to do instead.
"""

from __future__ import annotations

from typing import Any

from tideflow.export import export


@export("executing_eagerly")
def executing_eagerly() -> bool:
    """False: operations build a graph."""
    return False


@export("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """False: conditionals and loops are Switch, Merge, Enter, Exit and NextIteration."""
    return False


@export("disable_eager_execution")
def disable_eager_execution() -> None:
    """Operations build a graph, as they do anyway."""


@export("disable_v2_behavior")
def disable_v2_behavior() -> None:
    """Everything is TensorFlow 1's, as it is anyway."""


@export("disable_tensor_equality")
def disable_tensor_equality() -> None:
    """Tensors are compared by identity, as they are anyway."""


@export("disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """Control flow is TensorFlow 1's, as it is anyway."""


@export("disable_v2_tensorshape")
def disable_v2_tensorshape() -> None:
    """A shape's elements are Dimensions, as they are anyway."""


@export("enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """Nothing changes: conditionals and loops compute the same either way."""


@export("enable_eager_execution")
def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """RuntimeError: there is no eager execution."""
    raise RuntimeError(
        "Tideflow runs graphs: there is no eager execution. Build the graph and run it in a tf.Session "
        "(tf.InteractiveSession makes `tensor.eval()` work line by line)."
    )


@export("enable_v2_behavior")
def enable_v2_behavior() -> None:
    """RuntimeError: the behaviour is TensorFlow 1's."""
    raise RuntimeError(
        "Tideflow has TensorFlow 1's behaviour (graphs and sessions) only; remove tf.enable_v2_behavior()."
    )


@export("enable_tensor_equality")
def enable_tensor_equality() -> None:
    """RuntimeError: tensors are compared by identity."""
    raise RuntimeError(
        "Tideflow compares tensors by identity, as TensorFlow 1 does: write tf.equal(a, b) for their "
        "elements."
    )


@export("enable_v2_tensorshape")
def enable_v2_tensorshape() -> None:
    """RuntimeError: a shape's elements are Dimensions."""
    raise RuntimeError(
        "The elements of a tf.TensorShape are Dimensions, as in TensorFlow 1: "
        "tf.compat.dimension_value(shape[i]), or shape.as_list()[i], is the int (or None)."
    )
