"""Random tables of predictions, evaluated by random configurations, slice by slice."""

from crashes import CRASH
from evaluation_kit import original_answers, our_answers
from random_evaluations import case

RTOL, ATOL = 1e-6, 2e-7  # Keras's own metrics are of 32 bits, and their differences small
SEEDS = range(16)


def original(folder):
    def answer(name, given):
        try:
            return original_answers(folder, {name: given})
        except Exception:  # TFMA fails on some: then any answer will do
            return {name: CRASH}

    answers = {}
    for seed in SEEDS:
        answers |= answer(f"case {seed}", case(seed))
    return answers


def ours(folder, answers):
    found = our_answers(folder, {f"case {seed}": case(seed) for seed in SEEDS})
    return {name: CRASH if answers[name] == CRASH else each for name, each in found.items()}
