# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.legacy_seq2seq.attention import attention_decoder as attention_decoder
from tideflow.contrib.legacy_seq2seq.attention import embedding_attention_decoder as embedding_attention_decoder
from tideflow.contrib.legacy_seq2seq.decoders import embedding_rnn_decoder as embedding_rnn_decoder
from tideflow.contrib.legacy_seq2seq.decoders import rnn_decoder as rnn_decoder
from tideflow.contrib.legacy_seq2seq.losses import model_with_buckets as model_with_buckets
from tideflow.contrib.legacy_seq2seq.losses import sequence_loss as sequence_loss
from tideflow.contrib.legacy_seq2seq.losses import sequence_loss_by_example as sequence_loss_by_example
from tideflow.contrib.legacy_seq2seq.models import basic_rnn_seq2seq as basic_rnn_seq2seq
from tideflow.contrib.legacy_seq2seq.models import embedding_attention_seq2seq as embedding_attention_seq2seq
from tideflow.contrib.legacy_seq2seq.models import embedding_rnn_seq2seq as embedding_rnn_seq2seq
from tideflow.contrib.legacy_seq2seq.models import embedding_tied_rnn_seq2seq as embedding_tied_rnn_seq2seq
from tideflow.contrib.legacy_seq2seq.models import one2many_rnn_seq2seq as one2many_rnn_seq2seq
from tideflow.contrib.legacy_seq2seq.models import tied_rnn_seq2seq as tied_rnn_seq2seq
