"""tf.profiler: time, memory, parameters and floating point operations of a model, and where they are."""

from tideflow.profiler import flops, logs, options, profiling, protos  # noqa: F401
