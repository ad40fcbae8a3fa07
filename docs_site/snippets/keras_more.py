"""Examples of tf.keras: layers of columns, ready models, wrappers, estimators, SavedModels."""

import os

import numpy as np

import tideflow as tf

# %% tf.keras.layers.ConvLSTM2D
print(tf.keras.layers.ConvLSTM2D(2, 3, padding="same")(tf.keras.Input((4, 5, 5, 1))).shape)

# %% tf.keras.layers.LocallyConnected1D, tf.keras.layers.LocallyConnected2D
print(tf.keras.layers.LocallyConnected1D(2, 3)(tf.keras.Input((6, 1))).shape)
print(tf.keras.layers.LocallyConnected2D(2, 3, implementation=2)(tf.keras.Input((6, 6, 1))).shape)

# %% tf.keras.layers.CuDNNLSTM, tf.keras.layers.CuDNNGRU
for layer in (tf.keras.layers.CuDNNLSTM(2), tf.keras.layers.CuDNNGRU(2, return_sequences=True)):
    print(layer(tf.keras.Input((4, 3))).shape)

# %% tf.keras.layers.DenseFeatures
column = tf.feature_column.numeric_column("price")
print(tf.keras.layers.DenseFeatures([column])({"price": tf.constant([[1.0], [2.0]])}).shape)

# %% tf.keras.experimental.SequenceFeatures
column = tf.feature_column.sequence_numeric_column("price")
prices = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
values, lengths = tf.keras.experimental.SequenceFeatures([column])({"price": prices})
with tf.Session() as session:
    print(session.run(lengths))

# %% tf.keras.experimental.LinearModel, tf.keras.experimental.WideDeepModel
wide = tf.keras.experimental.LinearModel()
deep = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])
model = tf.keras.experimental.WideDeepModel(wide, deep)
model.compile(["sgd", "adam"], "mse")
print(model.fit([np.ones((4, 3)), np.ones((4, 2))], np.ones((4, 1)), verbose=0).epoch)

# %% tf.keras.experimental.terminate_keras_multiprocessing_pools
print(tf.keras.experimental.terminate_keras_multiprocessing_pools())


# %% tf.keras.wrappers.scikit_learn.KerasClassifier, tf.keras.wrappers.scikit_learn.KerasRegressor
def build(loss="categorical_crossentropy", outputs=2):
    model = tf.keras.Sequential([tf.keras.layers.Dense(outputs, input_shape=(2,))])
    model.compile("sgd", loss)
    return model


x = np.eye(2)
classifier = tf.keras.wrappers.scikit_learn.KerasClassifier(build, verbose=0)
classifier.fit(x, ["a", "b"])
regressor = tf.keras.wrappers.scikit_learn.KerasRegressor(build, loss="mse", outputs=1, verbose=0)
regressor.fit(x, np.array([1.0, 2.0]))
print(classifier.predict(x).shape, regressor.predict(x).shape)

# %% tf.keras.utils.convert_all_kernels_in_model
model = tf.keras.Sequential([tf.keras.layers.Conv1D(1, 2, use_bias=False, input_shape=(3, 1))])
model.set_weights([np.array([[[1.0]], [[2.0]]])])
tf.keras.utils.convert_all_kernels_in_model(model)
print(model.get_weights()[0].ravel())

# %% tf.keras.utils.multi_gpu_model
try:
    tf.keras.utils.multi_gpu_model(None, gpus=1)
except ValueError as error:
    print(error)

# %% tf.keras.utils.model_to_dot, tf.keras.utils.plot_model
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
try:
    print(tf.keras.utils.model_to_dot(model).get_type())
    tf.keras.utils.plot_model(model, os.path.abspath("model.png"))
except ImportError as error:
    print(error)

# %% tf.keras.estimator.model_to_estimator
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
model.compile("sgd", "mse")
estimator = tf.keras.estimator.model_to_estimator(model, model_dir="estimator_of_keras")
name = model.input_names[0]
estimator.train(lambda: ({name: tf.ones([4, 2])}, tf.ones([4, 1])), steps=1)
print(estimator.latest_checkpoint().endswith("model.ckpt-1"))

# %% tf.keras.experimental.export_saved_model, tf.keras.experimental.load_from_saved_model
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
path = os.path.abspath("model")
tf.keras.experimental.export_saved_model(model, path)
again = tf.keras.experimental.load_from_saved_model(path)
print(np.array_equal(again.get_weights()[0], model.get_weights()[0]))

# %% tf.keras.mixed_precision.experimental.Policy, tf.keras.mixed_precision.experimental.global_policy
policy = tf.keras.mixed_precision.experimental.Policy("mixed_float16")
print(policy.compute_dtype, policy.variable_dtype)
print(tf.keras.mixed_precision.experimental.global_policy())

# %% tf.keras.mixed_precision.experimental.set_policy
tf.keras.mixed_precision.experimental.set_policy("infer")
print(tf.keras.mixed_precision.experimental.global_policy().name)
