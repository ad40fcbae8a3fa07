"""When a hook does its work: every so many steps, or seconds."""

from __future__ import annotations

import time

from tideflow.export import export


@export("train.SecondOrStepTimer")
class SecondOrStepTimer:
    """Is due at first, and then once every so many seconds or every so many steps."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """As if it had never been due."""
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether the work is due at this step."""
        if self._last_triggered_step is None:
            return True
        if step == self._last_triggered_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_triggered_time + self._every_secs
        return step >= self._last_triggered_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """The work was done at this step; returns the seconds and steps since the last time, if any."""
        now = time.time()
        since = None, None
        if self._last_triggered_time is not None:
            since = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        return since

    def last_triggered_step(self) -> int | None:
        """The step at which the work was last done."""
        return self._last_triggered_step


class NeverTriggerTimer:
    """Is never due: for hooks that only do their work at the end."""

    def reset(self) -> None:
        pass

    def should_trigger_for_step(self, step: int) -> bool:
        return False

    def update_last_triggered_step(self, step: int) -> tuple[None, None]:
        return None, None

    def last_triggered_step(self) -> None:
        return None
