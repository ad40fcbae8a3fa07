"""The progress bar of training."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tideflow.export import export


@export("keras.utils.Progbar")
class Progbar:
    """A progress bar in the terminal.

    Args:
      target: The number of steps; unknown if None.
      width: The width of the bar.
      verbose: 0 for silence, 1 for a bar, 2 for one line at the end.
      interval: The least time between two updates, in seconds.
      stateful_metrics: The names of metrics that are shown as they are, not averaged.
      unit_name: What a step is called.
    """

    def __init__(
        self,
        target: int | None,
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Sequence[str] | None = None,
        unit_name: str = "step",
    ):
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.unit_name = unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        # On POSIX systems a line is written over, into files too, as TensorFlow does.
        terminal = hasattr(sys.stdout, "isatty") and sys.stdout.isatty()
        notebook = "ipykernel" in sys.modules or "PYCHARM_HOSTED" in os.environ
        self._dynamic_display = terminal or notebook or os.name == "posix"
        self._total_width = 0
        self._seen_so_far = 0
        self._values: dict[str, list[Any]] = {}
        self._start = time.time()
        self._last_update = 0.0

    def update(self, current: int, values: Sequence[tuple[str, Any]] | None = None) -> None:
        """Shows that some steps are done.

        Args:
          current: The number of steps done.
          values: Pairs of a name and a value. A value is averaged over steps, or shown as it is.
        """
        for name, value in values or ():
            if name in self.stateful_metrics:
                self._values[name] = [value, 1]
            else:
                steps = current - self._seen_so_far
                if name not in self._values:  # such as a value that there is once all steps are done
                    steps = max(steps, 1)
                total, count = self._values.get(name, [0, 0])
                self._values[name] = [total + value * steps, count + steps]
        self._seen_so_far = current
        now = time.time()
        if self.verbose == 1:
            ends = self.target is not None and current >= self.target
            if now - self._last_update < self.interval and not ends:
                return
            self._show(current, now)
        elif self.verbose == 2 and self.target is not None and current >= self.target:
            width = int(np.log10(self.target)) + 1
            line = f"{current:{width}d}/{self.target}"
            sys.stdout.write(f"{line} - {now - self._start:.0f}s{self._numbers()}\n")
            sys.stdout.flush()
        self._last_update = now

    def _show(self, current: int, now: float) -> None:
        before = self._total_width
        sys.stdout.write("\b" * before + "\r" if self._dynamic_display else "\n")
        if self.target is not None:
            digits = int(np.log10(self.target)) + 1
            bar = f"{current:{digits}d}/{self.target} ["
            filled = int(self.width * float(current) / self.target)
            if filled > 0:
                bar += "=" * (filled - 1) + (">" if current < self.target else "=")
            bar += "." * (self.width - filled) + "]"
        else:
            bar = f"{current:7d}/Unknown"
        self._total_width = len(bar)
        sys.stdout.write(bar)
        per_unit = (now - self._start) / current if current else 0.0
        if self.target is not None and current < self.target:
            info = f" - ETA: {_duration(per_unit * (self.target - current))}"
        else:
            info = f" - {now - self._start:.0f}s {_pace(per_unit)}/{self.unit_name}"
        info += self._numbers()
        self._total_width += len(info)
        if before > self._total_width:
            info += " " * (before - self._total_width)
        if self.target is not None and current >= self.target:
            info += "\n"
        sys.stdout.write(info)
        sys.stdout.flush()

    def _numbers(self) -> str:
        text = ""
        for name, (total, count) in self._values.items():
            mean = np.mean(total / max(1, count))
            text += f" - {name}: {mean:.4f}" if abs(mean) > 1e-3 else f" - {name}: {mean:.4e}"
        return text

    def add(self, n: int, values: Sequence[tuple[str, Any]] | None = None) -> None:
        """Shows that more steps are done.

        Args:
          n: The number of further steps.
          values: As for `update`.
        """
        self.update(self._seen_so_far + n, values)


def _duration(seconds: float) -> str:
    if seconds > 3600:
        return f"{int(seconds) // 3600}:{int(seconds) % 3600 // 60:02d}:{int(seconds) % 60:02d}"
    if seconds > 60:
        return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
    return f"{int(seconds)}s"


def _pace(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.0f}s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.0f}ms"
    return f"{seconds * 1e6:.0f}us"
