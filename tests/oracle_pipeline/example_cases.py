# ruff: noqa: E501 - configurations as text
"""Tables whose examples are images with boxes, sets of classes, segmented images, texts and attributions."""

import base64
import random

from evaluation_cases import BINARY, CLASSES, metrics

# PNG files of four by three grey pixels: numbers of classes from 0 to 2, and 7, which is ignored.
IMAGES = [
    base64.b64decode(text)
    for text in (
        "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAAAAACRn/EaAAAAFElEQVR42mNgYGBkBGEmBnZGJiYAAGYAExGGzD4AAAAASUVORK5CYII=",
        "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAAAAACRn/EaAAAAFUlEQVR42mNgYGRkZGBgZGICEgxMAABaAAzpOt/zAAAAAElFTkSuQmCC",
    )
]


def _boxes(rows, seed):
    chance = random.Random(seed)
    names = (
        "xmin ymin xmax ymax class_id dxmin dymin dxmax dymax dclass dscore detections weight camera".split()
    )
    table = {name: [] for name in names}
    for row in range(rows):
        truth, found = [], []
        for _ in range(chance.randrange(1, 5)):
            left, top = chance.randrange(0, 60), chance.randrange(0, 60)
            box = [left, top, left + chance.randrange(5, 40), top + chance.randrange(5, 40)]
            kind = chance.choice([1, 1, 2])
            truth.append([*box, kind])
            for _ in range(chance.randrange(0, 3)):
                near = [value + chance.choice([-4, -1, 0, 1, 3]) for value in box]
                near = [near[0], near[1], max(near[2], near[0] + 1), max(near[3], near[1] + 1)]
                found.append(
                    [*near, chance.choice([kind, kind, kind, 3 - kind]), chance.randrange(1, 100) / 100]
                )
        found.append([1, 1, 9, 9, chance.choice([1, 2]), chance.randrange(1, 100) / 100])
        for place, name in enumerate(names[:5]):
            table[name].append([float(box[place]) for box in truth])
        for place, name in enumerate(names[5:11]):
            table[name].append([float(box[place]) for box in found])
        table["detections"].append(max(1, len(found) - row % 2))
        table["weight"].append(chance.choice([0.5, 1.0, 2.0]))
        table["camera"].append(chance.choice(["left", "right"]))
    return table


def _sets(rows, seed):
    chance = random.Random(seed)
    table = {"truth": [], "found": [], "score": [], "importance": [], "weight": [], "of": [], "of_weight": []}
    words = ["sun", "moon", "sea", "light", "star", "wind"]
    for _ in range(rows):
        truth, found = (chance.sample(words, chance.randrange(1, 5)) for _ in range(2))
        table["truth"].append(truth)
        table["found"].append(found)
        table["score"].append(sorted((chance.randrange(1, 100) / 100 for _ in found), reverse=True))
        table["importance"].append([chance.choice([0.5, 1.0, 3.0]) for _ in truth])
        table["weight"].append(chance.choice([0.5, 1.0, 2.0]))
        table["of"].append(["sun", "wind"])
        table["of_weight"].append([0.25, chance.choice([2.0, 4.0])])
    return table


def _texts():
    pairs = [
        (["The cat sat on the mat."], "A cat sat on a mat."),
        (
            ["Police killed the gunman.\nHe was hiding.", "The gunman was shot by police."],
            "Police kill the gunman.\nHe hid.",
        ),
        (["It's 3.14, isn't it?"], "It is 3.14 - isn't it?"),
        (
            ["Running runners ran generously &amp; happily; flies died."],
            "A runner runs generous and happy, the fly dies.",
        ),
        (["colourless green ideas sleep furiously"], "furiously sleep ideas green colourless"),
        (["nothing in common"], "wholly different words here"),
    ]
    pairs = [(references * (3 - len(references)), found) for references, found in pairs]
    return {
        "label": [references for references, _ in pairs],
        "prediction": [found for _, found in pairs],
        "weight": [0.5, 1.0, 2.0, 1.0, 1.0, 0.25],
    }


BOXES, SETS, TEXTS = _boxes(14, 5), _sets(20, 6), _texts()
_BOX = (
    '"labels_to_stack": ["xmin", "ymin", "xmax", "ymax", "class_id"], '
    '"predictions_to_stack": ["dxmin", "dymin", "dxmax", "dymax", "dclass", "dscore"]'
)
_DETECTED = " ".join(
    f'prediction_keys {{ key: "{name}" value: "{name}" }}'
    for name in ("dxmin", "dymin", "dxmax", "dymax", "dclass", "dscore", "detections")
)
_SEGMENTS = '"class_ids": [0, 1, 2], "ground_truth_key": "truth", "prediction_key": "found", "decode_prediction": true'


def _detection(weighted):
    return f"""model_specs {{ {_DETECTED} {'example_weight_key: "weight"' if weighted else ""} }}
        slicing_specs {{}} slicing_specs {{ feature_keys: "camera" }}
        metrics_specs {{ {
        metrics(
            ObjectDetectionPrecision=f'"class_id": 1, {_BOX}',
            ObjectDetectionPrecision_=f'"name": "far", "class_id": 2, "class_weight": 0.5, "iou_threshold": 0.8, "thresholds": [0.3, 0.7], {_BOX}',
            ObjectDetectionRecall=f'"class_id": 1, "max_num_detections": 1, {_BOX}',
            ObjectDetectionRecall_=f'"name": "large", "class_id": 1, "area_range": [300, 2000], {_BOX}',
            ObjectDetectionMaxRecall=f'"class_id": 1, {_BOX}',
            ObjectDetectionPrecisionAtRecall=f'"class_id": 1, "recall": [0.3, 0.6], {_BOX}',
            ObjectDetectionThresholdAtRecall=f'"class_id": 2, "recall": 0.4, {_BOX}',
            ObjectDetectionConfusionMatrixPlot=f'"class_id": 1, "num_thresholds": 10, {_BOX}',
            COCOAveragePrecision=f'"class_id": 1, "iou_threshold": 0.6, "num_thresholds": 100, {_BOX}',
            COCOAveragePrecision_=f'"name": "at_few", "class_id": 2, "recalls": [0.1, 0.5], "num_detections_key": "detections", {_BOX}',
            COCOMeanAveragePrecision=f'"class_ids": [1, 2], "num_thresholds": 50, "num_recalls": 11, {_BOX}',
            COCOAverageRecall=f'"class_id": 2, {_BOX}',
            COCOMeanAverageRecall=f'"class_ids": [1, 2], "iou_thresholds": [0.5, 0.75], "max_num_detections": 2, {_BOX}',
            COCOAverageRecall_=f'"name": "none", "class_id": 9, {_BOX}',
        )
    } }}"""


_PAIRS = 'model_specs { label_key: "label" prediction_key: "prediction"'
_NUMBERED = {**BINARY, "id": [f"row {number}" for number in range(len(BINARY["label"]))]}
_SETS = """model_specs { label_key: "truth" prediction_keys { key: "classes" value: "found" }
    prediction_keys { key: "scores" value: "score" } """

CASES = {
    "boxes": (BOXES, _detection(weighted=False)),
    "weighted boxes": (BOXES, _detection(weighted=True)),
    "sets": (
        SETS,
        f"""{_SETS} }} metrics_specs {{ {
            metrics(
                "SetMatchPrecision",
                "SetMatchRecall",
                SetMatchPrecision_='"name": "two", "top_k": 2',
                SetMatchRecall_='"name": "sure", "thresholds": [0.2, 0.8]',
            )
        } }}""",
    ),
    # TFMA mixes up metrics of sets that differ in their weights alone, and takes one sampler at a time.
    "sets by importance": (
        SETS,
        f"""{_SETS} }} metrics_specs {{ {metrics(SetMatchRecall='"weight_key": "importance"')} }}""",
    ),
    "sets by class": (
        SETS,
        f"""{_SETS} example_weight_key: "weight" }}
        metrics_specs {{ {metrics(SetMatchPrecision='"class_key": "of", "weight_key": "of_weight"')} }}""",
    ),
    "weighted sets": (
        SETS,
        f"""{_SETS} example_weight_key: "weight" }} metrics_specs {{ {
            metrics("SetMatchPrecision", "SetMatchRecall")
        } }}""",
    ),
    "segments": (
        {"truth": [IMAGES[0], IMAGES[1], IMAGES[0]], "found": [IMAGES[1], IMAGES[1], IMAGES[0]]},
        f"""model_specs {{ prediction_keys {{ key: "found" value: "found" }} }}
        metrics_specs {{ {
            metrics(
                SemanticSegmentationTruePositive=_SEGMENTS,
                SemanticSegmentationFalsePositive=_SEGMENTS,
                SemanticSegmentationTruePositive_=f'"name": "tp_but_0", "ignore_ground_truth_id": 0, {_SEGMENTS}',
                SemanticSegmentationFalsePositive_=f'"name": "fp_but_0", "ignore_ground_truth_id": 0, {_SEGMENTS}',
                SemanticSegmentationConfusionMatrix=f'"name": "matrix", {_SEGMENTS}',
            )
        } }}""",
    ),
    "false positives": (
        _NUMBERED,
        f"""{_PAIRS} }} slicing_specs {{}} slicing_specs {{ feature_keys: "color" }}
        metrics_specs {{ {metrics(FalsePositiveFeatureSampler='"feature_key": "id", "sample_size": 1000')} }}""",
    ),
    "false negatives": (
        _NUMBERED,
        f"""{_PAIRS} }} metrics_specs {{ {
            metrics(
                FalseNegativeFeatureSampler='"feature_key": "size", "sample_size": 1000, "threshold": 0.8'
            )
        } }}""",
    ),
    "translations": (
        {**TEXTS, "text": ["translation"] * len(TEXTS["label"])},
        f"""{_PAIRS} }} slicing_specs {{}} slicing_specs {{ feature_keys: "weight" }} metrics_specs {{ {
            metrics(
                "Bleu",
                Bleu_='"name": "lower", "lowercase": true, "smooth_method": "floor"',
                Bleu__='"name": "added", "smooth_method": "add-k", "tokenize": "none"',
                Bleu___='"name": "short", "use_effective_order": true, "tokenize": "char"',
                Bleu____='"name": "rough", "smooth_method": "none", "tokenize": "intl"',
            )
        } }}""",
    ),
    "summaries": (
        {**TEXTS, "text": ["summary"] * len(TEXTS["label"])},
        f"""{_PAIRS} }} slicing_specs {{}} slicing_specs {{ feature_keys: "weight" }} metrics_specs {{ {
            metrics(
                Rouge='"rouge_type": "rouge1"',
                Rouge_='"rouge_type": "rouge2"',
                Rouge__='"rouge_type": "rougeL"',
                Rouge___='"rouge_type": "rougeLsum"',
                Rouge____='"rouge_type": "rouge1", "name": "stems", "use_stemmer": true',
            )
        } }}""",
    ),
    "weighted summaries": (
        {**TEXTS, "text": ["summary"] * len(TEXTS["label"])},
        f"""{_PAIRS} example_weight_key: "weight" }}
        metrics_specs {{ {metrics(Rouge='"rouge_type": "rouge1"')} example_weights {{ unweighted: true }} }}""",
    ),
    "attributions": (
        {
            **BINARY,
            "attributions/size": [value - 0.5 for value in BINARY["part"]],
            "attributions/color": BINARY["other"],
        },
        f"""model_specs {{ label_key: "label" prediction_key: "prediction" example_weight_key: "weight" }}
        slicing_specs {{}} slicing_specs {{ feature_keys: "color" }}
        metrics_specs {{ {
            metrics(
                "MeanAttributions",
                "MeanAbsoluteAttributions",
                "TotalAttributions",
                "TotalAbsoluteAttributions",
            )
        } example_weights {{ weighted: true unweighted: true }} }}""",
    ),
    "attributions of classes": (
        {**CLASSES, "attributions/x": [[p - 0.2 for p in row] for row in CLASSES["prediction"]]},
        f"""model_specs {{ label_key: "label" prediction_key: "prediction" }}
        metrics_specs {{ {metrics("MeanAttributions", "TotalAbsoluteAttributions")} }}
        metrics_specs {{ {metrics(MeanAttributions='"name": "by_class"', TotalAttributions='"name": "of_class"')}
          binarize {{ class_ids {{ values: [0, 2] }} k_list {{ values: [1, 2] }} top_k_list {{ values: [2] }} }} }}""",
    ),
}
