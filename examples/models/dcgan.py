"""DCGAN: a generator makes images from noise by transposed convolutions; a discriminator, a convolutional
network, tells them from real ones. Each learns from the other.
"""

import tideflow as tf

IMAGE_SIZE = 64
NOISE = 100
CHANNELS = 128  # of the first layer of the discriminator, and of the last but one of the generator


def generated(noise, size, channels=CHANNELS, is_training=True):
    """Images [batch, size, size, 3], between -1 and 1."""

    def normalized(x):
        return tf.nn.relu(tf.layers.batch_normalization(x, training=is_training, fused=True))

    with tf.variable_scope("generator", reuse=tf.AUTO_REUSE):
        depth = size // 8 * channels  # 4x4 places at first; each layer doubles the side and halves the depth
        x = tf.layers.dense(noise, 4 * 4 * depth, use_bias=False)
        x = normalized(tf.reshape(x, [-1, 4, 4, depth]))
        while depth > channels:
            depth //= 2
            x = normalized(tf.layers.conv2d_transpose(x, depth, 5, strides=2, padding="same", use_bias=False))
        return tf.tanh(tf.layers.conv2d_transpose(x, 3, 5, strides=2, padding="same"))


def scores(images, channels=CHANNELS, is_training=True):
    """How real the discriminator takes images to be, as logits."""
    with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
        x = tf.nn.leaky_relu(tf.layers.conv2d(images, channels, 5, strides=2, padding="same"))
        while x.shape[1] > 4:
            channels *= 2
            x = tf.layers.conv2d(x, channels, 5, strides=2, padding="same", use_bias=False)
            x = tf.nn.leaky_relu(tf.layers.batch_normalization(x, training=is_training, fused=True))
        return tf.layers.dense(tf.layers.flatten(x), 1)


def training_step(images, channels=CHANNELS, learning_rate=2e-4):
    """The losses of generator and discriminator together, and the operation that trains both."""
    batch, size = images.shape[0].value, images.shape[1].value
    made = generated(tf.random_normal([batch, NOISE]), size, channels)
    of_real, of_made = scores(images, channels), scores(made, channels)
    cross_entropy = tf.losses.sigmoid_cross_entropy
    discriminator_loss = cross_entropy(tf.ones_like(of_real), of_real)
    discriminator_loss += cross_entropy(tf.zeros_like(of_made), of_made)
    generator_loss = cross_entropy(tf.ones_like(of_made), of_made)
    optimizer, updates = tf.train.AdamOptimizer(learning_rate, beta1=0.5), []
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        for scope, loss in (("discriminator", discriminator_loss), ("generator", generator_loss)):
            updates.append(optimizer.minimize(loss, var_list=tf.trainable_variables(scope)))
    return discriminator_loss + generator_loss, tf.group(*updates)
