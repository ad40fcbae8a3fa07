"""Why a function was traced again: what its last two traces differ in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.functions.function_spec import FunctionSpec
from tideflow.graph.type_spec import TensorSpec


def why_traced_again(spec: FunctionSpec, traces: Sequence[Any]) -> str:
    """A sentence about the argument in which the last trace differs from the one before it."""
    if len(traces) < 2:
        return "The function was called in another graph than before."
    (before, before_by_name), (after, after_by_name) = (
        trace.structured_input_signature for trace in traces[-2:]
    )
    if len(before) != len(after):
        return f"It was called with {len(after)} arguments, before with {len(before)}."
    names = spec.argument_names(len(after))
    pairs = list(zip(names, before, after, strict=True))
    pairs += [(name, before_by_name.get(name), after_by_name.get(name)) for name in after_by_name]
    for name, old, new in pairs:
        if isinstance(old, TensorSpec) and isinstance(new, TensorSpec):
            if old.dtype is not new.dtype:
                return f"The argument '{name}' was a tensor of {new.dtype.name}, before of {old.dtype.name}."
            if old.shape.tuple != new.shape.tuple:
                return (
                    f"The argument '{name}' had shape {new.shape}, before {old.shape}: an input_signature or "
                    "experimental_relax_shapes=True makes one trace serve all shapes."
                )
        elif isinstance(new, (bool, int, float)) and new != old:
            return f"The argument '{name}' was the Python number {new!r}, before {old!r}: pass a tensor."
        elif type(old) is not type(new) or old != new:
            return f"The argument '{name}' is another Python value than before: {new!r} after {old!r}."
    return "The arguments are objects that do not equal those of earlier calls."
