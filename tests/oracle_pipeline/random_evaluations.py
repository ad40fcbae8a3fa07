"""Random tables of labels and predictions, with random configurations: both sides make them from a seed."""

import random

from evaluation_cases import AT_THRESHOLD, OF_VALUES

SLICES = (
    "slicing_specs {}",
    'slicing_specs { feature_keys: "color" }',
    'slicing_specs { feature_keys: ["color", "size"] }',
    'slicing_specs { feature_values { key: "size" value: "2" } }',
    'slicing_specs { feature_keys: "color" feature_values { key: "size" value: "1" } }',
)
CROSSES = 'cross_slicing_specs { baseline_spec {} slicing_specs { feature_keys: "color" } }'
CONFIGURED = (
    ("AUC", '"name": "auc_few", "num_thresholds": 7'),
    ("AUC", '"name": "auc_pr", "curve": "PR"'),
    ("ConfusionMatrixAtThresholds", '"thresholds": [0.0, 0.25, 0.5, 1.0]'),
    ("PrecisionAtRecall", '"recall": 0.5'),
    ("RecallAtPrecision", '"precision": 0.5'),
    ("SensitivityAtSpecificity", '"specificity": 0.5'),
    ("Precision", '"name": "strict", "thresholds": 0.9'),
    ("ConfusionMatrixPlot", '"num_thresholds": 5'),
)
OF_CLASSES = ("AUC", "Precision", "Recall", "MeanLabel", "MeanPrediction", "MeanSquaredError", "F1Score")
BOUNDS = (
    "lower_bound { value: %s }",
    "upper_bound { value: %s }",
    "lower_bound { value: 0.1 } upper_bound { value: %s }",
)


def _score(chance, label, sharp):
    if chance.random() < 0.2:
        return chance.choice((0.0, 0.25, 0.5, 0.75, 1.0))  # as thresholds are
    return min(max(chance.gauss(0.5 + sharp * (label - 0.5), 0.25), 0.0), 1.0)


def _binary(chance, rows):
    common = chance.choice((0.0, 0.1, 0.5, 1.0))
    labels = [float(chance.random() < common) for _ in range(rows)]
    sharp = chance.choice((0.0, 0.3, 2.0))
    return {
        "label": labels,
        "prediction": [_score(chance, label, sharp) for label in labels],
        "other": [_score(chance, label, 0.3) for label in labels],
        "weight": [chance.choice((0.0, 0.5, 1.0, 3.0)) for _ in labels],
        "color": [chance.choice(("red", "green", "Z\u00fcrich")) for _ in labels],
        "size": [chance.choice((1, 2)) for _ in labels],
    }


def _classes(chance, rows):
    count = chance.choice((2, 3, 5))
    labels = [chance.randrange(count) for _ in range(rows)]
    scores = [[chance.choice((0.1, 1.0, chance.random())) for _ in range(count)] for _ in labels]
    return {
        "label": labels,
        "prediction": [[each / sum(row) for each in row] for row in scores],
        "weight": [chance.choice((0.5, 1.0, 3.0)) for _ in labels],
        "color": [chance.choice(("red", "green")) for _ in labels],
        "size": [chance.choice((1, 2)) for _ in labels],
    }


def _threshold(chance, has_baseline):
    value = chance.choice(BOUNDS) % chance.choice((0.2, 0.5, 0.8))
    parts = [f"value_threshold {{ {value} }}"]
    if has_baseline:
        change = chance.choice(("absolute { value: 0.01 }", "relative { value: -0.1 }"))
        direction = chance.choice(("HIGHER_IS_BETTER", "LOWER_IS_BETTER"))
        parts.append(f"change_threshold {{ {change} direction: {direction} }}")
    return " ".join(part for part in parts if chance.random() < 0.8)


def _metric(chance, name, has_baseline):
    if chance.random() < 0.6:
        return f'metrics {{ class_name: "{name}" }}'
    threshold = f"threshold {{ {_threshold(chance, has_baseline)} }}"
    if chance.random() < 0.5:
        threshold = f"per_slice_thresholds {{ {chance.choice(SLICES)} {threshold} }}"
    return f'metrics {{ class_name: "{name}" {threshold} }}'


def _binary_case(chance):
    has_baseline = chance.random() < 0.5
    weight = chance.choice(("", 'example_weight_key: "weight"'))
    models = 'model_specs { %s label_key: "label" prediction_key: "%s" %s }'
    specs = models % ('name: "candidate"' if has_baseline else "", "prediction", weight)
    if has_baseline:
        specs += models % ('name: "baseline" is_baseline: true', "other", weight)
    names = chance.sample(AT_THRESHOLD + OF_VALUES + ["AUC", "AUCPrecisionRecall"], 8)
    metrics = [_metric(chance, name, has_baseline) for name in names]
    metrics += [
        f"metrics {{ class_name: '{name}' config: '{config}' }}"
        for name, config in chance.sample(CONFIGURED, 3)
    ]
    both = "example_weights { weighted: true unweighted: true }" if weight and chance.random() < 0.5 else ""
    slices = " ".join(chance.sample(SLICES, chance.randrange(1, 4)))
    crosses = CROSSES if chance.random() < 0.3 else ""
    size = f"options {{ min_slice_size {{ value: {chance.choice((1, 5, 20))} }} }}"
    table = _binary(chance, chance.choice((1, 2, 9, 40, 200)))
    return table, f"{specs} {slices} {crosses} metrics_specs {{ {' '.join(metrics)} {both} }} {size}"


def _class_case(chance):
    table = _classes(chance, chance.choice((1, 5, 60)))
    count = len(table["prediction"][0])
    weights = " ".join(
        f"class_weights {{ key: {at} value: {chance.choice((0.5, 1, 2))} }}" for at in range(count)
    )
    way = chance.choice(
        (
            "",
            f"binarize {{ class_ids {{ values: [0, {count - 1}] }} }}",
            "binarize { top_k_list { values: [1, 2] } }",
            f"aggregate {{ micro_average: true {weights} }}",
            f"aggregate {{ macro_average: true {weights} }}",
            f"aggregate {{ weighted_macro_average: true {weights} }}",
        )
    )
    pool = ("Precision", "Recall") if "top_k" in way else OF_CLASSES
    names = chance.sample(pool, 2)
    if not way:
        names = ["SparseCategoricalAccuracy", "SparseCategoricalCrossentropy", "ExampleCount"]
    metrics = " ".join(f'metrics {{ class_name: "{name}" }}' for name in names)
    weight = chance.choice(("", 'example_weight_key: "weight"'))
    specs = f'model_specs {{ label_key: "label" prediction_key: "prediction" {weight} }}'
    return table, f"{specs} {' '.join(chance.sample(SLICES, 2))} metrics_specs {{ {metrics} {way} }}"


def case(seed):
    """A table, and the text of the EvalConfig by which it is evaluated."""
    chance = random.Random(seed)
    return (_binary_case if chance.random() < 0.7 else _class_case)(chance)
