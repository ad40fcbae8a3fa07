"""`tf.estimator.tpu`: estimators of programs that also run on TPUs, here on CPUs and GPUs."""

from tideflow.estimator.tpu import config, estimator, spec  # noqa: F401
