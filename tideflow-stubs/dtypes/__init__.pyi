# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.reading import _STRING as _string
from tideflow.graph.dtypes import DType as DType
from tideflow.graph.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
from tideflow.graph.dtypes import as_dtype as as_dtype
from tideflow.graph.dtypes import bfloat16 as bfloat16
from tideflow.graph.dtypes import bool as bool
from tideflow.graph.dtypes import complex128 as complex128
from tideflow.graph.dtypes import complex64 as complex64
from tideflow.graph.dtypes import double as _float64
from tideflow.graph.dtypes import double as double
from tideflow.graph.dtypes import float32 as float32
from tideflow.graph.dtypes import half as _float16
from tideflow.graph.dtypes import half as half
from tideflow.graph.dtypes import int16 as int16
from tideflow.graph.dtypes import int32 as int32
from tideflow.graph.dtypes import int64 as int64
from tideflow.graph.dtypes import int8 as int8
from tideflow.graph.dtypes import qint16 as qint16
from tideflow.graph.dtypes import qint32 as qint32
from tideflow.graph.dtypes import qint8 as qint8
from tideflow.graph.dtypes import quint16 as quint16
from tideflow.graph.dtypes import quint8 as quint8
from tideflow.graph.dtypes import resource as resource
from tideflow.graph.dtypes import uint16 as uint16
from tideflow.graph.dtypes import uint32 as uint32
from tideflow.graph.dtypes import uint64 as uint64
from tideflow.graph.dtypes import uint8 as uint8
from tideflow.graph.dtypes import variant as variant
from tideflow.ops.math.casting import cast as cast
from tideflow.ops.math.casting import saturate_cast as saturate_cast
from tideflow.ops.math.complex_numbers import complex as complex
from tideflow.ops.strings.numbers import as_string as as_string

float16 = _float16
float64 = _float64
string = _string
