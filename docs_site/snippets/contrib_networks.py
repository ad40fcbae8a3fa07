"""Examples of contrib's networks, fused convolutions, contexts of profiles, and heads of distributions."""

import tideflow as tf


# %% tf.contrib.eager.Network
class Two(tf.contrib.eager.Network):
    def __init__(self):
        super().__init__()
        self.first = self.track_layer(tf.layers.Dense(3))
        self.second = self.track_layer(tf.layers.Dense(1))

    def call(self, x):
        return self.second(self.first(x))


net = Two()
net(tf.ones([2, 4]))
print([variable.name for variable in net.variables])

# %% tf.contrib.eager.Sequential, tf.contrib.eager.save_network_checkpoint,
# %% tf.contrib.eager.restore_network_checkpoint
x = tf.ones([1, 3])
net = tf.contrib.eager.Sequential([tf.layers.Dense(2), tf.nn.relu], name="net")
twin = tf.contrib.eager.Sequential([tf.layers.Dense(2), tf.nn.relu], name="twin")
y = net(x)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = tf.contrib.eager.save_network_checkpoint(net, "model")
    tf.contrib.eager.restore_network_checkpoint(twin, path)
    a, b = sess.run([y, twin(x)])  # the twin's variables are made with the checkpoint's values
print((a == b).all())

# %% tf.contrib.eager.restore_variables_on_create
tf.enable_eager_execution()
path = tf.contrib.eager.Saver([tf.contrib.eager.Variable(2.0, name="v")]).save("model")
with tf.contrib.eager.restore_variables_on_create(path):
    print(tf.contrib.eager.Variable(0.0, name="v").numpy())

# %% tf.contrib.fused_conv.fused_conv2d_bias_activation
images, filters, biases = tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 2, 3]), tf.zeros([3])
y = tf.contrib.fused_conv.fused_conv2d_bias_activation(images, filters, biases, padding="VALID")
with tf.Session() as sess:
    print(sess.run(y)[0, 0, 0])

# %% tf.contrib.tfprof.ProfileContext
x = tf.matmul(tf.ones([4, 3]), tf.ones([3, 2]))
options = {**tf.profiler.ProfileOptionBuilder.time_and_memory(), "output": "none"}
with tf.contrib.tfprof.ProfileContext("profiles", trace_steps=[1], dump_steps=[1]) as profiles:
    profiles.add_auto_profiling("op", options, [1])
    with tf.Session() as sess:
        for _ in range(3):
            sess.run(x)
    print(sorted(profiles.get_profiles("op")))

# %% tf.contrib.distributions.estimator_head_distribution_regression
ds = tf.contrib.distributions
head = ds.estimator_head_distribution_regression(
    lambda logits: ds.Normal(logits[..., 0], tf.nn.softplus(logits[..., 1])), logits_dimension=2
)
made = head.create_model_fn_ops({}, tf.contrib.learn.ModeKeys.INFER, logits=tf.constant([[1.5, 0.0]]))
with tf.Session() as sess:
    print(sess.run(made.predictions))
