"""A job of a moment: as soon as its servers listen, the first one is used once, the others never."""

import json
import os
import socket
import sys
import time

import tensorflow as tf

place = json.loads(os.environ["TF_CONFIG"])
job, index = place["task"]["type"], place["task"]["index"]
server = tf.train.Server(place["cluster"], job_name=job, task_index=index)
if job == "ps":
    server.join()
    sys.exit(0)

for address in place["cluster"]["ps"]:
    host, _, port = address.rpartition(":")
    while True:
        try:
            socket.create_connection((host, int(port))).close()
            break
        except ConnectionRefusedError:
            time.sleep(0.05)

with tf.device("/job:ps/task:0"):
    one = tf.constant(1)
with tf.Session(server.target) as session:
    print("got", session.run(one))
