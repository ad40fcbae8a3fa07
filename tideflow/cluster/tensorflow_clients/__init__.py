"""TensorFlow's own clients as clients of a server: its session protocol, `tensorflow.MasterService`."""
