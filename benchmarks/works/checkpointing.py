"""A model of a given size, whose checkpoints the works about files write and read."""

import atexit
import os
import shutil
import tempfile

import numpy as np

MB = 1 << 20


class Model:
    """Variables of random numbers in a session, with a saver and a folder of their own."""

    def __init__(self, tf, megabytes, variables):
        self.folder = tempfile.mkdtemp(prefix="checkpoints")
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        shape = [megabytes * MB // 4 // variables]
        initializer = tf.random_uniform_initializer(seed=1)
        self.variables = [
            tf.get_variable(f"v{i}", shape=shape, initializer=initializer) for i in range(variables)
        ]
        self.saver = tf.train.Saver(self.variables, max_to_keep=1)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def save(self):
        """Writes a checkpoint, over the last; its prefix."""
        return self.saver.save(self.sess, os.path.join(self.folder, "m"), write_meta_graph=False)

    def data_file(self):
        """The file of the checkpoint's values."""
        (name,) = (name for name in os.listdir(self.folder) if name.startswith("m.data"))
        return os.path.join(self.folder, name)

    def copy(self):
        """What the system needs to copy the same bytes."""
        shutil.copyfile(self.data_file(), os.path.join(self.folder, "copy"))

    def settle(self):
        """Waits until what was written before is on the disk: else the next to write waits for it."""
        os.sync()
        return ()

    def megabytes_on_disk(self):
        return os.path.getsize(self.data_file()) / MB

    def mean(self):
        """The mean of the last variable's values: as large in every engine."""
        return round(float(np.mean(self.sess.run(self.variables[-1]))), 2)
