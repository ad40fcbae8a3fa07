"""Iterators in checkpoints: training goes on with the element behind the last one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tideflow.data.iterator import COLLECTION, Iterator
from tideflow.data.iterator_saveable import IteratorSaveable
from tideflow.export import export
from tideflow.graph.scopes import get_default_graph
from tideflow.io.checkpoint_state import latest_checkpoint
from tideflow.train.saveables import SaveableObject
from tideflow.train.saver import Saver
from tideflow.train.saving_hooks import CheckpointSaverHook
from tideflow.train.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike
    from tideflow.train.coordinator import Coordinator
    from tideflow.train.session_run_hook import SessionRunContext, SessionRunValues


@export("data.experimental.make_saveable_from_iterator", "contrib.data.make_saveable_from_iterator")
def make_saveable_from_iterator(iterator: Iterator) -> SaveableObject:
    """Makes the position of an iterator saveable by a Saver.

    Restoring begins the dataset again and skips the elements that were taken. The dataset must have the same
    elements in each pass; a shuffled one needs a seed.

    Args:
      iterator: The iterator.

    Returns:
      A saveable object; add it to the collection SAVEABLE_OBJECTS.
    """
    return IteratorSaveable(iterator._iterator_resource)


@export("data.experimental.CheckpointInputPipelineHook", "contrib.data.CheckpointInputPipelineHook")
class CheckpointInputPipelineHook(SessionRunHook):
    """A hook that saves and restores the positions of all iterators of the graph.

    It saves when the estimator saves its model.

    Args:
      estimator: The estimator, whose directory and interval are used.
    """

    def __init__(self, estimator: Any):
        config = estimator._config
        prefix = "input"
        if getattr(config, "num_worker_replicas", 1) > 1:
            prefix = f"input_{config.task_type}_{config.task_id}"
        self._folder = estimator.model_dir
        self._latest_filename = f"checkpoint_{prefix}"
        self._saver_hook = CheckpointSaverHook(
            estimator.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            saver=_NamedSaver(self._latest_filename),
            checkpoint_basename=f"{prefix}.ckpt",
        )

    def begin(self) -> None:
        resources = get_default_graph().get_collection(COLLECTION)
        if not resources:
            raise ValueError(
                "CheckpointInputPipelineHook found no iterators in the graph: make the iterator of the "
                "dataset before the session."
            )
        self._saver_hook._saver.saver = Saver([IteratorSaveable(r) for r in resources], sharded=True)
        self._saver_hook.begin()

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        path = latest_checkpoint(self._folder, latest_filename=self._latest_filename)
        if path is not None:
            self._saver_hook._saver.saver.restore(session, path)
        self._saver_hook.after_create_session(session, coord)

    def before_run(self, run_context: SessionRunContext) -> Any:
        return self._saver_hook.before_run(run_context)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        self._saver_hook.after_run(run_context, run_values)

    def end(self, session: SessionLike) -> None:
        self._saver_hook.end(session)


class _NamedSaver:
    """A saver that notes its last checkpoint in a file of its own, beside the model's."""

    def __init__(self, latest_filename: str):
        self.saver: Saver | None = None
        self._latest_filename = latest_filename

    def save(self, session: Any, save_path: str, global_step: Any) -> str:
        return self.saver.save(
            session,
            os.fspath(save_path),
            global_step=global_step,
            latest_filename=self._latest_filename,
            write_meta_graph=False,
        )
