# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.cudnn_rnn.cells import CudnnCompatibleGRUCell as CudnnCompatibleGRUCell
from tideflow.contrib.cudnn_rnn.cells import CudnnCompatibleLSTMCell as CudnnCompatibleLSTMCell
from tideflow.contrib.cudnn_rnn.converters import CudnnParamsFormatConverterGRU as CudnnParamsFormatConverterGRU
from tideflow.contrib.cudnn_rnn.converters import CudnnParamsFormatConverterLSTM as CudnnParamsFormatConverterLSTM
from tideflow.contrib.cudnn_rnn.converters import CudnnParamsFormatConverterRelu as CudnnParamsFormatConverterRelu
from tideflow.contrib.cudnn_rnn.converters import CudnnParamsFormatConverterTanh as CudnnParamsFormatConverterTanh
from tideflow.contrib.cudnn_rnn.layers import CudnnGRU as CudnnGRU
from tideflow.contrib.cudnn_rnn.layers import CudnnLSTM as CudnnLSTM
from tideflow.contrib.cudnn_rnn.layers import CudnnRNNRelu as CudnnRNNRelu
from tideflow.contrib.cudnn_rnn.layers import CudnnRNNTanh as CudnnRNNTanh
from tideflow.contrib.cudnn_rnn.saveables import CudnnGRUSaveable as CudnnGRUSaveable
from tideflow.contrib.cudnn_rnn.saveables import CudnnLSTMSaveable as CudnnLSTMSaveable
from tideflow.contrib.cudnn_rnn.saveables import CudnnRNNReluSaveable as CudnnRNNReluSaveable
from tideflow.contrib.cudnn_rnn.saveables import CudnnRNNTanhSaveable as CudnnRNNTanhSaveable
