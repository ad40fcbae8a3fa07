# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.preprocessing import image as image
from tideflow.keras.preprocessing import sequence as sequence
from tideflow.keras.preprocessing import text as text
