# Written by `python -m tideflow.programs.stubs`.

from tideflow.layers.activations import deserialize as deserialize
from tideflow.layers.activations import elu as elu
from tideflow.layers.activations import exponential as exponential
from tideflow.layers.activations import get as get
from tideflow.layers.activations import hard_sigmoid as hard_sigmoid
from tideflow.layers.activations import linear as linear
from tideflow.layers.activations import relu as relu
from tideflow.layers.activations import selu as selu
from tideflow.layers.activations import serialize as serialize
from tideflow.layers.activations import sigmoid as sigmoid
from tideflow.layers.activations import softmax as softmax
from tideflow.layers.activations import softplus as softplus
from tideflow.layers.activations import softsign as softsign
from tideflow.layers.activations import tanh as tanh
