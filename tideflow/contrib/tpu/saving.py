"""`AsyncCheckpointSaverHook`: checkpoints that are written while training goes on."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from tideflow.export import export
from tideflow.platform import logging
from tideflow.train.saving_hooks import CheckpointSaverHook


@export("contrib.tpu.AsyncCheckpointSaverHook")
class AsyncCheckpointSaverHook(CheckpointSaverHook):
    """A hook that saves checkpoints in a thread of its own, one at a time.

    A checkpoint that is due while the last one is still being written is left out. The end waits, and saves
    the last step. An error while writing is raised by the next step, or at the end.

    Args:
      checkpoint_dir: The directory.
      save_secs: The interval in seconds.
      save_steps: The interval in steps. Exactly one of the two must be given.
      saver: The Saver; that of `scaffold`, or of the graph's collection, if None.
      checkpoint_basename: The name of the checkpoints' files.
      scaffold: A Scaffold with a saver.
      listeners: Objects to call before and after each checkpoint.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Sequence[Any] | None = None,
    ):
        super().__init__(
            checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold, listeners
        )
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        self._wants_stop = False
        self._saved_step: int | None = None

    def _save(self, session: Any, step: int) -> bool:
        """Begins to save a checkpoint; whether a listener of the last one wants the training to end."""
        self._raise_failure()
        if self._thread is not None and self._thread.is_alive():
            logging.info("Saver thread still in progress, skipping checkpoint.")
            return self._wants_stop
        self._saved_step = step
        self._thread = threading.Thread(target=self._write, args=(session, step), daemon=True)
        self._thread.start()
        return self._wants_stop

    def _write(self, session: Any, step: int) -> None:
        try:
            with session.graph.as_default():
                self._wants_stop = super()._save(session, step) or self._wants_stop
        except Exception as error:  # whatever it is, the thread that trains raises it
            self._failure = error

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def end(self, session: Any) -> None:
        """Waits for a checkpoint that is being written, and saves the last step.

        Args:
          session: The session.
        """
        if self._thread is not None:
            logging.info("Waiting for any pending checkpoints to finish.")
            self._thread.join()
        self._raise_failure()
        step = session.run(self._global_step_tensor)
        if step != self._saved_step:
            self._saved_step = step
            super()._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)
