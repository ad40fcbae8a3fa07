"""SessionManager: a session whose model is ready, restored from a checkpoint, initialized, or waited for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.config_pb2 import ConfigProto, RunOptions

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import FailedPreconditionError
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import get_default_graph
from tideflow.io.checkpoint_state import get_checkpoint_state
from tideflow.platform import logging
from tideflow.session.session import Session

if TYPE_CHECKING:
    from tideflow.graph.operation import Operation, Tensor
    from tideflow.train.saver import Saver

_FIRST_PAUSE = (
    0.1  # seconds; then twice as long each time: whoever waits for a chief that starts up starts soon
)

Readiness = tuple[bool, str | None]  # and why not


@export("train.SessionManager")
class SessionManager:
    """Creates sessions for a graph and makes sure that its model is initialized.

    Args:
      local_init_op: An operation to run in each new session, for local variables and tables.
      ready_op: A tensor with the names of uninitialized variables: empty when the model is ready.
      ready_for_local_init_op: A tensor that is empty when `local_init_op` can run.
      graph: The graph; the default graph if None.
      recovery_wait_secs: How many seconds to wait from one check to the next.
      local_init_run_options: Options of the step that runs `local_init_op`.
    """

    def __init__(
        self,
        local_init_op: Tensor | Operation | None = None,
        ready_op: Tensor | None = None,
        ready_for_local_init_op: Tensor | None = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: RunOptions | None = None,
    ):
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    def prepare_session(
        self,
        master: str,
        init_op: Tensor | Operation | None = None,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: ConfigProto | None = None,
        init_feed_dict: dict | None = None,
        init_fn: Callable[[Any], None] | None = None,
    ) -> Session:
        """Creates a session with a model that is restored from a checkpoint or else initialized.

        Args:
          master: The address of the server to run on.
          init_op: The operation that initializes the model.
          saver: The Saver that restores it.
          checkpoint_dir: The directory of the checkpoints.
          checkpoint_filename_with_path: The prefix of the checkpoint to restore, instead of the newest in a
            directory.
          wait_for_checkpoint: Whether to wait until there is a checkpoint.
          max_wait_secs: How many seconds to wait for it.
          config: The configuration of the session.
          init_feed_dict: Values to feed to `init_op`.
          init_fn: A function of the session that is called after `init_op`.

        Returns:
          The session.

        Raises:
          RuntimeError: If the model is not ready after that.
          ValueError: If the arguments contradict each other.
        """
        sess, restored = self._restore_checkpoint(
            master,
            saver,
            checkpoint_dir,
            checkpoint_filename_with_path,
            wait_for_checkpoint,
            max_wait_secs,
            config,
        )
        with _closed_on_failure(sess):
            if not restored:
                self._initialize(sess, init_op, init_feed_dict, init_fn)
            tried = f"Init op: {_name(init_op)}, init fn: {init_fn}"
            ready, why_not = self._try_run_local_init_op(sess)
            if not ready:
                raise RuntimeError(
                    f"Init operations did not make model ready for local_init.  {tried}, error: {why_not}"
                )
            ready, why_not = readiness(sess, self._ready_op, "Model not ready")
            if not ready:
                raise RuntimeError(
                    f"Init operations did not make model ready.  {tried}, "
                    f"local_init_op: {self._local_init_op}, error: {why_not}"
                )
        return sess

    def _initialize(
        self, sess: Session, init_op: Any, init_feed_dict: dict | None, init_fn: Callable | None
    ) -> None:
        if init_op is None and not init_fn and self._local_init_op is None:
            raise RuntimeError(
                "Model is not initialized and no init_op or init_fn or local_init_op was given"
            )
        if init_op is not None:
            sess.run(init_op, feed_dict=init_feed_dict)
        if init_fn:
            init_fn(sess)

    def recover_session(
        self,
        master: str,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: ConfigProto | None = None,
    ) -> tuple[Session, bool]:
        """Creates a session, and restores the model if there is a checkpoint.

        Args:
          master: The address of the server to run on.
          saver: The Saver that restores it.
          checkpoint_dir: The directory of the checkpoints.
          checkpoint_filename_with_path: The prefix of the checkpoint to restore, instead of the newest in a
            directory.
          wait_for_checkpoint: Whether to wait until there is a checkpoint.
          max_wait_secs: How many seconds to wait for it.
          config: The configuration of the session.

        Returns:
          The session, and whether its model was restored and is ready.
        """
        sess, restored = self._restore_checkpoint(
            master,
            saver,
            checkpoint_dir,
            checkpoint_filename_with_path,
            wait_for_checkpoint,
            max_wait_secs,
            config,
        )
        with _closed_on_failure(sess):
            ready_for_local_init, why_not = self._try_run_local_init_op(sess)
            if not restored:
                return sess, False
            source = checkpoint_dir or checkpoint_filename_with_path
            if not ready_for_local_init:
                logging.info(
                    "Restoring model from %s did not make model ready for local init: %s", source, why_not
                )
                return sess, False
            ready, why_not = readiness(sess, self._ready_op, "Model not ready")
            if not ready:
                logging.info("Restoring model from %s did not make model ready: %s", source, why_not)
                return sess, False
            logging.info("Restored model from %s", source)
            return sess, True

    def wait_for_session(
        self, master: str, config: ConfigProto | None = None, max_wait_secs: float | None = float("inf")
    ) -> Session:
        """Creates a session for a model that another task initializes, and waits until it is ready.

        Args:
          master: The address of the server to run on.
          config: The configuration of the session.
          max_wait_secs: How many seconds to wait.

        Returns:
          The session.

        Raises:
          DeadlineExceededError: If the model is not ready in time.
        """
        limit = float("inf") if max_wait_secs is None else max_wait_secs
        end = time.monotonic() + limit
        for pause in self._pauses():
            sess = Session(master, graph=self._graph, config=config)
            with _closed_on_failure(sess):
                ready, why_not_local = self._try_run_local_init_op(sess)
                why_not = None
                if ready:
                    ready, why_not = readiness(sess, self._ready_op, "Model not ready")
                if ready:
                    return sess
            _close_quietly(sess)
            if time.monotonic() + pause > end:
                raise errors.deadline_exceeded(f"Session was not ready after waiting {limit:.0f} secs.")
            logging.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                why_not_local,
                why_not,
            )
            time.sleep(pause)
        raise AssertionError("the pauses have no end")

    # -------------------------------------------------------------------------------------------- its steps

    def _restore_checkpoint(
        self,
        master: str,
        saver: Any,
        checkpoint_dir: str | None,
        checkpoint_filename_with_path: str | None,
        wait_for_checkpoint: bool,
        max_wait_secs: float,
        config: ConfigProto | None,
    ) -> tuple[Session, bool]:
        """A session, and whether a checkpoint was there to restore."""
        if checkpoint_dir and checkpoint_filename_with_path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        sess = Session(master, graph=self._graph, config=config)
        with _closed_on_failure(sess):
            if not saver or not (checkpoint_dir or checkpoint_filename_with_path):
                return sess, False
            if checkpoint_filename_with_path:
                saver.restore(sess, checkpoint_filename_with_path)
                return sess, True
            state = self._checkpoint_state(checkpoint_dir, max_wait_secs if wait_for_checkpoint else 0)
            if state is None:
                return sess, False
            saver.restore(sess, state.model_checkpoint_path)
            saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
            return sess, True

    def _checkpoint_state(self, checkpoint_dir: str, max_wait_secs: float) -> Any:
        """What the directory says of its checkpoints, once it has one; None where it has none for so long."""
        end = time.monotonic() + max_wait_secs
        for pause in self._pauses():
            state = get_checkpoint_state(checkpoint_dir)
            if state is not None and state.model_checkpoint_path:
                return state
            if time.monotonic() >= end:
                return None
            logging.info("Waiting for checkpoint to be available.")
            time.sleep(min(pause, max(0.0, end - time.monotonic())))

    def _pauses(self) -> Iterator[float]:
        """Seconds from one look to the next, without end: short ones first."""
        pause = min(_FIRST_PAUSE, self._recovery_wait_secs)
        while True:
            yield pause
            pause = min(2 * pause, self._recovery_wait_secs)

    def _try_run_local_init_op(self, sess: Session) -> Readiness:
        """Runs `local_init_op`, if there is one and the model is ready for it."""
        if self._local_init_op is None:
            return True, None
        ready, why_not = readiness(sess, self._ready_for_local_init_op, "Model not ready for local init")
        if ready:
            logging.info("Running local_init_op.")
            sess.run(self._local_init_op, options=self._local_init_run_options)
            logging.info("Done running local_init_op.")
        return ready, why_not


def readiness(sess: Session, op: Any, complaint: str) -> Readiness:
    """Whether an op that lists what is not initialized lists nothing, and what it says otherwise."""
    if op is None:
        return True, None
    try:
        missing = sess.run(op)
    except FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            logging.warning("%s : error [%s]", complaint, str(error))
            raise
        return False, str(error)
    if missing is None or missing.dtype == np.int32 or missing.size == 0:  # int32: of older ready_ops
        return True, None
    return False, "Variables not initialized: " + ", ".join(name.decode() for name in missing)


def _name(op: Any) -> str:
    return "None" if op is None else getattr(op, "name", f"<no name for {type(op)}>")


@contextlib.contextmanager
def _closed_on_failure(sess: Session) -> Iterator[None]:
    """A session that nobody gets is closed."""
    try:
        yield
    except BaseException:
        _close_quietly(sess)
        raise


def _close_quietly(sess: Session) -> None:
    with contextlib.suppress(Exception):  # it failed, or was of no use, already
        sess.close()
