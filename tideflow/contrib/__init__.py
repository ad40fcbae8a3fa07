"""`tf.contrib`: the parts of it that TensorFlow 1 programs use most, one folder or module each."""

from tideflow.contrib import (  # noqa: F401
    data,
    framework,
    layers,
    lookup,
    losses,
    metrics,
    opt,
    predictor,
    projector,
    rnn,
    seq2seq,
    slim,
    tfprof,
    training,
    util,
)
from tideflow.export import load_when_asked_for

load_when_asked_for("tideflow.contrib.crf", "contrib.crf")
load_when_asked_for("tideflow.contrib.cudnn_rnn", "contrib.cudnn_rnn")
load_when_asked_for("tideflow.contrib.distribute", "contrib.distribute")
load_when_asked_for("tideflow.contrib.eager", "contrib.eager")
load_when_asked_for("tideflow.contrib.estimator", "contrib.estimator")
load_when_asked_for("tideflow.contrib.factorization", "contrib.factorization")
load_when_asked_for("tideflow.contrib.fused_conv", "contrib.fused_conv")
load_when_asked_for("tideflow.contrib.gan", "contrib.gan")
load_when_asked_for("tideflow.contrib.graph_editor", "contrib.graph_editor")
load_when_asked_for("tideflow.contrib.keras", "contrib.keras")
load_when_asked_for("tideflow.contrib.labeled_tensor", "contrib.labeled_tensor")
load_when_asked_for("tideflow.contrib.legacy_seq2seq", "contrib.legacy_seq2seq")
load_when_asked_for("tideflow.contrib.image", "contrib.image")
load_when_asked_for("tideflow.contrib.linear_optimizer", "contrib.linear_optimizer")
load_when_asked_for("tideflow.contrib.metric_learning", "contrib.losses.metric_learning")
load_when_asked_for("tideflow.contrib.mixed_precision", "contrib.mixed_precision")
load_when_asked_for("tideflow.contrib.model_pruning", "contrib.model_pruning")
load_when_asked_for("tideflow.contrib.quantize", "contrib.quantize")
load_when_asked_for("tideflow.contrib.slim.nets", "contrib.slim.nets")
load_when_asked_for("tideflow.contrib.optimizer_v2", "contrib.optimizer_v2")
load_when_asked_for("tideflow.contrib.receptive_field", "contrib.receptive_field")
load_when_asked_for("tideflow.contrib.recurrent", "contrib.recurrent")
load_when_asked_for("tideflow.contrib.session_bundle", "contrib.session_bundle")
load_when_asked_for("tideflow.contrib.input_pipeline", "contrib.input_pipeline")
load_when_asked_for("tideflow.contrib.cluster_resolver", "contrib.cluster_resolver")
load_when_asked_for("tideflow.contrib.deprecated", "contrib.deprecated")
load_when_asked_for("tideflow.contrib.hooks", "contrib.hooks")
load_when_asked_for("tideflow.contrib.monte_carlo", "contrib.bayesflow")
load_when_asked_for("tideflow.contrib.nn", "contrib.nn")
load_when_asked_for("tideflow.contrib.solvers", "contrib.solvers")
load_when_asked_for("tideflow.contrib.specs", "contrib.specs")
load_when_asked_for("tideflow.contrib.sparsemax", "contrib.sparsemax")
load_when_asked_for("tideflow.contrib.stat_summarizer", "contrib.stat_summarizer")
load_when_asked_for("tideflow.contrib.stateless", "contrib.stateless")
load_when_asked_for("tideflow.contrib.testing", "contrib.testing")
load_when_asked_for("tideflow.contrib.copy_graph", "contrib.copy_graph")
load_when_asked_for("tideflow.contrib.kernel_methods", "contrib.kernel_methods")
load_when_asked_for("tideflow.contrib.proto", "contrib.proto")
load_when_asked_for("tideflow.contrib.integrate", "contrib.integrate")
load_when_asked_for("tideflow.contrib.text", "contrib.text")
load_when_asked_for("tideflow.contrib.tensor_forest", "contrib.tensor_forest")
load_when_asked_for("tideflow.contrib.timeseries", "contrib.timeseries")
load_when_asked_for("tideflow.contrib.libsvm", "contrib.libsvm")
load_when_asked_for("tideflow.contrib.nearest_neighbor", "contrib.nearest_neighbor")
load_when_asked_for("tideflow.contrib.checkpoint", "contrib.checkpoint")
load_when_asked_for("tideflow.contrib.grid_rnn", "contrib.grid_rnn")
load_when_asked_for("tideflow.contrib.saved_model", "contrib.saved_model")
load_when_asked_for("tideflow.contrib.constrained_optimization", "contrib.constrained_optimization")
