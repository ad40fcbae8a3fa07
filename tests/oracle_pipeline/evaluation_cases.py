# ruff: noqa: E501 - configurations as text
"""Tables with labels and predictions, and the configurations by which they are evaluated."""

import random

AT_THRESHOLD = (
    "TruePositives TP TrueNegatives TN FalsePositives FP FalseNegatives FN BinaryAccuracy Precision PPV Recall TPR "
    "Specificity TNR FallOut FPR MissRate FNR NegativePredictiveValue NPV FalseDiscoveryRate FalseOmissionRate "
    "Prevalence PrevalenceThreshold ThreatScore BalancedAccuracy F1Score MatthewsCorrelationCoefficient "
    "FowlkesMallowsIndex Informedness Markedness PositiveLikelihoodRatio NegativeLikelihoodRatio "
    "DiagnosticOddsRatio PredictedPositiveRate MaxRecall"
).split()
OF_VALUES = (
    "ExampleCount WeightedExampleCount MeanLabel MeanPrediction Calibration CoefficientOfDiscrimination "
    "RelativeCoefficientOfDiscrimination SquaredPearsonCorrelation BinaryCrossEntropy MeanAbsoluteError "
    "MeanSquaredError MeanAbsolutePercentageError MeanSquaredLogarithmicError"
).split()


def metrics(*names, **configured):
    """The text of MetricConfigs."""
    plain = [f'metrics {{ class_name: "{name}" }}' for name in names]
    given = [
        f"metrics {{ class_name: '{name.rstrip('_')}' config: '{config}' }}"
        for name, config in configured.items()
    ]
    return "\n".join(plain + given)


def _binary(rows, seed):
    chance = random.Random(seed)
    table = {"label": [], "prediction": [], "other": [], "weight": [], "color": [], "size": [], "part": []}
    for _ in range(rows):
        label = chance.random() < 0.4
        score = min(max(chance.gauss(0.6 if label else 0.35, 0.2), 0.001), 0.999)
        table["label"].append(float(label))
        table["prediction"].append(score)
        table["other"].append(min(max(score + chance.gauss(0, 0.1), 0.001), 0.999))
        table["weight"].append(chance.choice([0.5, 1.0, 2.0]))
        table["color"].append(chance.choice(["red", "green", "blue"]))
        table["size"].append(chance.choice([1, 2]))
        table["part"].append(chance.random() if label else 0.0)
    return table


def _classes(rows, seed, classes=4):
    chance = random.Random(seed)
    table = {"label": [], "one_hot": [], "prediction": [], "weight": []}
    for _ in range(rows):
        label = chance.randrange(classes)
        scores = [
            chance.random() + (2.0 if i == label and chance.random() < 0.6 else 0.0) for i in range(classes)
        ]
        table["label"].append(label)
        table["one_hot"].append([float(i == label or chance.random() < 0.2) for i in range(classes)])
        table["prediction"].append([score / sum(scores) for score in scores])
        table["weight"].append(chance.choice([0.5, 1.0, 3.0]))
    return table


def _queries(seed):
    chance = random.Random(seed)
    table = {"query": [], "gain": [], "label": [], "prediction": [], "country": []}
    for query in range(12):
        country = chance.choice(["de", "pt"])
        for document in range(chance.randrange(1, 7)):
            gain = chance.choice([0.0, 0.0, 1.0, 2.0, 3.0])
            table["query"].append(f"q{query}")
            table["gain"].append(gain)
            table["label"].append(float(gain > 1))
            table["prediction"].append(gain / 6 + document * 0.01 + chance.random() * 0.5)
            table["country"].append(country)
    return table


def _with_second_output(table, seed):
    """The rows with another label, its weight, and what two models predict of it."""
    chance = random.Random(seed)
    table = {**table, "label2": [], "weight2": [], "third": [], "fourth": []}
    for _ in table["label"]:
        table["label2"].append(float(chance.random() < 0.5))
        table["weight2"].append(chance.choice([0.5, 1.5]))
        table["third"].append(chance.random())
        table["fourth"].append(chance.random())
    return table


def _with_other_model(table, seed):
    """The rows with another model's scores of the classes, and columns to slice by."""
    chance = random.Random(seed)
    table = {**table, "other": [], "color": [], "size": []}
    for row in table["prediction"]:
        scores = [chance.random() for _ in row]
        table["other"].append([score / sum(scores) for score in scores])
        table["color"].append(chance.choice(["red", "green"]))
        table["size"].append(chance.choice([1, 2]))
    return table


BINARY, CLASSES, QUERIES = _binary(160, 1), _classes(120, 2), _queries(3)
_KEYS = 'model_specs { label_key: "label" prediction_key: "prediction"'
_WEIGHTED = f'{_KEYS} example_weight_key: "weight" }}'
_SLICES = """
slicing_specs {} slicing_specs { feature_keys: "color" } slicing_specs { feature_keys: ["color", "size"] }
slicing_specs { feature_keys: "color" feature_values { key: "size" value: "2" } }
"""


def _outputs(name, of_a, of_b, more=""):
    """The text of the ModelSpec of a model with two outputs."""
    return f"""model_specs {{ name: "{name}" {more}
      label_keys {{ key: "a" value: "label" }} label_keys {{ key: "b" value: "label2" }}
      prediction_keys {{ key: "a" value: "{of_a}" }} prediction_keys {{ key: "b" value: "{of_b}" }}
      example_weight_keys {{ key: "a" value: "weight" }} example_weight_keys {{ key: "b" value: "weight2" }} }}"""


CASES = {
    "binary": (
        BINARY,
        f"""{_WEIGHTED} {_SLICES}
        cross_slicing_specs {{
          baseline_spec {{}} slicing_specs {{ feature_keys: "color" }}
        }}
        metrics_specs {{ {
            metrics(
                *AT_THRESHOLD,
                *OF_VALUES,
                "AUC",
                "AUCPrecisionRecall",
                "CalibrationPlot",
                SensitivityAtSpecificity='"specificity": 0.8',
                SpecificityAtSensitivity='"sensitivity": 0.8',
                PrecisionAtRecall='"recall": 0.7',
                RecallAtPrecision='"precision": 0.6',
                RecallAtFalsePositiveRate='"false_positive_rate": 0.2',
                ThresholdAtRecall='"recall": 0.7',
                ConfusionMatrixAtThresholds='"thresholds": [0.3, 0.5, 0.9]',
                ConfusionMatrixPlot='"num_thresholds": 10',
                ScoreDistributionPlot='"num_thresholds": 10',
                AUC_='"name": "auc_200", "num_thresholds": 200',
                AUC__='"name": "auc_pr", "curve": "PR", "summation_method": "majoring"',
                AUC___='"name": "auc_low", "summation_method": "minoring"',
                Precision_='"name": "several", "thresholds": [0.2, 0.8]',
                BinaryCrossentropy='"name": "keras_entropy"',
                RootMeanSquaredError='"name": "rmse"',
                Accuracy='"name": "equal"',
                Hinge='"name": "hinge"',
                Poisson='"name": "poisson"',
                LogCoshError='"name": "logcosh"',
            )
        } example_weights {{ weighted: true unweighted: true }} }}""",
    ),
    "fractional labels": (
        {**BINARY, "label": BINARY["part"]},
        f"{_KEYS} }} metrics_specs {{ {metrics('AUC', 'Precision', 'Recall', 'MeanLabel', 'BinaryAccuracy')} }}",
    ),
    "few rows": (
        {name: values[:7] for name, values in BINARY.items()},
        f"""{_WEIGHTED} slicing_specs {{ feature_keys: "color" }} slicing_specs {{}}
        metrics_specs {{ {metrics("ExampleCount", "AUC", *AT_THRESHOLD)} }} options {{ min_slice_size {{ value: 3 }} }}""",
    ),
    "classes": (
        CLASSES,
        f"""{_WEIGHTED}
        metrics_specs {{ {
            metrics(
                "SparseCategoricalAccuracy",
                "SparseCategoricalCrossentropy",
                MultiClassConfusionMatrixAtThresholds='"thresholds": [0.3, 0.6]',
                SparseTopKCategoricalAccuracy='"k": 2',
                Precision='"name": "precision_2", "top_k": 2',
                Recall='"name": "recall_of_1", "class_id": 1',
            )
        } }}
        metrics_specs {{ {
            metrics("AUC", "Precision", "Recall", "MeanPrediction", "MeanLabel", "MeanSquaredError")
        }
          binarize {{ class_ids {{ values: [0, 2] }} k_list {{ values: [1, 2] }} }} }}
        metrics_specs {{ {metrics("Precision", "Recall")} binarize {{ top_k_list {{ values: [1, 3] }} }} }}
        metrics_specs {{ {metrics("AUC", "Precision", "Recall", "F1Score")}
          aggregate {{ micro_average: true class_weights {{ key: 0 value: 1 }} class_weights {{ key: 1 value: 2 }}
            class_weights {{ key: 2 value: 1 }} class_weights {{ key: 3 value: 0.5 }} }} }}
        metrics_specs {{ {metrics(Precision='"name": "best"', AUC='"name": "best_auc"')}
          aggregate {{ micro_average: true top_k_list {{ values: 2 }} }} }}
        metrics_specs {{ {metrics(AUC='"name": "macro_auc"', Recall='"name": "macro_recall"')}
          aggregate {{ macro_average: true class_weights {{ key: 0 value: 1 }} class_weights {{ key: 1 value: 2 }}
            class_weights {{ key: 3 value: 1 }} }} }}
        metrics_specs {{ {metrics(AUC='"name": "weighted_auc"', Recall='"name": "weighted_recall"')}
          aggregate {{ weighted_macro_average: true class_weights {{ key: 0 value: 1 }}
            class_weights {{ key: 2 value: 1 }} class_weights {{ key: 3 value: 0.5 }} }} }}""",
    ),
    "labels": (
        {**CLASSES, "label": CLASSES["one_hot"]},
        f"""{_KEYS} }}
        metrics_specs {{ {
            metrics(
                "CategoricalAccuracy",
                "CategoricalCrossentropy",
                "BinaryCrossEntropy",
                "CosineSimilarity",
                "MultiClassConfusionMatrixPlot",
                "CategoricalHinge",
                "KLDivergence",
                "AUC",
                "Precision",
                MultiLabelConfusionMatrixPlot='"thresholds": [0.2, 0.5]',
                TopKCategoricalAccuracy='"k": 2',
            )
        } }}
        metrics_specs {{ {metrics("AUC", "BinaryAccuracy")} binarize {{ class_ids {{ values: [1] }} }} }}""",
    ),
    "queries": (
        QUERIES,
        f"""{_KEYS} }} slicing_specs {{}} slicing_specs {{ feature_keys: "country" }}
        metrics_specs {{ {metrics("QueryStatistics", "MinLabelPosition", "ExampleCount", NDCG='"gain_key": "gain", "top_k_list": [1, 3]')}
          query_key: "query" }}
        metrics_specs {{ {metrics(AUC='"name": "rows_auc"', ExampleCount='"name": "rows"')} }}""",
    ),
    "two models": (
        BINARY,
        f"""
        model_specs {{ name: "candidate" label_key: "label" prediction_key: "prediction" }}
        model_specs {{ name: "baseline" label_key: "label" prediction_key: "other" is_baseline: true }}
        slicing_specs {{}} slicing_specs {{ feature_keys: "size" }}
        metrics_specs {{
          metrics {{ class_name: "AUC" threshold {{ value_threshold {{ lower_bound {{ value: 0.99 }} }}
            change_threshold {{ absolute {{ value: -1e-10 }} direction: HIGHER_IS_BETTER }} }} }}
          metrics {{ class_name: "MeanSquaredError" per_slice_thresholds {{ slicing_specs {{ feature_keys: "size" }}
            threshold {{ change_threshold {{ relative {{ value: 0.0 }} direction: LOWER_IS_BETTER }} }} }} }}
          metrics {{ class_name: "Precision" per_slice_thresholds {{
            slicing_specs {{ feature_values {{ key: "size" value: "9" }} }}
            threshold {{ value_threshold {{ lower_bound {{ value: 0.1 }} }} }} }} }}
          {
            metrics(
                "BooleanFlipRates",
                "SymmetricFlipRate",
                "SymmetricPredictionDifference",
                "ExampleCount",
                ConfusionMatrixAtThresholds='"thresholds": [0.3, 0.5]',
            )
        }
        }}""",
    ),
    "outputs": (
        {**BINARY, "label2": BINARY["part"]},
        f"""model_specs {{
          label_keys {{ key: "a" value: "label" }} label_keys {{ key: "b" value: "label2" }}
          prediction_keys {{ key: "a" value: "prediction" }} prediction_keys {{ key: "b" value: "other" }}
        }}
        metrics_specs {{ {metrics("MeanSquaredError", "AUC", "MeanLabel")} output_names: ["a", "b"]
          output_weights {{ key: "a" value: 0.7 }} output_weights {{ key: "b" value: 0.3 }} }}""",
    ),
    "outputs of two models": (
        _with_second_output(BINARY, 9),
        f"""{_outputs("candidate", "prediction", "third")} {_outputs("baseline", "other", "fourth", "is_baseline: true")}
        slicing_specs {{}} slicing_specs {{ feature_keys: "color" }}
        cross_slicing_specs {{ baseline_spec {{ feature_values {{ key: "color" value: "red" }} }}
          slicing_specs {{ feature_keys: "color" }} slicing_specs {{ feature_keys: "size" }} }}
        metrics_specs {{ output_names: ["a", "b"]
          output_weights {{ key: "a" value: 2 }} output_weights {{ key: "b" value: 1 }}
          example_weights {{ weighted: true unweighted: true }}
          metrics {{ class_name: "AUC" threshold {{ value_threshold {{ lower_bound {{ value: 0.6 }} }}
            change_threshold {{ absolute {{ value: 0.0 }} direction: HIGHER_IS_BETTER }} }} }}
          metrics {{ class_name: "BinaryCrossEntropy" per_slice_thresholds {{
            slicing_specs {{ feature_keys: "color" }} slicing_specs {{}}
            threshold {{ change_threshold {{ relative {{ value: -0.2 }} direction: LOWER_IS_BETTER }} }} }} }}
          {metrics("ExampleCount", "MeanLabel", Precision='"thresholds": 0.6')} }}
        metrics_specs {{ model_names: "candidate" output_names: "a"
          metrics {{ class_name: "F1Score" threshold {{ value_threshold {{ lower_bound {{ value: 0.99 }} }} }} }}
          {metrics("Recall")} }}""",
    ),
    "classes of two models": (
        _with_other_model(CLASSES, 10),
        f"""
        model_specs {{ name: "candidate" label_key: "label" prediction_key: "prediction" example_weight_key: "weight" }}
        model_specs {{ name: "baseline" label_key: "label" prediction_key: "other" example_weight_key: "weight" is_baseline: true }}
        slicing_specs {{}} slicing_specs {{ feature_keys: ["color", "size"] }}
        cross_slicing_specs {{ baseline_spec {{}} slicing_specs {{ feature_values {{ key: "color" value: "red" }} }} }}
        metrics_specs {{
          metrics {{ class_name: "Precision" threshold {{ value_threshold {{ lower_bound {{ value: 0.5 }} }}
            change_threshold {{ absolute {{ value: 0.3 }} direction: HIGHER_IS_BETTER }} }} }}
          {
            metrics(
                "AUC", "BinaryAccuracy", "FalsePositives", "Calibration", "MatthewsCorrelationCoefficient"
            )
        }
          binarize {{ class_ids {{ values: [1, 3] }} k_list {{ values: [1, 3] }} }} }}
        metrics_specs {{
          metrics {{ class_name: "Recall" config: '"name": "micro_recall"'
            threshold {{ value_threshold {{ lower_bound {{ value: 0.5 }} }} }} }}
          {metrics("FalseNegatives")}
          binarize {{ top_k_list {{ values: [2, 4] }} }} aggregate {{ micro_average: true }} }}
        metrics_specs {{ {
            metrics(
                Precision='"name": "macro_precision"',
                AUC='"name": "macro_auc"',
                F1Score='"name": "macro_f1"',
                MeanSquaredError='"name": "macro_error"',
                Calibration='"name": "macro_calibration"',
            )
        }
          binarize {{ class_ids {{ values: [0, 1, 2, 3] }} }}
          aggregate {{ macro_average: true class_weights {{ key: 0 value: 1 }} class_weights {{ key: 1 value: 0.5 }}
            class_weights {{ key: 2 value: 2 }} class_weights {{ key: 3 value: 0 }} }} }}
        metrics_specs {{
          metrics {{ class_name: "SparseCategoricalAccuracy" threshold {{
            change_threshold {{ absolute {{ value: 0.9 }} direction: HIGHER_IS_BETTER }} }} }}
          {
            metrics(
                MultiClassConfusionMatrixPlot='"num_thresholds": 3',
                MultiLabelConfusionMatrixPlot='"num_thresholds": 4',
            )
        } }}""",
    ),
}
