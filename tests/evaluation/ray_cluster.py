"""A Ray cluster of two nodes on this machine: prints its address, then follows commands.

Run as a script. A line on standard input kills the second node; the end of it ends the cluster.
"""

from __future__ import annotations

import sys
from typing import Any

from ray.cluster_utils import Cluster

SMALL = {"object_store_memory": 80_000_000}

if __name__ == "__main__":
    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **SMALL})
    second = cluster.add_node(num_cpus=1, **SMALL)
    print(cluster.address, flush=True)
    for _ in sys.stdin:
        cluster.remove_node(second, allow_graceful=False)
        print("killed", flush=True)
    cluster.shutdown()
