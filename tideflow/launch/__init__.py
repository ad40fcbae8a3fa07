"""Starting the tasks of a cluster: on this machine, on Ray, or by manifests for Kubernetes and Slurm."""
