"""What a step costs more when its operations are on two logical devices of one process."""

from benchmarks.works import Step

title = "step over two logical devices of one process"
steps = 1000
baseline = "over one"
reach = {"tensorflow": 1.0}


def tf1(tf):
    sess = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
    x = tf.placeholder(tf.float32, [])

    def over(devices):
        value = x
        for i in range(10):
            with tf.device(f"/cpu:{i % devices}"):
                value = value + 1.0
        return value

    two, one = over(2), over(1)
    return Step(lambda: sess.run(two, {x: 1.0}), baseline=lambda: sess.run(one, {x: 1.0}))
