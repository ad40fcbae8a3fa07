"""Examples of tf.keras.layers."""

import tideflow as tf

# %% tf.keras.layers.Conv1D, tf.keras.layers.SeparableConv1D, tf.keras.layers.Flatten
layers = [
    tf.keras.layers.Conv1D(2, 3),
    tf.keras.layers.SeparableConv1D(2, 3),
    tf.keras.layers.Flatten(),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.MaxPooling1D, tf.keras.layers.AveragePooling1D
layers = [
    tf.keras.layers.MaxPooling1D(2),
    tf.keras.layers.AveragePooling1D(2),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.GlobalAveragePooling1D, tf.keras.layers.GlobalMaxPooling1D
layers = [
    tf.keras.layers.GlobalAveragePooling1D(),
    tf.keras.layers.GlobalMaxPooling1D(),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.SimpleRNN, tf.keras.layers.LSTM, tf.keras.layers.GRU, tf.keras.layers.Masking
layers = [
    tf.keras.layers.SimpleRNN(2),
    tf.keras.layers.LSTM(2),
    tf.keras.layers.GRU(2),
    tf.keras.layers.Masking(0.0),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.SpatialDropout1D, tf.keras.layers.Permute, tf.keras.layers.ZeroPadding1D
layers = [
    tf.keras.layers.SpatialDropout1D(0.5),
    tf.keras.layers.Permute((2, 1)),
    tf.keras.layers.ZeroPadding1D(1),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.Cropping1D, tf.keras.layers.UpSampling1D
layers = [
    tf.keras.layers.Cropping1D(1),
    tf.keras.layers.UpSampling1D(2),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.Conv2D, tf.keras.layers.Conv2DTranspose, tf.keras.layers.SeparableConv2D
layers = [
    tf.keras.layers.Conv2D(2, 3),
    tf.keras.layers.Conv2DTranspose(2, 3),
    tf.keras.layers.SeparableConv2D(2, 3),
]
x = tf.keras.Input((6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.DepthwiseConv2D, tf.keras.layers.MaxPooling2D, tf.keras.layers.AveragePooling2D
layers = [
    tf.keras.layers.DepthwiseConv2D(3),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.AveragePooling2D(),
]
x = tf.keras.Input((6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.GlobalMaxPooling2D, tf.keras.layers.GlobalAveragePooling2D
layers = [
    tf.keras.layers.GlobalMaxPooling2D(),
    tf.keras.layers.GlobalAveragePooling2D(),
]
x = tf.keras.Input((6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.SpatialDropout2D, tf.keras.layers.ZeroPadding2D, tf.keras.layers.Cropping2D
layers = [
    tf.keras.layers.SpatialDropout2D(0.5),
    tf.keras.layers.ZeroPadding2D(),
    tf.keras.layers.Cropping2D(1),
]
x = tf.keras.Input((6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.UpSampling2D
layers = [
    tf.keras.layers.UpSampling2D(),
]
x = tf.keras.Input((6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.Conv3D, tf.keras.layers.Conv3DTranspose, tf.keras.layers.MaxPooling3D
layers = [
    tf.keras.layers.Conv3D(2, 3),
    tf.keras.layers.Conv3DTranspose(2, 3),
    tf.keras.layers.MaxPooling3D(),
]
x = tf.keras.Input((6, 6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.AveragePooling3D, tf.keras.layers.GlobalMaxPooling3D
layers = [
    tf.keras.layers.AveragePooling3D(),
    tf.keras.layers.GlobalMaxPooling3D(),
]
x = tf.keras.Input((6, 6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.GlobalAveragePooling3D, tf.keras.layers.SpatialDropout3D
layers = [
    tf.keras.layers.GlobalAveragePooling3D(),
    tf.keras.layers.SpatialDropout3D(0.5),
]
x = tf.keras.Input((6, 6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.ZeroPadding3D, tf.keras.layers.Cropping3D, tf.keras.layers.UpSampling3D
layers = [
    tf.keras.layers.ZeroPadding3D(),
    tf.keras.layers.Cropping3D(),
    tf.keras.layers.UpSampling3D(),
]
x = tf.keras.Input((6, 6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.Dense, tf.keras.layers.Dropout, tf.keras.layers.BatchNormalization
layers = [
    tf.keras.layers.Dense(2),
    tf.keras.layers.Dropout(0.5),
    tf.keras.layers.BatchNormalization(),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.LeakyReLU, tf.keras.layers.PReLU, tf.keras.layers.ELU
layers = [
    tf.keras.layers.LeakyReLU(0.1),
    tf.keras.layers.PReLU(),
    tf.keras.layers.ELU(),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.ThresholdedReLU, tf.keras.layers.Softmax, tf.keras.layers.ReLU
layers = [
    tf.keras.layers.ThresholdedReLU(0.5),
    tf.keras.layers.Softmax(),
    tf.keras.layers.ReLU(6.0),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.GaussianNoise, tf.keras.layers.GaussianDropout, tf.keras.layers.AlphaDropout
layers = [
    tf.keras.layers.GaussianNoise(0.1),
    tf.keras.layers.GaussianDropout(0.5),
    tf.keras.layers.AlphaDropout(0.5),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.LayerNormalization, tf.keras.layers.Activation, tf.keras.layers.Reshape
layers = [
    tf.keras.layers.LayerNormalization(),
    tf.keras.layers.Activation("relu"),
    tf.keras.layers.Reshape((3, 1)),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.RepeatVector, tf.keras.layers.ActivityRegularization, tf.keras.layers.Lambda
layers = [
    tf.keras.layers.RepeatVector(2),
    tf.keras.layers.ActivityRegularization(0.1),
    tf.keras.layers.Lambda(tf.square),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.Attention, tf.keras.layers.AdditiveAttention, tf.keras.layers.Add
a, b = tf.keras.Input((2, 3)), tf.keras.Input((2, 3))
layers = [
    tf.keras.layers.Attention(),
    tf.keras.layers.AdditiveAttention(),
    tf.keras.layers.Add(),
]
for layer in layers:
    print(layer.name, layer([a, b]).shape)

# %% tf.keras.layers.Subtract, tf.keras.layers.Multiply, tf.keras.layers.Average
a, b = tf.keras.Input((2, 3)), tf.keras.Input((2, 3))
layers = [
    tf.keras.layers.Subtract(),
    tf.keras.layers.Multiply(),
    tf.keras.layers.Average(),
]
for layer in layers:
    print(layer.name, layer([a, b]).shape)

# %% tf.keras.layers.Maximum, tf.keras.layers.Minimum, tf.keras.layers.Concatenate
a, b = tf.keras.Input((2, 3)), tf.keras.Input((2, 3))
layers = [
    tf.keras.layers.Maximum(),
    tf.keras.layers.Minimum(),
    tf.keras.layers.Concatenate(),
]
for layer in layers:
    print(layer.name, layer([a, b]).shape)

# %% tf.keras.layers.add, tf.keras.layers.subtract, tf.keras.layers.multiply, tf.keras.layers.average
a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
print(tf.keras.layers.add([a, b]).shape)
print(tf.keras.layers.subtract([a, b]).shape)
print(tf.keras.layers.multiply([a, b]).shape)
print(tf.keras.layers.average([a, b]).shape)

# %% tf.keras.layers.maximum, tf.keras.layers.minimum, tf.keras.layers.concatenate
a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
print(tf.keras.layers.maximum([a, b]).shape)
print(tf.keras.layers.minimum([a, b]).shape)
print(tf.keras.layers.concatenate([a, b]).shape)


# %% tf.keras.layers.Layer
class Scale(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.factor = self.add_weight("factor", shape=[input_shape[-1]], initializer="ones")

    def call(self, inputs):
        return inputs * self.factor


layer = Scale()
layer(tf.keras.Input((3,)))
print([weight.name for weight in layer.weights])

# %% tf.keras.layers.InputLayer
print(tf.keras.layers.InputLayer((3,)).output.shape)

# %% tf.keras.layers.serialize
config = tf.keras.layers.serialize(tf.keras.layers.Dense(2, name="d"))
print(config["class_name"], config["config"]["units"])

# %% tf.keras.layers.deserialize
config = tf.keras.layers.serialize(tf.keras.layers.Dense(2, name="d"))
print(tf.keras.layers.deserialize(config).units)

# %% tf.keras.layers.Embedding
words = tf.keras.Input((5,), dtype="int32")
print(tf.keras.layers.Embedding(100, 8, mask_zero=True)(words).shape)


# %% tf.keras.layers.AbstractRNNCell
class Sum(tf.keras.layers.AbstractRNNCell):
    state_size = output_size = 3

    def call(self, inputs, states):
        total = inputs + states[0]
        return total, [total]


print(tf.keras.layers.RNN(Sum())(tf.keras.Input((5, 3))).shape)

# %% tf.keras.layers.StackedRNNCells
cells = tf.keras.layers.StackedRNNCells([tf.keras.layers.LSTMCell(4), tf.keras.layers.LSTMCell(2)])
print(tf.keras.layers.RNN(cells)(tf.keras.Input((5, 3))).shape)

# %% tf.keras.layers.RNN
x = tf.keras.Input((5, 3))
print(tf.keras.layers.RNN(tf.keras.layers.GRUCell(4), return_sequences=True)(x).shape)

# %% tf.keras.layers.SimpleRNNCell
print(tf.keras.layers.SimpleRNNCell(4).state_size)

# %% tf.keras.layers.LSTMCell
print(tf.keras.layers.LSTMCell(4).state_size)

# %% tf.keras.layers.GRUCell
print(tf.keras.layers.GRUCell(4).state_size)

# %% tf.keras.layers.Dot
a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
print(tf.keras.layers.Dot(axes=1)([a, b]).shape)

# %% tf.keras.layers.dot
a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
print(tf.keras.layers.dot([a, b], axes=1).shape)

# %% tf.keras.layers.Wrapper
wrapper = tf.keras.layers.Wrapper(tf.keras.layers.Dense(2))
print(wrapper.layer.units)

# %% tf.keras.layers.TimeDistributed
x = tf.keras.Input((5, 3))
print(tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2))(x).shape)

# %% tf.keras.layers.Bidirectional
x = tf.keras.Input((5, 3))
print(tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4))(x).shape)
