"""Language models as solvers: a direct lane for throughput, and Inspect for everything else."""
