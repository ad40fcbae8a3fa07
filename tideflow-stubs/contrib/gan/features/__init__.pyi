# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.gan.conditions import clip_discriminator_weights as clip_discriminator_weights
from tideflow.contrib.gan.conditions import clip_variables as clip_variables
from tideflow.contrib.gan.conditions import condition_tensor as condition_tensor
from tideflow.contrib.gan.conditions import condition_tensor_from_onehot as condition_tensor_from_onehot
from tideflow.contrib.gan.conditions import tensor_pool as tensor_pool
from tideflow.contrib.gan.normalization import VBN as VBN
from tideflow.contrib.gan.normalization import compute_spectral_norm as compute_spectral_norm
from tideflow.contrib.gan.normalization import spectral_norm_regularizer as spectral_norm_regularizer
from tideflow.contrib.gan.normalization import spectral_normalization_custom_getter as spectral_normalization_custom_getter
from tideflow.contrib.gan.normalization import spectral_normalize as spectral_normalize
