"""The names that model functions use: what they are called for, what they predict, which task runs them."""

from __future__ import annotations

from tideflow.export import export


@export("contrib.learn.ModeKeys")
class ModeKeys:
    """The names of what a model is built for: training, evaluation, inference."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """Checks that a name is one of the three.

        Args:
          key: The name.

        Raises:
          ValueError: If it is not.
        """
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


@export("contrib.learn.TaskType")
class TaskType:
    """The names of the jobs of a cluster that trains."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


@export("contrib.learn.ProblemType", "contrib.slim.ProblemType")
class ProblemType:
    """The numbers of the kinds of problems that models solve."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


@export("contrib.learn.PredictionKey")
class PredictionKey:
    """The names of what models predict."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


@export("contrib.learn.head.mkey")
class MetricKey:
    """The names of what evaluations measure. Some take the number of a class, or a threshold."""

    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    CLASS_AUC = "auc/class%d"
    CLASS_AUC_PR = "auc_precision_recall/class%d"
    PREDICTION_MEAN = "labels/prediction_mean"
    CLASS_PREDICTION_MEAN = "labels/prediction_mean/class%d"
    CLASS_LOGITS_MEAN = "labels/logits_mean/class%d"
    CLASS_PROBABILITY_MEAN = "labels/probability_mean/class%d"
    LABEL_MEAN = "labels/actual_label_mean"
    CLASS_LABEL_MEAN = "labels/actual_label_mean/class%d"
    ACCURACY = "accuracy"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"
