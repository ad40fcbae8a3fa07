# Written by `python -m tideflow.programs.stubs`.

from tideflow.rnn.cells import BasicLSTMCell as BasicLSTMCell
from tideflow.rnn.cells import BasicRNNCell as BasicRNNCell
from tideflow.rnn.cells import GRUCell as GRUCell
from tideflow.rnn.cells import LSTMCell as LSTMCell
from tideflow.rnn.cells import LSTMStateTuple as LSTMStateTuple
from tideflow.rnn.cells import MultiRNNCell as MultiRNNCell
from tideflow.rnn.cells import RNNCell as RNNCell
from tideflow.rnn.wrappers import DeviceWrapper as DeviceWrapper
from tideflow.rnn.wrappers import DropoutWrapper as DropoutWrapper
from tideflow.rnn.wrappers import ResidualWrapper as ResidualWrapper
