# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tideflow.keras.applications.inception_resnet_v2 import preprocess_input as preprocess_input
from tideflow.keras.applications.residual import ResNet101V2 as ResNet101V2
from tideflow.keras.applications.residual import ResNet152V2 as ResNet152V2
from tideflow.keras.applications.residual import ResNet50V2 as ResNet50V2
