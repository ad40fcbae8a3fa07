"""Names that programs in the wild take from inside TensorFlow's modules of training and of variables."""

from typing import Any

from tideflow.cluster.device_setter import standard_ps_ops
from tideflow.graph.operation import Operation
from tideflow.summary import writer
from tideflow.train import evaluation, scaffold, session_manager, step_hooks
from tideflow.variables import variable_scope
from tideflow.variables.base import Variable
from tideflow.variables.global_step import get_or_create_global_step_read, increment_global_step

SummaryWriter = writer.FileWriter
SummaryToEventTransformer = writer.SummaryWriter
SummaryWriterCache = writer.FileWriterCache

VariableV1 = variable = Variable

_get_or_create_global_step_read = get_or_create_global_step_read
_increment_global_step = increment_global_step
_get_saver_or_default = scaffold.get_saver_or_default

_pure_variable_scope = variable_scope.pure_variable_scope

_as_graph_element = step_hooks.graph_element
_MultiStepStopAtStepHook = step_hooks.MultiStepStopAtStepHook

_StopAfterNEvalsHook = evaluation.StopAfterNEvalsHook
_MultiStepStopAfterNEvalsHook = evaluation.MultiStepStopAfterNEvalsHook
_evaluate_once = evaluation.evaluate_once
_get_or_create_eval_step = evaluation.get_or_create_eval_step

STANDARD_PS_OPS = tuple(sorted(standard_ps_ops()))


class _RoundRobinStrategy:
    """Places operations on one parameter server after the other.

    Args:
      num_tasks: How many there are.
    """

    def __init__(self, num_tasks: int):
        self._num_tasks, self._next_task = num_tasks, 0

    def __call__(self, unused_op: Operation) -> int:
        task, self._next_task = self._next_task, (self._next_task + 1) % self._num_tasks
        return task


def _ready(op: Any, sess: Any, msg: str) -> session_manager.Readiness:
    """Whether an operation that lists what is not initialized lists nothing, and what it says otherwise.

    Args:
      op: The operation; None: everything is ready.
      sess: The session that runs it.
      msg: The first words of what is logged where it fails.
    """
    return session_manager.readiness(sess, op, msg)
