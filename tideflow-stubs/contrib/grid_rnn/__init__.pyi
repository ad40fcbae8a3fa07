# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.grid_rnn import Grid1BasicLSTMCell as Grid1BasicLSTMCell
from tideflow.contrib.grid_rnn import Grid1BasicRNNCell as Grid1BasicRNNCell
from tideflow.contrib.grid_rnn import Grid1LSTMCell as Grid1LSTMCell
from tideflow.contrib.grid_rnn import Grid2BasicLSTMCell as Grid2BasicLSTMCell
from tideflow.contrib.grid_rnn import Grid2BasicRNNCell as Grid2BasicRNNCell
from tideflow.contrib.grid_rnn import Grid2GRUCell as Grid2GRUCell
from tideflow.contrib.grid_rnn import Grid2LSTMCell as Grid2LSTMCell
from tideflow.contrib.grid_rnn import Grid3LSTMCell as Grid3LSTMCell
from tideflow.contrib.grid_rnn import GridRNNCell as GridRNNCell
