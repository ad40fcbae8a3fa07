"""Schemas of random constraints over the columns of a generated table: both sides make them from a seed."""

import random

from generated import EXTREMES, INTEGERS, WORDS

TYPES = {"int64": "INT", "float32": "FLOAT", "float64": "FLOAT", "binary": "BYTES"}
STAGES = ("PLANNED", "ALPHA", "BETA", "PRODUCTION", "DEPRECATED", "DEBUG_ONLY", "DISABLED")
ENVIRONMENTS = ("TRAINING", "SERVING")
TRUTH = ('true_value: "true"', 'false_value: "false"')
SHARES = (0, 0.001, 0.3, 0.5, 0.9, 1)
COUNTS = (0, 1, 2, 3, 7, 60, 100, 101, 250)
SEVERITIES = {
    "SCHEMA_NEW_COLUMN": "WARNING",
    "UNEXPECTED_DATA_TYPE": "WARNING",
    "ENUM_TYPE_UNEXPECTED_STRING_VALUES": "WARNING",
    "COMPARATOR_L_INFTY_HIGH": "WARNING",
    "FEATURE_TYPE_NOT_PRESENT": "WARNING",
}


def _text(value):
    return '"' + "".join(f"\\{byte:03o}" for byte in value) + '"'


def _some(chance, options):
    """Each of some texts, or not."""
    return " ".join(text for text in options if chance.random() < 0.5)


def _bounds(chance, values):
    low, high = sorted(chance.choice(values) for _ in range(2))
    return _some(chance, [f"min: {low}", f"max: {high}"])


def _finite(values):
    return [value for value in values if abs(value) < 1e39]


def _words(chance):
    return [word for word in chance.sample(WORDS, chance.randrange(1, 8)) if word.isascii()]


def _values(chance):
    return " ".join(f"value: {_text(word)}" for word in _words(chance))


def _level(chance):
    return f"value_count {{ {_bounds(chance, (0, 1, 2, 3))} }}"


def _comparator(chance, measures):
    return " ".join(
        f"{measure} {{ threshold: {chance.choice((0, 0.01, 0.2, 0.9))} {_source(chance, measure)} }}"
        for measure in measures
        if chance.random() < 0.6
    )


def _source(chance, measure):
    if measure != "jensen_shannon_divergence":
        return ""
    return chance.choice(("", "", "source { type: STANDARD }", "source { type: QUANTILES }"))


def _domain(chance, kind):
    # Named truth values of numbers are BOOL_TYPE_INVALID_CONFIG here alone, on purpose.
    truth = _some(chance, TRUTH) if kind == "BYTES" else ""
    return chance.choice(
        (
            lambda: f"int_domain {{ {_bounds(chance, INTEGERS)} {_some(chance, ['is_categorical: true'])} }}",
            lambda: (
                f"float_domain {{ {_bounds(chance, _finite(EXTREMES))} "
                f"{_some(chance, ['disallow_nan: true', 'disallow_inf: true'])} }}"
            ),
            lambda: f"string_domain {{ {_values(chance)} }}",
            lambda: 'domain: "shared"',
            lambda: 'domain: "nowhere"',
            lambda: f"bool_domain {{ {truth} }}",
            lambda: "url_domain {}",
            lambda: "mid_domain {}",
            lambda: 'time_domain { string_format: "%Y-%m-%d" }',
            lambda: "time_domain { integer_format: UNIX_SECONDS }",
            lambda: "struct_domain {}",
        )
    )()


def _feature(chance, name, kind):
    kind = kind if chance.random() < 0.85 else chance.choice(sorted({*TYPES.values(), "STRUCT"}))
    presence = (f"min_fraction: {chance.choice(SHARES)}", f"min_count: {chance.choice(COUNTS)}")
    norms = ("infinity_norm", "normalized_abs_difference", "jensen_shannon_divergence")
    parts = [
        f"presence {{ {_some(chance, presence)} }}",
        f"unique_constraints {{ min: {chance.choice(COUNTS)} max: {chance.choice(COUNTS)} }}",
        f"distribution_constraints {{ min_domain_mass: {chance.choice(SHARES)} }}",
        f"drift_comparator {{ {_comparator(chance, norms)} }}",
        f"skew_comparator {{ {_comparator(chance, norms)} }}",
        f'not_in_environment: "{chance.choice(ENVIRONMENTS)}"',
        f'in_environment: "{chance.choice(ENVIRONMENTS)}"',
    ]
    chosen = [part for part in parts if chance.random() < 0.35]
    if chance.random() < 0.5:
        chosen.append(
            chance.choice(
                (
                    _level(chance),
                    f"value_counts {{ {_level(chance)} {_level(chance)} }}",
                    f"shape {{ dim {{ size: {chance.choice((1, 2, 3))} }} }}",
                    "shape { }",
                )
            )
        )
    if chance.random() < 0.6:
        chosen.append(_domain(chance, kind))
    if chance.random() < 0.1:
        chosen.append(chance.choice(("deprecated: true", f"lifecycle_stage: {chance.choice(STAGES)}")))
    return f"feature {{ name: {_text(name.encode())} type: {kind} {' '.join(chosen)} }}"


def _dataset(chance):
    comparator = f"{{ {_bounds_of_change(chance)} }}"
    return f"""dataset_constraints {{ {
        _some(
            chance,
            [
                f"min_examples_count: {chance.choice(COUNTS)}",
                f"num_examples_drift_comparator {comparator}",
                f"num_examples_version_comparator {comparator}",
            ],
        )
    } }}"""


def _bounds_of_change(chance):
    return _some(
        chance,
        [
            f"min_fraction_threshold: {chance.choice((0.1, 0.5, 1))}",
            f"max_fraction_threshold: {chance.choice((1, 1.5, 3))}",
        ],
    )


def _composite(chance, names):
    value, index = (_text(chance.choice(names).encode()) for _ in range(2))
    stage = chance.choice(("", "", "lifecycle_stage: ALPHA"))
    return chance.choice(
        (
            f'sparse_feature {{ name: "sparse" value_feature {{ name: {value} }} '
            f"index_feature {{ name: {index} }} {stage} }}",
            f'weighted_feature {{ name: "weighted" feature {{ step: {value} }} '
            f"weight_feature {{ step: {index} }} {stage} }}",
        )
    )


def schema(seed, table):
    """The text of a schema for most columns of a table, and for one that is not there."""
    chance = random.Random(seed + 1_000_000)
    kinds = {name: TYPES[kind.rpartition("<")[2].rstrip(">")] for name, (kind, _) in table.items()}
    parts = [_feature(chance, name, kind) for name, kind in kinds.items() if chance.random() < 0.85]
    if chance.random() < 0.3:
        parts.append(_feature(chance, "not there", "INT"))
    if chance.random() < 0.15 and kinds:
        parts.append(_composite(chance, sorted(kinds)))
    if chance.random() < 0.3:
        parts.append(_dataset(chance))
    parts.append(f'string_domain {{ name: "shared" {_values(chance)} }}')
    parts += [f'default_environment: "{each}"' for each in ENVIRONMENTS]
    return "\n".join(parts)


def options(seed):
    """How to validate: the environment and the severities."""
    chance = random.Random(seed + 2_000_000)
    return {
        "environment": chance.choice((None, *ENVIRONMENTS)),
        "overrides": dict(chance.sample(sorted(SEVERITIES.items()), chance.randrange(3))),
    }
