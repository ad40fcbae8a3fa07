# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.crf import CrfDecodeBackwardRnnCell as CrfDecodeBackwardRnnCell
from tideflow.contrib.crf import CrfDecodeForwardRnnCell as CrfDecodeForwardRnnCell
from tideflow.contrib.crf import CrfForwardRnnCell as CrfForwardRnnCell
from tideflow.contrib.crf import crf_binary_score as crf_binary_score
from tideflow.contrib.crf import crf_decode as crf_decode
from tideflow.contrib.crf import crf_log_likelihood as crf_log_likelihood
from tideflow.contrib.crf import crf_log_norm as crf_log_norm
from tideflow.contrib.crf import crf_multitag_sequence_score as crf_multitag_sequence_score
from tideflow.contrib.crf import crf_sequence_score as crf_sequence_score
from tideflow.contrib.crf import crf_unary_score as crf_unary_score
from tideflow.contrib.crf import viterbi_decode as viterbi_decode
