"""A dense layer learns y = 1 - x from four points, and prints the loss of every tenth step."""

import tideflow as tf


def main():
    x = tf.constant([[1], [2], [3], [4]], dtype=tf.float32)
    y_true = tf.constant([[0], [-1], [-2], [-3]], dtype=tf.float32)

    linear_model = tf.layers.Dense(units=1)
    y_pred = linear_model(x)
    loss = tf.losses.mean_squared_error(labels=y_true, predictions=y_pred)

    optimizer = tf.train.GradientDescentOptimizer(0.05)
    train = optimizer.minimize(loss)
    init = tf.global_variables_initializer()

    with tf.Session() as sess:
        sess.run(init)
        for step in range(1000):
            _, loss_value = sess.run((train, loss))
            if step % 10 == 0:
                print(loss_value)
        print("for 1, 2, 3, 4 it answers", sess.run(y_pred).ravel().round(3))


if __name__ == "__main__":
    main()
