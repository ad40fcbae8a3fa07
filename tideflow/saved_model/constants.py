"""Names in SavedModels: files, collections, signatures, methods, tags."""

from tideflow.export import expose
from tideflow.io import saved_models

ASSETS_KEY = "saved_model_assets"
LEGACY_INIT_OP_KEY = "legacy_init_op"
MAIN_OP_KEY = "saved_model_main_op"
TRAIN_OP_KEY = "saved_model_train_op"
INIT_OP_SIGNATURE_KEY = "__saved_model_init_op"
TRAIN_OP_SIGNATURE_KEY = "__saved_model_train_op"

CLASSIFY_INPUTS = REGRESS_INPUTS = PREDICT_INPUTS = "inputs"
CLASSIFY_OUTPUT_CLASSES = "classes"
CLASSIFY_OUTPUT_SCORES = "scores"
REGRESS_OUTPUTS = PREDICT_OUTPUTS = "outputs"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"

SERVING, TRAINING, EVAL, GPU, TPU = "serve", "train", "eval", "gpu", "tpu"

_FILES = (
    "ASSETS_DIRECTORY SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION "
    "VARIABLES_DIRECTORY VARIABLES_FILENAME"
).split()
_GROUPS = {
    "constants": ("ASSETS_KEY", "LEGACY_INIT_OP_KEY", "MAIN_OP_KEY"),
    "signature_constants": (
        "CLASSIFY_INPUTS",
        "CLASSIFY_METHOD_NAME",
        "CLASSIFY_OUTPUT_CLASSES",
        "CLASSIFY_OUTPUT_SCORES",
        "DEFAULT_SERVING_SIGNATURE_DEF_KEY",
        "PREDICT_INPUTS",
        "PREDICT_METHOD_NAME",
        "PREDICT_OUTPUTS",
        "REGRESS_INPUTS",
        "REGRESS_METHOD_NAME",
        "REGRESS_OUTPUTS",
    ),
    "tag_constants": ("SERVING", "TRAINING", "GPU", "TPU"),
}

for _name in _FILES:
    _value = getattr(saved_models, _name)
    expose(_value, f"saved_model.{_name}", f"saved_model.constants.{_name}")
for _group, _names in _GROUPS.items():
    for _name in _names:
        expose(globals()[_name], f"saved_model.{_name}", f"saved_model.{_group}.{_name}")
