"""What people look at: pages of runs, lineage, statistics, anomalies and evaluations."""
