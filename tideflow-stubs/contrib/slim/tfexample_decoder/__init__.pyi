# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.tfexample_decoder import BackupHandler as BackupHandler
from tideflow.contrib.slim.tfexample_decoder import BoundingBox as BoundingBox
from tideflow.contrib.slim.tfexample_decoder import Image as Image
from tideflow.contrib.slim.tfexample_decoder import ItemHandler as ItemHandler
from tideflow.contrib.slim.tfexample_decoder import ItemHandlerCallback as ItemHandlerCallback
from tideflow.contrib.slim.tfexample_decoder import LookupTensor as LookupTensor
from tideflow.contrib.slim.tfexample_decoder import SparseTensor as SparseTensor
from tideflow.contrib.slim.tfexample_decoder import TFExampleDecoder as TFExampleDecoder
from tideflow.contrib.slim.tfexample_decoder import Tensor as Tensor
