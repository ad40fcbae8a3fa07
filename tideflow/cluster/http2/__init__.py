"""gRPC over HTTP/2: the protocol as a machine, and a server of threads around it."""
