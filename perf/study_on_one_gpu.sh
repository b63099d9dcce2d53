#!/usr/bin/env bash
# Train the study's units in several processes on one GPU: small networks leave most of it idle.
# Usage: study_on_one_gpu.sh OUT SECONDS, from the root of the repository; repeat it to resume.
# Needs jax for the GPU, equinox, optax and tyro, and src in PYTHONPATH where Trivium is not installed.
# Writes no tables: --report-only does that later.
set -uo pipefail
out=$1 seconds=$2
mkdir -p "$out/logs"
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
study() { # a name for the log, and the units in their order
  python3 -m studies.blicket_learners --out "$out" --seconds "$seconds" --match "$2" \
    >>"$out/logs/$1" 2>&1 &
}
JAX_PLATFORMS=cpu study q 'q_*'
study ppo 'paper_ppo-lstm_256_quiz,paper_ppo-lstm_512_quiz,paper_ppo-mlp_*'
study ppo-norm 'paper_ppo-lnlstm_256_quiz,paper_ppo-lnlstm_512_quiz'
study a2c 'paper_a2c-*_256_quiz'
study a2c-more 'paper_a2c-*_tasks,paper_a2c-*_512_quiz'
study tasks 'paper_ppo-*_tasks'
study type 'paper_*_type,decision-transformer_paper_*,cloning_paper_*,transfer_ppo-transformer*'
study random 'decision-transformer_random*,cloning_random*'
study large 'large_*,transfer_ppo-lstm*'
wait
echo quit | nvidia-cuda-mps-control >>"$out/logs/mps" 2>&1
tail -qn 3 "$out"/logs/*
tar -czf "$out.tgz" -C "$out" data logs
ls -l "$out.tgz"
