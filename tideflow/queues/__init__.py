"""Queues and what is built from them: the classes users make queues with."""

from tideflow.queues import (  # noqa: F401
    accumulators,
    barriers,
    base,
    readers,
    record_input,
    staging,
)
