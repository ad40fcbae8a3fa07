# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.recurrent import Recurrent as Recurrent
from tideflow.contrib.recurrent import bidirectional_functional_rnn as bidirectional_functional_rnn
from tideflow.contrib.recurrent import functional_rnn as functional_rnn
