# Written by `python -m tideflow.programs.stubs`.

from tideflow.signal.framing import frame as frame
from tideflow.signal.framing import overlap_and_add as overlap_and_add
from tideflow.signal.mel import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from tideflow.signal.mel import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from tideflow.signal.spectrograms import inverse_stft as inverse_stft
from tideflow.signal.spectrograms import inverse_stft_window_fn as inverse_stft_window_fn
from tideflow.signal.spectrograms import stft as stft
from tideflow.signal.windows import hamming_window as hamming_window
from tideflow.signal.windows import hann_window as hann_window
