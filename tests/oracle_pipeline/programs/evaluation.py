"""Metrics, plots and validations of tables with predictions, slice by slice."""

from evaluation_cases import CASES
from evaluation_kit import original_answers, our_answers

RTOL, ATOL = 1e-6, 2e-7  # Keras's own metrics are of 32 bits, and their differences small


def original(folder):
    return original_answers(folder, CASES)


def ours(folder, answers):
    return our_answers(folder, CASES)
