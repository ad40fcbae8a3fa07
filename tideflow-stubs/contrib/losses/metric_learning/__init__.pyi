# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.metric_learning import cluster_loss as cluster_loss
from tideflow.contrib.metric_learning import contrastive_loss as contrastive_loss
from tideflow.contrib.metric_learning import lifted_struct_loss as lifted_struct_loss
from tideflow.contrib.metric_learning import npairs_loss as npairs_loss
from tideflow.contrib.metric_learning import npairs_loss_multilabel as npairs_loss_multilabel
from tideflow.contrib.metric_learning import triplet_semihard_loss as triplet_semihard_loss
