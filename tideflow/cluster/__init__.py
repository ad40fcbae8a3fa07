"""Many processes: which tasks a cluster has, and how they run the steps of one graph together."""
