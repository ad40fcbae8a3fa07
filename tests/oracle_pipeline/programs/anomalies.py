"""Every kind of anomaly, on schemas and statistics with that fault; and the schema that would accept them."""

from anomaly_cases import CASES
from anomaly_kit import original_answers, our_answers

RTOL = 1e-9
_DOCUMENTED = "TFDV's reference documents BOOL_TYPE_INVALID_CONFIG; the build of 1.16.1 does not have it yet"
_ROUNDED = "TFDV rounds the new threshold to the nearest float32, with which the same data fail again"
KNOWN = {
    "named integers": _DOCUMENTED,
    "named floats": _DOCUMENTED,
    "weighted and deprecated": "TFDV validates deprecated weighted features, so its fix would not hold",
    "language tokens: low": _ROUNDED,
    "language tokens: high": _ROUNDED,
    "boolean of categories": "TFDV counts booleans as categories, and then does not look at them",
    "examples too many": "TFDV looks at max_examples_count only where there is a min_examples_count",
}


def original(folder):
    return original_answers(CASES)


def ours(folder, answers):
    return our_answers(CASES, answers)
