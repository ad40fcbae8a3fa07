"""`tf.contrib.framework`: argument scopes, model variables, and checks of tensors."""

from tideflow.contrib.framework import (  # noqa: F401
    argument_scopes,
    conditions,
    model_variables,
    names,
    nests,
    tensors,
)
