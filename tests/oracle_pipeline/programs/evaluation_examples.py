"""Metrics of boxes, sets, segmented images, texts and attributions, and samples of examples."""

from evaluation_kit import original_answers, our_answers
from example_cases import CASES

RTOL, ATOL = 1e-6, 2e-7


def original(folder):
    return original_answers(folder, CASES)


def ours(folder, answers):
    return our_answers(folder, CASES)
