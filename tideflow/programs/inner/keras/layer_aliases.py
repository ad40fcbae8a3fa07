"""Layers under the further names that TensorFlow's modules of layers have for them."""

from tideflow.layers import convolutional, core, normalization, pooling

Convolution1D, convolution1d = convolutional.Conv1D, convolutional.conv1d
Convolution2D, convolution2d = convolutional.Conv2D, convolutional.conv2d
Convolution3D, convolution3d = convolutional.Conv3D, convolutional.conv3d
SeparableConvolution2D = convolutional.SeparableConv2D
separable_convolution2d = convolutional.separable_conv2d
Convolution2DTranspose = Deconvolution2D = Deconv2D = convolutional.Conv2DTranspose
Convolution3DTranspose = Deconvolution3D = Deconv3D = convolutional.Conv3DTranspose
convolution2d_transpose = deconvolution2d = deconv2d = convolutional.conv2d_transpose
convolution3d_transpose = deconvolution3d = deconv3d = convolutional.conv3d_transpose
FullyConnected, fully_connected = core.Dense, core.dense
BatchNorm, batch_norm = normalization.BatchNormalization, normalization.batch_normalization
AvgPool2D, avg_pool2d = pooling.AveragePooling2D, pooling.average_pooling2d
MaxPool2D, max_pool2d = pooling.MaxPooling2D, pooling.max_pooling2d
