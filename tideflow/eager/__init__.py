"""Operations that run at once: tensors with values, tapes, and the switches of the mode."""

from tideflow.eager import (  # noqa: F401
    context,
    gradient_functions,
    operators,
    python_functions,
    recompute,
    tape,
    tensor,
)
