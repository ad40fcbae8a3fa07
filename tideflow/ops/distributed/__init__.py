"""Values between devices and tasks: Send and Recv, collectives, variants on the wire."""
