"""What kernels and value rules see while a step is traced for another system (`exchange/`).

There are no values then: checks of them are left out, and the way is taken that is right for all. Sizes that
only a run knows are symbols (`torch.SymInt`), with which Python computes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch


def can_look() -> bool:
    """Whether a kernel may look at the values that it is given."""
    return not torch.compiler.is_exporting()


def has_symbols(array: np.ndarray) -> bool:
    """Whether an element of an array of numbers is a symbol."""
    return array.dtype == object and any(isinstance(item, torch.SymInt) for item in array.flat)


def of_symbols(op: Any, arguments: Sequence[Any]) -> Any:
    """What an op makes of integers that symbols are among: its NumPy reference, on objects; None where it has
    none, or makes no integers.
    """
    if op.definition.reference is None or not op.outputs[0].dtype.is_integer:
        return None
    return np.asarray(op.definition.reference(*arguments), dtype=object).tolist()
