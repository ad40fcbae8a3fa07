# Written by `python -m tideflow.programs.stubs`.

from tideflow import fft as fft
from tideflow import fft2d as fft2d
from tideflow import fft3d as fft3d
from tideflow import ifft as ifft
from tideflow import ifft2d as ifft2d
from tideflow import ifft3d as ifft3d
from tideflow.ops.signals.fourier import dct as dct
from tideflow.ops.signals.fourier import idct as idct
from tideflow.ops.signals.fourier import irfft as irfft
from tideflow.ops.signals.fourier import irfft2d as irfft2d
from tideflow.ops.signals.fourier import irfft3d as irfft3d
from tideflow.ops.signals.fourier import rfft as rfft
from tideflow.ops.signals.fourier import rfft2d as rfft2d
from tideflow.ops.signals.fourier import rfft3d as rfft3d
