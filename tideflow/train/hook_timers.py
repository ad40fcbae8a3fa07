"""When a hook does its work: every so many steps, or seconds."""

from __future__ import annotations

import time

from tideflow.export import export


@export("train.SecondOrStepTimer")
class SecondOrStepTimer:
    """A timer that triggers once every number of seconds or steps. The first step always triggers.

    Args:
      every_secs: The interval in seconds.
      every_steps: The interval in steps. Exactly one of the two must be given.

    Raises:
      ValueError: If both or none of the arguments are given.
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Resets the timer, so that the next step triggers."""
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether the timer triggers at a step.

        Args:
          step: The step.

        Returns:
          True if the interval has passed since the last triggered step.
        """
        if self._last_triggered_step is None:
            return True
        if step == self._last_triggered_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_triggered_time + self._every_secs
        return step >= self._last_triggered_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Records that the timer has triggered at a step.

        Args:
          step: The step.

        Returns:
          The seconds and the steps since the last triggered step, or None and None if this is the first.
        """
        now = time.time()
        since = None, None
        if self._last_triggered_time is not None:
            since = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        return since

    def last_triggered_step(self) -> int | None:
        """The last step at which the timer triggered, or None."""
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
