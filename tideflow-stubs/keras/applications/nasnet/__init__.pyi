# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tideflow.keras.applications.inception_resnet_v2 import preprocess_input as preprocess_input
from tideflow.keras.applications.nasnet import NASNetLarge as NASNetLarge
from tideflow.keras.applications.nasnet import NASNetMobile as NASNetMobile
