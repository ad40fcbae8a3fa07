"""Examples of the pages are run in this process: what they set for all of it is put back."""

import logging

import pytest


@pytest.fixture(autouse=True)
def logging_is_as_before():
    logger = logging.getLogger("tensorflow")
    before = logger.level, logger.propagate, list(logger.handlers), logger.disabled
    yield
    logger.propagate, logger.handlers[:], logger.disabled = before[1], before[2], before[3]
    logger.setLevel(before[0])
