"""Random tables of predictions, evaluated by random configurations, slice by slice."""

from evaluation_kit import original_answers, our_answers
from random_evaluations import case

RTOL, ATOL = 1e-6, 2e-7  # Keras's own metrics are of 32 bits, and their differences small
SEEDS = range(16)


def original(folder):
    return original_answers(folder, {f"case {seed}": case(seed) for seed in SEEDS})


def ours(folder, answers):
    return our_answers(folder, {f"case {seed}": case(seed) for seed in SEEDS})
