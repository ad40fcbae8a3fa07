"""Plans of gradients, without waiting until the same was recorded often enough."""

from unittest import mock

from tideflow.eager import gradient_plans


def planned_at_once():
    """Inside of this block, tapes compile what they recorded when it is first seen."""
    return mock.patch.object(gradient_plans, "_COMPILED_AT", 1)
