# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tideflow.keras.applications.imagenet_utils import preprocess_input as preprocess_input
