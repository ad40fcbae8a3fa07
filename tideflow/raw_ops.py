"""`tf.raw_ops`: every op type as a function that takes its inputs and attributes by name."""

from tideflow.graph.op import definitions

globals().update({name: op.raw for name, op in definitions().items() if not name.startswith("_")})
