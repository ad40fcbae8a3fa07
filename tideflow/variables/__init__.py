"""Variables: state in the graph, by name and in scopes, with initial values and what initializes it."""

from tideflow.ops.arrays import slicing  # noqa: F401 - what tensors can do, variables can
from tideflow.ops.math import operators  # noqa: F401 - what tensors can do, variables can
from tideflow.variables import (  # noqa: F401
    behavior,
    collections,
    constraints,
    context_protos,
    creation,
    eager_store,
    global_step,
    initializers,
    keras_initializers,
    meta_graph,
    module,
    partitioned,
    partitioners,
    reference,
    regularizers,
    resource,
    template,
    variable_scope,
)
from tideflow.variables.base import Variable

Variable._overload_operators()
