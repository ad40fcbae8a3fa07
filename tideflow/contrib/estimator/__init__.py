"""`tf.contrib.estimator`: heads for estimators, and estimators made from estimators."""

from tideflow.contrib.estimator import boosted_trees, extenders, heads, saved_models, towers  # noqa: F401
from tideflow.estimator import early_stopping, hooks
from tideflow.estimator import extenders as _extenders
from tideflow.estimator.canned import dnn, linear, logits
from tideflow.estimator.export import receivers
from tideflow.export import expose, load_when_asked_for

for _shown in (
    _extenders.add_metrics,
    dnn.dnn_logit_fn_builder,
    early_stopping.make_early_stopping_hook,
    early_stopping.stop_if_higher_hook,
    early_stopping.stop_if_lower_hook,
    early_stopping.stop_if_no_decrease_hook,
    early_stopping.stop_if_no_increase_hook,
    hooks.InMemoryEvaluatorHook,
    hooks.make_stop_at_checkpoint_step_hook,
    linear.linear_logit_fn_builder,
    logits.call_logit_fn,
    receivers.build_raw_supervised_input_receiver_fn,
):
    expose(_shown, f"contrib.estimator.{_shown.__name__}")
load_when_asked_for(
    "tideflow.contrib.estimator.annotations",
    "contrib.estimator.DNNClassifierWithLayerAnnotations",
    "contrib.estimator.DNNRegressorWithLayerAnnotations",
)
load_when_asked_for(
    "tideflow.contrib.estimator.rnn", "contrib.estimator.RNNClassifier", "contrib.estimator.RNNEstimator"
)
