"""Watching the steps of a session: every operation runs for itself, and what it gives is kept."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from tideflow.compile.request import Hook
from tideflow.programs.debugger.dumps import Datum
from tideflow.runtime.values import to_numpy
from tideflow.session import checks
from tideflow.session.config import every_rule

Wanted = Callable[[str, str, str], bool]  # of the name of an operation, its type, and the type of a value


def wanted_by(nodes: str | None = None, types: str | None = None, dtypes: str | None = None) -> Wanted:
    """Values of operations whose names, types and types of values match these expressions."""
    patterns = [re.compile(pattern) if pattern else None for pattern in (nodes, types, dtypes)]

    def wanted(*facts: str) -> bool:
        return all(p is None or p.match(fact) for p, fact in zip(patterns, facts, strict=True))

    return wanted


class Recorder:
    """Keeps copies of the values of a step."""

    def __init__(self, wanted: Wanted):
        self.data: list[Datum] = []
        self._wanted = wanted
        self._lock = threading.Lock()
        self._last = 0
        self.hook = Hook(self._after)

    def _after(self, context: Any, node: Any, outputs: tuple[Any, ...], inputs: tuple[Any, ...]) -> None:
        source, first = node.source, 0
        if source is None or source.type != node.type:  # the compiler's own: the read of a variable
            if not node.inputs or node.inputs[0].op.source is None:
                return
            source, first = node.inputs[0].op.source, node.inputs[0].value_index
        for slot, value in enumerate(outputs, first):
            if not isinstance(value, (torch.Tensor, np.ndarray)):
                continue  # a handle, or the side of a switch that is not taken
            array = np.array(to_numpy(value))
            if not self._wanted(source.name, source.type, str(array.dtype)):
                continue
            with self._lock:
                # Times tell values apart, and their order.
                self._last = max(self._last + 1, time.time_ns() // 1000)
                self.data.append(Datum(source.name, slot, self._last, array))


def check_watchable(session: Any) -> None:
    """ValueError for a session whose steps run in other processes."""
    if getattr(session, "_target", ""):
        raise ValueError(
            f"The debugger watches sessions of this process, but this one is at {session._target!r}. "
            "tf.Session(check_finite=True) and session.explain(fetches) need no debugger."
        )


@contextlib.contextmanager
def watching(session: Any, recorder: Recorder) -> Iterator[None]:
    """Inside the block, the steps of a session are compiled anew, without rewrites, and recorded."""
    before = session._check, session._disabled_rules
    session._check = checks.combined(session._check, recorder.hook)
    session._disabled_rules = session._disabled_rules | every_rule()
    session._steps.steps.clear()
    try:
        yield
    finally:
        session._check, session._disabled_rules = before
        session._steps.steps.clear()
