# Written by `python -m tideflow.programs.stubs`.

from tideflow.estimator.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from tideflow.estimator.canned.kmeans import KMeansClustering as _KMeans
from tideflow.estimator.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from tideflow.estimator.canned.logits import call_logit_fn as call_logit_fn
from tideflow.estimator.canned.sdca import LinearSDCA as LinearSDCA
from tideflow.estimator.early_stopping import make_early_stopping_hook as make_early_stopping_hook
from tideflow.estimator.early_stopping import stop_if_higher_hook as stop_if_higher_hook
from tideflow.estimator.early_stopping import stop_if_lower_hook as stop_if_lower_hook
from tideflow.estimator.early_stopping import stop_if_no_decrease_hook as stop_if_no_decrease_hook
from tideflow.estimator.early_stopping import stop_if_no_increase_hook as stop_if_no_increase_hook
from tideflow.estimator.export.receivers import build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn
from tideflow.estimator.hooks import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from tideflow.estimator.hooks import make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook

KMeans = _KMeans
