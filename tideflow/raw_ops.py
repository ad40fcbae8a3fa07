"""`tf.raw_ops`: every op type as a function that takes its inputs and attributes by name."""

import tideflow.ops  # noqa: F401 - registers every op type
from tideflow.graph.op import definitions

globals().update({name: op.raw for name, op in definitions().items() if not name.startswith("_")})
