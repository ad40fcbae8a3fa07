"""`tf.train.CheckpointManager`: numbered checkpoints of a directory, of which the newest are kept."""

from __future__ import annotations

import logging
import os
import time
from numbers import Integral
from typing import TYPE_CHECKING

from tideflow.export import export
from tideflow.io.checkpoint_state import get_checkpoint_state, remove_checkpoint, write_state
from tideflow.train.checkpoint import Checkpoint
from tideflow.train.object_saver import session_or_default
from tideflow.variables.global_step import global_step

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_log = logging.getLogger("tensorflow")


@export("train.CheckpointManager", "contrib.checkpoint.CheckpointManager")
class CheckpointManager:
    """Saves a Checkpoint into a directory and deletes old checkpoints there.

    A new manager for the directory continues with the checkpoints that it finds.

    Args:
      checkpoint: The Checkpoint.
      directory: The directory.
      max_to_keep: How many of the newest checkpoints are kept; all if None.
      keep_checkpoint_every_n_hours: One checkpoint in so many hours is kept forever; none if None.
      checkpoint_name: The name of the checkpoints' files.

    Raises:
      ValueError: If `max_to_keep` is not positive.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_max_to_keep`, got {max_to_keep}."
            )
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._max_to_keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._kept: dict[str, float] = {}  # when each was written, oldest first
        self._latest: str | None = None
        self._last_preserved = time.time() - 1.0
        self._recover()

    def _recover(self) -> None:
        """Takes over what the directory's state says of an earlier manager."""
        state = get_checkpoint_state(self._directory)
        if state is None:
            return
        now = time.time()
        self._latest = state.model_checkpoint_path
        self._last_preserved = min(state.last_preserved_timestamp, now)
        if now < state.last_preserved_timestamp:
            _log.warning(
                "time.time() returned a value %f seconds behind the last preserved checkpoint timestamp.",
                state.last_preserved_timestamp - now,
            )
        paths = state.all_model_checkpoint_paths
        times = state.all_model_checkpoint_timestamps or [self._last_preserved] * len(paths)
        found = ((path, min(when, now)) for path, when in zip(paths, times))
        self._kept = {path: when for path, when in found if when > self._last_preserved}

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the newest checkpoint, or None."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints that the manager keeps for now, oldest first."""
        return list(self._kept)

    def save(self, checkpoint_number: TensorLike | None = None) -> str:
        """Writes a checkpoint of the default session's state, and deletes old ones.

        Args:
          checkpoint_number: The number of the checkpoint: an int, a variable or a tensor; that of the save
            counter if None.

        Returns:
          The prefix of the checkpoint.
        """
        session = session_or_default(None)
        count = self._checkpoint.count_save(session)
        if checkpoint_number is None:
            checkpoint_number = count
        elif not isinstance(checkpoint_number, Integral):
            checkpoint_number = global_step(session, checkpoint_number)
        path = self._checkpoint.write(f"{self._prefix}-{checkpoint_number}", session)
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._latest = path
        self._note()  # first the state names the new one; only then may an old one go
        self._sweep()
        self._note()
        return path

    def _sweep(self) -> None:
        while self._max_to_keep and len(self._kept) > self._max_to_keep:
            path, when = next(iter(self._kept.items()))
            del self._kept[path]
            if self._hours and when - self._hours * 3600.0 >= self._last_preserved:
                self._last_preserved = when  # one in so many hours stays for good
            else:
                remove_checkpoint(path)

    def _note(self) -> None:
        write_state(
            self._directory,
            self._latest,
            list(self._kept),
            all_model_checkpoint_timestamps=list(self._kept.values()),
            last_preserved_timestamp=self._last_preserved,
            save_relative_paths=True,
        )
