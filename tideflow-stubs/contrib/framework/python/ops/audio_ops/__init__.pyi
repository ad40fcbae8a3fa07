# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.signals.audio import audio_spectrogram as audio_spectrogram
from tideflow.ops.signals.audio import decode_wav as decode_wav
from tideflow.ops.signals.audio import encode_wav as encode_wav
from tideflow.ops.signals.audio import mfcc as mfcc
