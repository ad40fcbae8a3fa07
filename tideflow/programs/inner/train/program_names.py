"""Names that programs in the wild take from inside TensorFlow's modules of training and of variables."""

from tideflow.summary import writer
from tideflow.train import evaluation, scaffold, step_hooks
from tideflow.variables.base import Variable
from tideflow.variables.global_step import get_or_create_global_step_read, increment_global_step

SummaryWriter = writer.FileWriter
SummaryToEventTransformer = writer.SummaryWriter
SummaryWriterCache = writer.FileWriterCache

VariableV1 = variable = Variable

_get_or_create_global_step_read = get_or_create_global_step_read
_increment_global_step = increment_global_step
_get_saver_or_default = scaffold.get_saver_or_default

_as_graph_element = step_hooks.graph_element
_MultiStepStopAtStepHook = step_hooks.MultiStepStopAtStepHook

_StopAfterNEvalsHook = evaluation.StopAfterNEvalsHook
_MultiStepStopAfterNEvalsHook = evaluation.MultiStepStopAfterNEvalsHook
_evaluate_once = evaluation.evaluate_once
_get_or_create_eval_step = evaluation.get_or_create_eval_step
