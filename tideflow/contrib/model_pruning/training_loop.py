"""`model_pruning.train`: the loop of slim, with an update of the masks after each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.slim import training_loop
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor

if TYPE_CHECKING:
    from tensorboard.compat.proto.config_pb2 import ConfigProto

    from tideflow.graph.typing import VariableLike
    from tideflow.summary.writer import FileWriter
    from tideflow.train.saver import Saver
    from tideflow.train.sync_replicas_optimizer import SyncReplicasOptimizer

_USE_DEFAULT = 0


@export("contrib.model_pruning.train")
def train(
    train_op: Tensor,
    logdir: str | None,
    mask_update_op: Tensor | Operation,
    train_step_fn: Callable = training_loop.train_step,
    train_step_kwargs: dict[str, Any] | int = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: VariableLike | None = None,
    number_of_steps: int | None = None,
    init_op: Tensor | Operation | int | None = _USE_DEFAULT,
    init_feed_dict: dict | None = None,
    local_init_op: Tensor | Operation | int | None = _USE_DEFAULT,
    init_fn: Callable[[Any], None] | None = None,
    ready_op: Tensor | int | None = _USE_DEFAULT,
    summary_op: Tensor | int | None = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: FileWriter | int | None = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Saver | None = None,
    save_interval_secs: float = 600,
    sync_optimizer: SyncReplicasOptimizer | Sequence[SyncReplicasOptimizer] | None = None,
    session_config: ConfigProto | None = None,
    trace_every_n_steps: int | None = None,
) -> Any:
    """Makes steps of training, each followed by an update of the masks.

    Args:
      train_op: The tensor that makes a step and gives the loss.
      logdir: The directory of checkpoints and summaries; None for neither.
      mask_update_op: What updates the masks: `Pruning.conditional_mask_update_op()`.
      train_step_fn: The function that makes a step, as `tf.contrib.slim.learning.train_step` does.
      train_step_kwargs: What it gets as its last argument; the usual conditions to stop, log and trace by
        default.
      log_every_n_steps: The steps between two lines of log.
      graph: The graph; the default graph if None.
      master: The target of the session.
      is_chief: Whether this task initializes the model and writes.
      global_step: The global step; that of the graph, or a new one, if None.
      number_of_steps: The number of steps after which training ends; None for no end.
      init_op: What initializes the model; by default, all global variables.
      init_feed_dict: What it is fed.
      local_init_op: What initializes local variables and tables; by default, all of them.
      init_fn: A function of the session that is called after it.
      ready_op: What says whether the model is initialized; by default, its uninitialized variables.
      summary_op: The summaries to write; by default, all of them.
      save_summaries_secs: The seconds between two of them.
      summary_writer: What writes them; by default, a new writer for `logdir`.
      startup_delay_steps: The steps that a task that is not the chief waits before it begins.
      saver: What saves checkpoints; a new `tf.train.Saver` if None.
      save_interval_secs: The seconds between two checkpoints.
      sync_optimizer: A `tf.train.SyncReplicasOptimizer`, or several, where replicas train together.
      session_config: The configuration of the session.
      trace_every_n_steps: The steps between two traces; None for no traces.

    Returns:
      The loss of the last step.
    """

    def pruning_step(sess: Any, op: Tensor, step: Any, keywords: dict[str, Any]) -> tuple[Any, Any]:
        loss, should_stop = train_step_fn(sess, op, step, keywords)
        sess.run(mask_update_op)
        return loss, should_stop

    return training_loop.train(
        train_op,
        logdir,
        pruning_step,
        train_step_kwargs,
        log_every_n_steps=log_every_n_steps,
        graph=graph,
        master=master,
        is_chief=is_chief,
        global_step=global_step,
        number_of_steps=number_of_steps,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        init_fn=init_fn,
        ready_op=ready_op,
        summary_op=summary_op,
        save_summaries_secs=save_summaries_secs,
        summary_writer=summary_writer,
        startup_delay_steps=startup_delay_steps,
        saver=saver,
        save_interval_secs=save_interval_secs,
        sync_optimizer=sync_optimizer,
        session_config=session_config,
        trace_every_n_steps=trace_every_n_steps,
    )
