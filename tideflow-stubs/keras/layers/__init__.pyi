# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.engine.input_layer import Input as Input
from tideflow.keras.engine.input_layer import InputLayer as InputLayer
from tideflow.keras.layers.activations import AdditiveAttention as AdditiveAttention
from tideflow.keras.layers.activations import AlphaDropout as AlphaDropout
from tideflow.keras.layers.activations import Attention as Attention
from tideflow.keras.layers.activations import ELU as ELU
from tideflow.keras.layers.activations import Embedding as Embedding
from tideflow.keras.layers.activations import GaussianDropout as GaussianDropout
from tideflow.keras.layers.activations import GaussianNoise as GaussianNoise
from tideflow.keras.layers.activations import LayerNormalization as LayerNormalization
from tideflow.keras.layers.activations import LeakyReLU as LeakyReLU
from tideflow.keras.layers.activations import PReLU as PReLU
from tideflow.keras.layers.activations import ReLU as ReLU
from tideflow.keras.layers.activations import Softmax as Softmax
from tideflow.keras.layers.activations import ThresholdedReLU as ThresholdedReLU
from tideflow.keras.layers.cells import GRU as GRU
from tideflow.keras.layers.cells import GRUCell as GRUCell
from tideflow.keras.layers.cells import LSTM as LSTM
from tideflow.keras.layers.cells import LSTMCell as LSTMCell
from tideflow.keras.layers.cells import SimpleRNN as SimpleRNN
from tideflow.keras.layers.cells import SimpleRNNCell as SimpleRNNCell
from tideflow.keras.layers.conv_recurrent import ConvLSTM2D as ConvLSTM2D
from tideflow.keras.layers.core import Activation as Activation
from tideflow.keras.layers.core import ActivityRegularization as ActivityRegularization
from tideflow.keras.layers.core import Lambda as Lambda
from tideflow.keras.layers.core import Masking as Masking
from tideflow.keras.layers.core import Permute as Permute
from tideflow.keras.layers.core import RepeatVector as RepeatVector
from tideflow.keras.layers.core import Reshape as Reshape
from tideflow.keras.layers.core import SpatialDropout1D as SpatialDropout1D
from tideflow.keras.layers.core import SpatialDropout2D as SpatialDropout2D
from tideflow.keras.layers.core import SpatialDropout3D as SpatialDropout3D
from tideflow.keras.layers.cudnn import CuDNNGRU as CuDNNGRU
from tideflow.keras.layers.cudnn import CuDNNLSTM as CuDNNLSTM
from tideflow.keras.layers.feature_layers import DenseFeatures as DenseFeatures
from tideflow.keras.layers.local import LocallyConnected1D as LocallyConnected1D
from tideflow.keras.layers.local import LocallyConnected2D as LocallyConnected2D
from tideflow.keras.layers.merge import Add as Add
from tideflow.keras.layers.merge import Average as Average
from tideflow.keras.layers.merge import Concatenate as Concatenate
from tideflow.keras.layers.merge import Dot as Dot
from tideflow.keras.layers.merge import Maximum as Maximum
from tideflow.keras.layers.merge import Minimum as Minimum
from tideflow.keras.layers.merge import Multiply as Multiply
from tideflow.keras.layers.merge import Subtract as Subtract
from tideflow.keras.layers.merge import add as add
from tideflow.keras.layers.merge import average as average
from tideflow.keras.layers.merge import concatenate as concatenate
from tideflow.keras.layers.merge import dot as dot
from tideflow.keras.layers.merge import maximum as maximum
from tideflow.keras.layers.merge import minimum as minimum
from tideflow.keras.layers.merge import multiply as multiply
from tideflow.keras.layers.merge import subtract as subtract
from tideflow.keras.layers.recurrent import AbstractRNNCell as AbstractRNNCell
from tideflow.keras.layers.recurrent import RNN as RNN
from tideflow.keras.layers.recurrent import StackedRNNCells as StackedRNNCells
from tideflow.keras.layers.resizing import Cropping1D as Cropping1D
from tideflow.keras.layers.resizing import Cropping2D as Cropping2D
from tideflow.keras.layers.resizing import Cropping3D as Cropping3D
from tideflow.keras.layers.resizing import UpSampling1D as UpSampling1D
from tideflow.keras.layers.resizing import UpSampling2D as UpSampling2D
from tideflow.keras.layers.resizing import UpSampling3D as UpSampling3D
from tideflow.keras.layers.resizing import ZeroPadding1D as ZeroPadding1D
from tideflow.keras.layers.resizing import ZeroPadding2D as ZeroPadding2D
from tideflow.keras.layers.resizing import ZeroPadding3D as ZeroPadding3D
from tideflow.keras.layers.serialization import deserialize as deserialize
from tideflow.keras.layers.serialization import serialize as serialize
from tideflow.keras.layers.wrappers import Bidirectional as Bidirectional
from tideflow.keras.layers.wrappers import TimeDistributed as TimeDistributed
from tideflow.keras.layers.wrappers import Wrapper as Wrapper
from tideflow.layers.base import Layer as Layer
from tideflow.layers.input_spec import InputSpec as InputSpec
from tideflow.layers.keras_convolutional import Conv1D as Conv1D
from tideflow.layers.keras_convolutional import Conv1D as _Convolution1D
from tideflow.layers.keras_convolutional import Conv2D as Conv2D
from tideflow.layers.keras_convolutional import Conv2D as _Convolution2D
from tideflow.layers.keras_convolutional import Conv2DTranspose as Conv2DTranspose
from tideflow.layers.keras_convolutional import Conv2DTranspose as _Convolution2DTranspose
from tideflow.layers.keras_convolutional import Conv3D as Conv3D
from tideflow.layers.keras_convolutional import Conv3D as _Convolution3D
from tideflow.layers.keras_convolutional import Conv3DTranspose as Conv3DTranspose
from tideflow.layers.keras_convolutional import Conv3DTranspose as _Convolution3DTranspose
from tideflow.layers.keras_core import Dense as Dense
from tideflow.layers.keras_core import Dropout as Dropout
from tideflow.layers.keras_core import Flatten as Flatten
from tideflow.layers.keras_normalization import BatchNormalization as BatchNormalization
from tideflow.layers.keras_pooling import AveragePooling1D as AveragePooling1D
from tideflow.layers.keras_pooling import AveragePooling1D as _AvgPool1D
from tideflow.layers.keras_pooling import AveragePooling2D as AveragePooling2D
from tideflow.layers.keras_pooling import AveragePooling2D as _AvgPool2D
from tideflow.layers.keras_pooling import AveragePooling3D as AveragePooling3D
from tideflow.layers.keras_pooling import AveragePooling3D as _AvgPool3D
from tideflow.layers.keras_pooling import GlobalAveragePooling1D as GlobalAveragePooling1D
from tideflow.layers.keras_pooling import GlobalAveragePooling1D as _GlobalAvgPool1D
from tideflow.layers.keras_pooling import GlobalAveragePooling2D as GlobalAveragePooling2D
from tideflow.layers.keras_pooling import GlobalAveragePooling2D as _GlobalAvgPool2D
from tideflow.layers.keras_pooling import GlobalAveragePooling3D as GlobalAveragePooling3D
from tideflow.layers.keras_pooling import GlobalAveragePooling3D as _GlobalAvgPool3D
from tideflow.layers.keras_pooling import GlobalMaxPooling1D as GlobalMaxPooling1D
from tideflow.layers.keras_pooling import GlobalMaxPooling1D as _GlobalMaxPool1D
from tideflow.layers.keras_pooling import GlobalMaxPooling2D as GlobalMaxPooling2D
from tideflow.layers.keras_pooling import GlobalMaxPooling2D as _GlobalMaxPool2D
from tideflow.layers.keras_pooling import GlobalMaxPooling3D as GlobalMaxPooling3D
from tideflow.layers.keras_pooling import GlobalMaxPooling3D as _GlobalMaxPool3D
from tideflow.layers.keras_pooling import MaxPooling1D as MaxPooling1D
from tideflow.layers.keras_pooling import MaxPooling1D as _MaxPool1D
from tideflow.layers.keras_pooling import MaxPooling2D as MaxPooling2D
from tideflow.layers.keras_pooling import MaxPooling2D as _MaxPool2D
from tideflow.layers.keras_pooling import MaxPooling3D as MaxPooling3D
from tideflow.layers.keras_pooling import MaxPooling3D as _MaxPool3D
from tideflow.layers.keras_separable import DepthwiseConv2D as DepthwiseConv2D
from tideflow.layers.keras_separable import SeparableConv1D as SeparableConv1D
from tideflow.layers.keras_separable import SeparableConv1D as _SeparableConvolution1D
from tideflow.layers.keras_separable import SeparableConv2D as SeparableConv2D
from tideflow.layers.keras_separable import SeparableConv2D as _SeparableConvolution2D

AvgPool1D = _AvgPool1D
AvgPool2D = _AvgPool2D
AvgPool3D = _AvgPool3D
Convolution1D = _Convolution1D
Convolution2D = _Convolution2D
Convolution2DTranspose = _Convolution2DTranspose
Convolution3D = _Convolution3D
Convolution3DTranspose = _Convolution3DTranspose
GlobalAvgPool1D = _GlobalAvgPool1D
GlobalAvgPool2D = _GlobalAvgPool2D
GlobalAvgPool3D = _GlobalAvgPool3D
GlobalMaxPool1D = _GlobalMaxPool1D
GlobalMaxPool2D = _GlobalMaxPool2D
GlobalMaxPool3D = _GlobalMaxPool3D
MaxPool1D = _MaxPool1D
MaxPool2D = _MaxPool2D
MaxPool3D = _MaxPool3D
SeparableConvolution1D = _SeparableConvolution1D
SeparableConvolution2D = _SeparableConvolution2D
