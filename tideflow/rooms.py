"""The rooms behind `tf`: those that every program needs, and those that the first use of a name loads."""

import gc

from tideflow import (  # noqa: F401
    autodiff,
    data,
    distribute,
    eager,
    functions,
    graph,
    image,
    io,
    layers,
    linalg,
    lookup,
    losses,
    metrics,
    nn,
    ops,
    platform,
    queues,
    ragged,
    random,
    raw_ops,
    rnn,
    session,
    signal,
    summary,
    train,
    variables,
)
from tideflow.export import load_when_asked_for, publish
from tideflow.graph.op import check_complete
from tideflow.graph.user_functions import load_converter_when_asked_for
from tideflow.session.targets import load_scheme_when_asked_for

load_when_asked_for(
    "tideflow.cluster.cluster_spec",
    "train.ClusterDef",
    "train.ClusterSpec",
    "train.JobDef",
    "train.ServerDef",
)
load_when_asked_for("tideflow.cluster.device_setter", "train.replica_device_setter")
load_when_asked_for("tideflow.cluster.local_cluster", "test.create_local_cluster")
load_when_asked_for(
    "tideflow.cluster.multi_worker_strategy",
    "distribute.experimental.CollectiveCommunication",
    "distribute.experimental.MultiWorkerMirroredStrategy",
)
load_when_asked_for(
    "tideflow.cluster.parameter_server_strategy", "distribute.experimental.ParameterServerStrategy"
)
load_when_asked_for("tideflow.cluster.resolvers", "distribute.cluster_resolver")
load_when_asked_for("tideflow.cluster.tpu_resolver", "distribute.cluster_resolver.TPUClusterResolver")
load_when_asked_for("tideflow.cluster.server", "train.Server", "distribute.Server")
load_scheme_when_asked_for("tideflow.cluster.client", "grpc")
load_when_asked_for("tideflow.autograph", "autograph", "contrib.autograph")
load_converter_when_asked_for("tideflow.autograph")
load_when_asked_for("tideflow.compat_v2", "compat.v2")
load_when_asked_for("tideflow.contrib", "contrib")
load_when_asked_for("tideflow.contrib.distributions", "contrib.distributions")
load_when_asked_for("tideflow.contrib.learn", "contrib.learn")
load_when_asked_for("tideflow.distributions", "distributions")
load_when_asked_for("tideflow.estimator", "estimator")
load_when_asked_for("tideflow.contrib.tpu", "contrib.tpu", "tpu")
load_when_asked_for(
    "tideflow.estimator.keras_models",
    "keras.estimator",
    "keras.experimental.export_saved_model",
    "keras.experimental.load_from_saved_model",
)
load_when_asked_for("tideflow.feature_column", "feature_column", "contrib.feature_column")
load_when_asked_for("tideflow.functions.torch_functions", "torch_function")
load_when_asked_for("tideflow.keras", "keras")
load_when_asked_for("tideflow.platform.pywrap", "pywrap_tensorflow")
load_when_asked_for("tideflow.platform.testing", "test")
load_when_asked_for("tideflow.platform.xla", "xla", "contrib.compiler")
load_when_asked_for("tideflow.profiler", "profiler")
load_when_asked_for("tideflow.saved_model", "saved_model")

check_complete()
publish()

# Some hundred thousand objects, of torch and ours, are here to stay. Frozen, they are not looked at again
# while a program builds a large graph, which was a fifth of the building.
gc.freeze()
