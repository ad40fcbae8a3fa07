# Written by `python -m tideflow.programs.stubs`.

from tideflow.graph.operation import Tensor as _Tensor
from tideflow.contrib.losses import absolute_difference as absolute_difference
from tideflow.contrib.losses import compute_weighted_loss as compute_weighted_loss
from tideflow.contrib.losses import cosine_distance as cosine_distance
from tideflow.contrib.losses import get_total_loss as get_total_loss
from tideflow.contrib.losses import hinge_loss as hinge_loss
from tideflow.contrib.losses import log_loss as log_loss
from tideflow.contrib.losses import mean_pairwise_squared_error as mean_pairwise_squared_error
from tideflow.contrib.losses import mean_squared_error as mean_squared_error
from tideflow.contrib.losses import metric_learning as metric_learning
from tideflow.contrib.losses import sigmoid_cross_entropy as sigmoid_cross_entropy
from tideflow.contrib.losses import softmax_cross_entropy as softmax_cross_entropy
from tideflow.contrib.losses import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy
from tideflow.losses.collection import get_losses as get_losses
from tideflow.losses.collection import get_regularization_losses as get_regularization_losses

def add_loss(loss: _Tensor, loss_collection='losses') -> None:
    """Adds a loss to a collection.

    Args:
      loss: The loss.
      loss_collection: The collection's key; nothing happens if it is None, or in eager mode."""
