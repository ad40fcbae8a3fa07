"""TFT's analyzers and mappers: transformed rows, schemas of outputs, vocabulary files, byte for byte."""

from transform_cases import (
    buckets,
    informative,
    phases_of_buckets,
    phases_of_numbers,
    phases_of_words,
    run_original,
    run_ours,
    scaling,
    scaling_by_key,
    sizes,
    statistics,
    text,
    vocabularies,
)

RTOL, ATOL = 2e-6, 2e-6
FUNCTIONS = (scaling, scaling_by_key, statistics, buckets, vocabularies, informative, text)
PHASES = (phases_of_numbers, phases_of_words, phases_of_buckets, sizes)
KNOWN = {
    "scaling_by_key/assets": "TFT computes moments of keys in 32 bits; its last digits differ",
}


def original(folder):
    return run_original(folder, FUNCTIONS + PHASES)


def ours(folder, answers):
    return run_ours(folder, FUNCTIONS + PHASES)
