# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.ops import categorical_variable as categorical_variable
from tideflow.contrib.learn.ops import embedding_lookup as embedding_lookup
from tideflow.contrib.learn.ops import mean_squared_error_regressor as mean_squared_error_regressor
from tideflow.contrib.learn.ops import rnn_decoder as rnn_decoder
from tideflow.contrib.learn.ops import rnn_seq2seq as rnn_seq2seq
from tideflow.contrib.learn.ops import seq2seq_inputs as seq2seq_inputs
from tideflow.contrib.learn.ops import sequence_classifier as sequence_classifier
from tideflow.contrib.learn.ops import softmax_classifier as softmax_classifier
