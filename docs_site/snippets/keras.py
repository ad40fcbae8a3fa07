"""Examples of tf.keras: models, optimizers, callbacks, utilities."""

import numpy as np

import tideflow as tf

# %% tf.keras.Input
x = tf.keras.Input((3,))
y = tf.keras.layers.Dense(2)(x)
print(tf.keras.Model(x, y).count_params())

# %% tf.keras.Sequential
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse", metrics=["mae"])
history = model.fit(x, y, epochs=2, verbose=0)
print(sorted(history.history))

# %% tf.keras.Model
x = tf.keras.Input((3,))
h = tf.keras.layers.Dense(4, activation="relu")(x)
model = tf.keras.Model(x, tf.keras.layers.Dense(1)(h))
model.compile("adam", "mse")
model.fit(np.ones((8, 3)), np.ones(8), verbose=0)
print(model.predict(np.ones((2, 3))).shape)

# %% tf.keras.models.clone_model
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
print([w.name for w in tf.keras.models.clone_model(model).weights])

# %% tf.keras.models.model_from_json
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
print(tf.keras.models.model_from_json(model.to_json()).count_params())

# %% tf.keras.models.model_from_yaml
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
print(tf.keras.models.model_from_yaml(model.to_yaml()).count_params())

# %% tf.keras.models.model_from_config
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
config = {"class_name": "Sequential", "config": model.get_config()}
print(tf.keras.models.model_from_config(config).count_params())

# %% tf.keras.models.save_model
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
try:
    tf.keras.models.save_model(model, "model.h5")
    print(tf.keras.models.load_model("model.h5").count_params())
except ImportError as error:
    print(error)

# %% tf.keras.models.load_model
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
try:
    tf.keras.models.save_model(model, "model.h5")
    print(tf.keras.models.load_model("model.h5").count_params())
except ImportError as error:
    print(error)

# %% tf.keras.utils.HDF5Matrix
try:
    print(tf.keras.utils.HDF5Matrix("rows.h5", "x").shape)
except (ImportError, OSError) as error:
    print(type(error).__name__)

# %% tf.keras.utils.get_file
try:
    tf.keras.utils.get_file("words.txt", "http://example.org/words.txt")
except OSError as error:
    print("nothing is downloaded" in str(error))

# %% tf.keras.utils.get_source_inputs
x = tf.keras.Input((3,))
y = tf.keras.layers.Dense(2)(x)
print(tf.keras.utils.get_source_inputs(y)[0] is x)

# %% tf.keras.optimizers.SGD, tf.keras.optimizers.RMSprop, tf.keras.optimizers.Adagrad
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
for optimizer in [
    tf.keras.optimizers.SGD(0.01),
    tf.keras.optimizers.RMSprop(0.01),
    tf.keras.optimizers.Adagrad(0.01),
]:
    model.compile(optimizer, "mse")
    model.fit(x, y, verbose=0)
    print(optimizer.get_config()["name"])

# %% tf.keras.optimizers.Adadelta, tf.keras.optimizers.Adam, tf.keras.optimizers.Adamax
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
for optimizer in [
    tf.keras.optimizers.Adadelta(0.01),
    tf.keras.optimizers.Adam(0.01),
    tf.keras.optimizers.Adamax(0.01),
]:
    model.compile(optimizer, "mse")
    model.fit(x, y, verbose=0)
    print(optimizer.get_config()["name"])

# %% tf.keras.optimizers.Nadam, tf.keras.optimizers.Ftrl
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
for optimizer in [
    tf.keras.optimizers.Nadam(0.01),
    tf.keras.optimizers.Ftrl(0.01),
]:
    model.compile(optimizer, "mse")
    model.fit(x, y, verbose=0)
    print(optimizer.get_config()["name"])

# %% tf.keras.optimizers.Optimizer
print(isinstance(tf.keras.optimizers.SGD(), tf.keras.optimizers.Optimizer))

# %% tf.keras.optimizers.serialize
print(tf.keras.optimizers.serialize(tf.keras.optimizers.SGD())["class_name"])

# %% tf.keras.optimizers.deserialize
config = tf.keras.optimizers.serialize(tf.keras.optimizers.SGD(0.1))
print(tf.keras.optimizers.deserialize(config).get_config()["learning_rate"])

# %% tf.keras.optimizers.get
print(type(tf.keras.optimizers.get("adam")).__name__)

# %% tf.keras.optimizers.schedules.ExponentialDecay
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.optimizers.schedules.InverseTimeDecay
rate = tf.keras.optimizers.schedules.InverseTimeDecay(0.1, 10, 0.5)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.optimizers.schedules.PolynomialDecay
rate = tf.keras.optimizers.schedules.PolynomialDecay(0.1, 10)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.optimizers.schedules.PiecewiseConstantDecay
rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([5], [0.1, 0.01])
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.experimental.CosineDecay
rate = tf.keras.experimental.CosineDecay(0.1, 10)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.experimental.CosineDecayRestarts
rate = tf.keras.experimental.CosineDecayRestarts(0.1, 10)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.experimental.LinearCosineDecay
rate = tf.keras.experimental.LinearCosineDecay(0.1, 10)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.experimental.NoisyLinearCosineDecay
rate = tf.keras.experimental.NoisyLinearCosineDecay(0.1, 10)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))


# %% tf.keras.optimizers.schedules.LearningRateSchedule
class Halved(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 0.5**step


print(tf.keras.backend.eval(Halved()(tf.constant(2.0))))

# %% tf.keras.optimizers.schedules.serialize
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
print(tf.keras.optimizers.schedules.serialize(rate)["class_name"])

# %% tf.keras.optimizers.schedules.deserialize
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
config = tf.keras.optimizers.schedules.serialize(rate)
print(tf.keras.optimizers.schedules.deserialize(config).decay_steps)

# %% tf.keras.experimental.PeepholeLSTMCell
x = tf.keras.Input((5, 3))
print(tf.keras.layers.RNN(tf.keras.experimental.PeepholeLSTMCell(4))(x).shape)

# %% tf.keras.callbacks.EarlyStopping
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.EarlyStopping("loss")
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.LearningRateScheduler
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1)
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.ReduceLROnPlateau
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.ReduceLROnPlateau("loss")
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.TerminateOnNaN
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.TerminateOnNaN()
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.LambdaCallback
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch))
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.BaseLogger
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.BaseLogger()
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.History
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.History()
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.RemoteMonitor
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.RemoteMonitor("http://localhost:1")
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.CSVLogger
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.CSVLogger("log.csv")
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.TensorBoard
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.TensorBoard("logs")
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.ModelCheckpoint
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.ModelCheckpoint("weights-{epoch}", save_weights_only=True)
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))


# %% tf.keras.callbacks.Callback
class Say(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch, sorted(logs))


model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
model.fit(np.ones((4, 3)), np.ones(4), verbose=0, callbacks=[Say()])

# %% tf.keras.callbacks.ProgbarLogger
print(tf.keras.callbacks.ProgbarLogger("steps").use_steps)

# %% tf.keras.utils.Progbar
bar = tf.keras.utils.Progbar(4)
bar.update(4, [("loss", 0.5)])

# %% tf.keras.utils.to_categorical
print(tf.keras.utils.to_categorical([0, 2], 3))

# %% tf.keras.utils.normalize
print(tf.keras.utils.normalize(np.array([[3.0, 4.0]])))


# %% tf.keras.utils.Sequence
class Batches(tf.keras.utils.Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return np.ones((4, 3)) * index, np.ones(4)


print(len(list(Batches())))


# %% tf.keras.utils.OrderedEnqueuer
class Batches(tf.keras.utils.Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return np.ones((4, 3)) * index, np.ones(4)


queue = tf.keras.utils.OrderedEnqueuer(Batches())
queue.start()
print(next(queue.get())[0].shape)
queue.stop()

# %% tf.keras.utils.GeneratorEnqueuer
queue = tf.keras.utils.GeneratorEnqueuer(iter([1, 2, 3]))
queue.start()
print(list(queue.get()))
queue.stop()

# %% tf.keras.utils.SequenceEnqueuer
print(issubclass(tf.keras.utils.OrderedEnqueuer, tf.keras.utils.SequenceEnqueuer))

# %% tf.keras.utils.get_custom_objects
tf.keras.utils.get_custom_objects()["double"] = lambda x: x * 2.0
print(tf.keras.backend.eval(tf.keras.activations.get("double")(tf.constant(1.0))))

# %% tf.keras.utils.CustomObjectScope
with tf.keras.utils.CustomObjectScope({"double": lambda x: x * 2.0}):
    print(tf.keras.layers.Dense(2, activation="double").units)

# %% tf.keras.utils.custom_object_scope
with tf.keras.utils.custom_object_scope({"double": lambda x: x * 2.0}):
    print(tf.keras.layers.Dense(2, activation="double").units)

# %% tf.keras.utils.serialize_keras_object
print(tf.keras.utils.serialize_keras_object(tf.keras.regularizers.l2(0.5)))

# %% tf.keras.utils.deserialize_keras_object
print(tf.keras.utils.deserialize_keras_object("add", {"add": max}))

# %% tf.keras.constraints.MaxNorm
w = tf.constant([[-3.0], [4.0]])
print(tf.keras.backend.eval(tf.keras.constraints.MaxNorm(1.0)(w)))

# %% tf.keras.constraints.NonNeg
w = tf.constant([[-3.0], [4.0]])
print(tf.keras.backend.eval(tf.keras.constraints.NonNeg()(w)))

# %% tf.keras.constraints.UnitNorm
w = tf.constant([[-3.0], [4.0]])
print(tf.keras.backend.eval(tf.keras.constraints.UnitNorm()(w)))

# %% tf.keras.constraints.MinMaxNorm
w = tf.constant([[-3.0], [4.0]])
print(tf.keras.backend.eval(tf.keras.constraints.MinMaxNorm()(w)))

# %% tf.keras.constraints.RadialConstraint
w = tf.reshape(tf.range(9.0), [3, 3, 1, 1])
print(tf.keras.backend.eval(tf.keras.constraints.RadialConstraint()(w))[:, :, 0, 0])


# %% tf.keras.constraints.Constraint
class Small(tf.keras.constraints.Constraint):
    def __call__(self, w):
        return tf.clip_by_value(w, -0.1, 0.1)


print(tf.keras.backend.eval(Small()(tf.constant([1.0]))))

# %% tf.keras.constraints.serialize
print(tf.keras.constraints.serialize(tf.keras.constraints.MaxNorm(1.0)))

# %% tf.keras.constraints.deserialize
print(tf.keras.constraints.deserialize({"class_name": "MaxNorm", "config": {"axis": 1}}).axis)

# %% tf.keras.constraints.get
print(type(tf.keras.constraints.get("non_neg")).__name__)

# %% tf.keras.activations.softmax
print(tf.keras.backend.eval(tf.keras.activations.softmax(tf.constant([[0.0, 1.0]]))))

# %% tf.keras.activations.selu
print(tf.keras.backend.eval(tf.keras.activations.selu(tf.constant([[0.0, 1.0]]))))

# %% tf.keras.activations.exponential
print(tf.keras.backend.eval(tf.keras.activations.exponential(tf.constant([[0.0, 1.0]]))))

# %% tf.keras.activations.linear
print(tf.keras.backend.eval(tf.keras.activations.linear(tf.constant([[0.0, 1.0]]))))

# %% tf.keras.activations.serialize
print(tf.keras.activations.serialize(tf.keras.activations.relu))

# %% tf.keras.activations.deserialize
print(tf.keras.activations.deserialize("relu").__name__)

# %% tf.keras.activations.get
print(tf.keras.activations.get(None).__name__)

# %% tf.keras.preprocessing.sequence.pad_sequences
print(tf.keras.preprocessing.sequence.pad_sequences([[1], [2, 3]], maxlen=3))

# %% tf.keras.preprocessing.sequence.make_sampling_table
print(tf.keras.preprocessing.sequence.make_sampling_table(3))

# %% tf.keras.preprocessing.sequence.skipgrams
pairs, labels = tf.keras.preprocessing.sequence.skipgrams([1, 2, 3], 4, window_size=1)
print(sum(labels), len(pairs))

# %% tf.keras.preprocessing.sequence.TimeseriesGenerator
series = np.arange(10)
x, y = tf.keras.preprocessing.sequence.TimeseriesGenerator(series, series, 3, batch_size=2)[0]
print(x, y)

# %% tf.keras.preprocessing.text.text_to_word_sequence
print(tf.keras.preprocessing.text.text_to_word_sequence("The tide comes."))

# %% tf.keras.preprocessing.text.hashing_trick
print(tf.keras.preprocessing.text.hashing_trick("the tide", 50, "md5"))

# %% tf.keras.preprocessing.text.one_hot
print(len(tf.keras.preprocessing.text.one_hot("the tide", 50)))

# %% tf.keras.preprocessing.text.Tokenizer
tokens = tf.keras.preprocessing.text.Tokenizer()
tokens.fit_on_texts(["the tide", "the sea"])
print(tokens.texts_to_sequences(["the sea"]))

# %% tf.keras.preprocessing.text.tokenizer_from_json
text = tf.keras.preprocessing.text
tokens = text.Tokenizer()
tokens.fit_on_texts(["the tide"])
print(text.tokenizer_from_json(tokens.to_json()).word_index)

# %% tf.keras.activations.elu, tf.keras.activations.softplus, tf.keras.activations.softsign
x = tf.constant([-1.0, 0.0, 1.0])
for function in (tf.keras.activations.elu, tf.keras.activations.softplus, tf.keras.activations.softsign):
    print(tf.keras.backend.eval(function(x)))

# %% tf.keras.activations.relu, tf.keras.activations.tanh, tf.keras.activations.sigmoid
x = tf.constant([-1.0, 0.0, 1.0])
for function in (tf.keras.activations.relu, tf.keras.activations.tanh, tf.keras.activations.sigmoid):
    print(tf.keras.backend.eval(function(x)))

# %% tf.keras.activations.hard_sigmoid
print(tf.keras.backend.eval(tf.keras.activations.hard_sigmoid(tf.constant([-1.0, 0.0, 1.0]))))
