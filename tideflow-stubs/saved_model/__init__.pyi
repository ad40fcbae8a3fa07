# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from builtins import str as _str
from tideflow.io.saved_models import contains_saved_model as _maybe_saved_model_directory
from tideflow.io.saved_models import contains_saved_model as contains_saved_model
from tideflow.saved_model import builder as builder
from tideflow.saved_model import constants as constants
from tideflow.saved_model import experimental as experimental
from tideflow.saved_model import loader as loader
from tideflow.saved_model import main_op as main_op
from tideflow.saved_model import signature_constants as signature_constants
from tideflow.saved_model import signature_def_utils as signature_def_utils
from tideflow.saved_model import tag_constants as tag_constants
from tideflow.saved_model import utils as utils
from tideflow.saved_model.builder import SavedModelBuilder as _Builder
from tideflow.saved_model.builder import simple_save as simple_save
from tideflow.saved_model.loader import load as load
from tideflow.saved_model.main_op import main_op_with_restore as main_op_with_restore
from tideflow.saved_model.objects import load_v2 as load_v2
from tideflow.saved_model.saving import save as save
from tideflow.saved_model.signatures import build_signature_def as build_signature_def
from tideflow.saved_model.signatures import classification_signature_def as classification_signature_def
from tideflow.saved_model.signatures import is_valid_signature as is_valid_signature
from tideflow.saved_model.signatures import predict_signature_def as predict_signature_def
from tideflow.saved_model.signatures import regression_signature_def as regression_signature_def
from tideflow.saved_model.tensor_info import build_tensor_info as build_tensor_info
from tideflow.saved_model.tensor_info import get_tensor_from_tensor_info as get_tensor_from_tensor_info

ASSETS_DIRECTORY: _str
ASSETS_KEY: _str
Builder = _Builder
CLASSIFY_INPUTS: _str
CLASSIFY_METHOD_NAME: _str
CLASSIFY_OUTPUT_CLASSES: _str
CLASSIFY_OUTPUT_SCORES: _str
DEFAULT_SERVING_SIGNATURE_DEF_KEY: _str
GPU: _str
LEGACY_INIT_OP_KEY: _str
MAIN_OP_KEY: _str
PREDICT_INPUTS: _str
PREDICT_METHOD_NAME: _str
PREDICT_OUTPUTS: _str
REGRESS_INPUTS: _str
REGRESS_METHOD_NAME: _str
REGRESS_OUTPUTS: _str
SAVED_MODEL_FILENAME_PB: _str
SAVED_MODEL_FILENAME_PBTXT: _str
SAVED_MODEL_SCHEMA_VERSION: _int
SERVING: _str
TPU: _str
TRAINING: _str
VARIABLES_DIRECTORY: _str
VARIABLES_FILENAME: _str
maybe_saved_model_directory = _maybe_saved_model_directory
