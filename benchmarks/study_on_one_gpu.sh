#!/usr/bin/env bash
# The study's computing in several processes on one GPU: small networks leave most of it idle.
# Usage: study_on_one_gpu.sh OUT SECONDS; the same command goes on where the last one stopped.
# PYTHONPATH must hold src and a folder with equinox and optax (the GPU machine's own jax is used).
set -uo pipefail
out=$1 seconds=$2
mkdir -p "$out/logs"
echo "benchmarks/study_on_one_gpu.sh OUT $seconds" >"$out/command.txt"
export XLA_PYTHON_CLIENT_PREALLOCATE=false PYTHONUNBUFFERED=1
export JAX_PLATFORMS=cuda # never fall back to the CPU in silence
# With MPS the processes' kernels run side by side; without it they take turns.
if nvidia-cuda-mps-control -d >"$out/logs/mps" 2>&1 &&
  python3 -c "import jax; jax.numpy.ones(2).sum().block_until_ready()" >>"$out/logs/mps" 2>&1; then
  echo "MPS is on"
else
  echo "MPS is off"
  echo quit | nvidia-cuda-mps-control >>"$out/logs/mps" 2>&1
fi
study() {
  local name=$1 parts=$2 words=$3
  python3 -m trivium.agents.study --out "$out" --seconds "$seconds" --only "$parts" \
    --match "$words" >>"$out/logs/$name" 2>&1 &
}
JAX_PLATFORMS=cpu study q qlearning q_
study a2c fig3a,fig3b,fig3c a2c-lstm_256,a2c-lnlstm_256,a2c-mlp,a2c-lstm_512,a2c-lnlstm_512
study ppo fig3a,fig3b,fig3c paper_ppo
study large fig3a,fig3b,fig3c,overhypotheses large,transfer
study type fig3d,table1 _type,decision,cloning
wait
tail -qn 3 "$out"/logs/*
tar -czf "$out.tgz" -C "$out" data logs command.txt
ls -l "$out.tgz"
