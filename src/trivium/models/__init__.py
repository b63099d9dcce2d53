"""Language models as solvers: a direct backend for throughput, and Inspect for everything else."""
