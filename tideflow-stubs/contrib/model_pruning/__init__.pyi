# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.model_pruning.cells import MaskedBasicLSTMCell as MaskedBasicLSTMCell
from tideflow.contrib.model_pruning.cells import MaskedLSTMCell as MaskedLSTMCell
from tideflow.contrib.model_pruning.layers import masked_convolution as _masked_conv2d
from tideflow.contrib.model_pruning.layers import masked_convolution as masked_convolution
from tideflow.contrib.model_pruning.layers import masked_fully_connected as masked_fully_connected
from tideflow.contrib.model_pruning.masks import apply_mask as apply_mask
from tideflow.contrib.model_pruning.masks import get_masked_weights as get_masked_weights
from tideflow.contrib.model_pruning.masks import get_masks as get_masks
from tideflow.contrib.model_pruning.masks import get_thresholds as get_thresholds
from tideflow.contrib.model_pruning.masks import get_weight_sparsity as get_weight_sparsity
from tideflow.contrib.model_pruning.masks import get_weights as get_weights
from tideflow.contrib.model_pruning.pruning import Pruning as Pruning
from tideflow.contrib.model_pruning.pruning import get_pruning_hparams as get_pruning_hparams
from tideflow.contrib.model_pruning.stripping import graph_def_from_checkpoint as graph_def_from_checkpoint
from tideflow.contrib.model_pruning.stripping import strip_pruning_vars_fn as strip_pruning_vars_fn
from tideflow.contrib.model_pruning.training_loop import train as train

masked_conv2d = _masked_conv2d
