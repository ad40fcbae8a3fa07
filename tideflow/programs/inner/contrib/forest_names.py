"""`tensorflow.contrib.tensor_forest`: the keys of features, losses and predictions."""

import tideflow as tf
from tideflow.contrib.learn.modes import PredictionKey

DATA_FLOAT = 0
DATA_CATEGORICAL = 1
DTYPE_TO_FTYPE = {
    tf.string: DATA_CATEGORICAL,
    tf.int32: DATA_CATEGORICAL,
    tf.int64: DATA_CATEGORICAL,
    tf.float32: DATA_FLOAT,
    tf.float64: DATA_FLOAT,
}
KEYS_NAME = "keys"
LOSS_NAME = "rf_training_loss"
TREE_PATHS_PREDICTION_KEY = "tree_paths"
VARIANCE_PREDICTION_KEY = "prediction_variance"
ALL_SERVING_KEY = "tensorforest_all"
EPSILON = 0.000001
INFERENCE_PROB_NAME = PredictionKey.PROBABILITIES
INFERENCE_PRED_NAME = PredictionKey.CLASSES
FEATURE_IMPORTANCE_NAME = "global_feature_importance"
