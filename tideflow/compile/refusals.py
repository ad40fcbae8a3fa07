"""Ops on inputs that their shape rules refuse in a step: the kernel says first what is wrong, if it can."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError


def refusing(op: Op, said: str) -> Op:
    """The op for inputs that its shape rule refuses with these words: its kernels refuse them too.

    A kernel that has words of its own for what is wrong says them first; it is not asked if it would change
    state or wait.
    """
    made = copy.copy(op)
    made.kernels, made.specialize_rule, made._wanted = {}, None, dict(op._wanted)
    for key, kernel in op.kernels.items():
        made.kernels[key] = refuse = _refusing(None if op.effects or op.blocking else kernel, said)
        made._wanted[refuse] = op.wants(kernel)
    return made


def _refusing(kernel: Callable[..., Any] | None, said: str) -> Callable[..., Any]:
    def refuse(*inputs: Any, **keywords: Any) -> None:
        try:
            if kernel is not None:
                kernel(*inputs, **keywords)
        except ShapeError as error:
            first = error.in_step if str(error) in said else error.step_message
            raise ShapeError(said if first in said else f"{first}. {said}") from None
        except InvalidArgumentError as error:
            raise ShapeError(f"{error.message}. {said}") from None
        raise ShapeError(said)

    return refuse
