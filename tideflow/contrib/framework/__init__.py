"""`tf.contrib.framework`: argument scopes, model variables, their checkpoints, and checks of tensors."""

from tideflow.contrib.framework import (  # noqa: F401
    argument_scopes,
    bounded_specs,
    conditions,
    from_checkpoints,
    fusing,
    model_variables,
    names,
    nests,
    orthogonal,
    record_inputs,
    remapped,
    tensors,
    zeros,
)
