"""Examples of functions of PyTorch as ops."""

import tideflow as tf

# %% tf.torch_function
softplus = tf.torch_function(lambda x, beta: (beta * x).exp().log1p() / beta, name="ScaledSoftplus")
x = tf.constant([0.0, 1.0])
y = softplus(x, beta=2.0)  # an op of the graph, with torch's gradient
with tf.Session() as sess:
    print(sess.run([y, tf.gradients(y, x)[0]]))
