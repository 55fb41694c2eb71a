"""Tuning a real program while the load changes: `equipoise tune`, Optuna's TPE, random search and the default.

    python benchmarks/tuning.py [SECONDS] [SEEDS]

The program is a blocked product of two matrices in C, about 50 ms; five settings: three block sizes, the order of the
loops, whether a block is copied first. Each method has the same time. A neighbor on the same core comes and goes. TPE
and random search keep the setting whose single run was fastest, as their users do. Then the settings found, and the
default, are measured in interleaved rounds, which none of the methods has seen.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import optuna
from compare import load

import equipoise as eq
from equipoise.programs import Contest, Question
from equipoise.programs.commands.processes import Programs, RunOptions
from equipoise.programs.commands.tuning import Template, parsed

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 384
static double A[N][N], B[N][N], C[N][N], P[N * N];
#define LOOP(v, start, step) for (int v = start; v < (start + step < N ? start + step : N); v++)
int main(int argc, char **argv) {
    int bi = atoi(argv[1]), bj = atoi(argv[2]), bk = atoi(argv[3]), copy = !strcmp(argv[5], "yes");
    const char *order = argv[4];
    for (int i = 0; i < N * N; i++) { ((double *)A)[i] = i % 7; ((double *)B)[i] = i % 5; }
    for (int ii = 0; ii < N; ii += bi) for (int kk = 0; kk < N; kk += bk) for (int jj = 0; jj < N; jj += bj) {
        double *block = &B[kk][jj];
        int width = N;
        if (copy) {
            width = bj; block = P;
            LOOP(k, kk, bk) LOOP(j, jj, bj) P[(k - kk) * bj + j - jj] = B[k][j];
        }
#define STEP C[i][j] += A[i][k] * block[(k - kk) * width + j - jj]
        if (!strcmp(order, "ijk")) { LOOP(i, ii, bi) LOOP(j, jj, bj) LOOP(k, kk, bk) STEP; }
        else if (!strcmp(order, "ikj")) { LOOP(i, ii, bi) LOOP(k, kk, bk) LOOP(j, jj, bj) STEP; }
        else if (!strcmp(order, "kij")) { LOOP(k, kk, bk) LOOP(i, ii, bi) LOOP(j, jj, bj) STEP; }
        else { LOOP(j, jj, bj) LOOP(k, kk, bk) LOOP(i, ii, bi) STEP; }
    }
    double sum = 0;
    for (int i = 0; i < N * N; i++) sum += ((double *)C)[i];
    printf("%g\n", sum);
}
"""
PLACES = "{bi=4..384:log} {bj=4..384:log} {bk=4..384:log} {order=ijk|ikj|kij|jki} {copy=no|yes}"
DEFAULT = {"bi": 64, "bj": 64, "bk": 64, "order": "ijk", "copy": "no"}
ROUNDS = 40


def ours(template: Template, programs: Programs, seconds: float, seed: int) -> dict[str, Any]:
    opt = eq.Optimizer(template.space, minimize=True, rng=seed)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        trial = opt.ask()
        opt.tell(trial, math.log(programs.run("a", template.command(trial.x)).wall))
    return dict(opt.recommend().x)


def by_optuna(sampler: Any, template: Template, programs: Programs, seconds: float) -> dict[str, Any]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=sampler)

    def objective(trial: Any) -> float:
        x = {name: suggested(trial, name, parameter) for name, parameter in template.parameters.items()}
        return math.log(programs.run("a", template.command(x)).wall)

    study.optimize(objective, timeout=seconds)
    return dict(study.best_params)


def suggested(trial: Any, name: str, parameter: Any) -> Any:
    if isinstance(parameter, eq.Choice):
        return trial.suggest_categorical(name, list(parameter.options))
    return trial.suggest_int(name, parameter.low, parameter.high, log=parameter.log)


def main() -> None:
    seconds, seeds = (float(sys.argv[1]) if len(sys.argv) > 1 else 60.0), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder, Programs(RunOptions(shell=())) as programs:
        source, program = Path(folder) / "product.c", Path(folder) / "product"
        source.write_text(PROGRAM)
        subprocess.run(["gcc", "-O2", "-o", str(program), str(source)], check=True)
        template = parsed(f"{program} {PLACES}")
        for seed in range(seeds):
            found: dict[str, dict[str, Any]] = {"default": DEFAULT}
            with load("burst", seconds):
                found["equipoise"] = ours(template, programs, seconds, seed)
            for name, sampler in (
                ("TPE", optuna.samplers.TPESampler(seed=seed)),
                ("random", optuna.samplers.RandomSampler(seed=seed)),
            ):
                with load("burst", seconds):
                    found[name] = by_optuna(sampler, template, programs, seconds)
            report(seed, found, template, programs)


def report(seed: int, found: dict[str, dict[str, Any]], template: Template, programs: Programs) -> None:
    """Measure what was found in rounds of random order, and print a row for each."""
    contest = Contest(Question(tuple(found), fail_above=1e9), rng=seed)  # no limit: nobody is dropped
    for _ in range(ROUNDS):
        for turn in contest.ask_round():
            contest.tell(turn, programs.run(turn.arm, template.command(found[turn.arm])).wall)
    verdict = contest.verdict()
    for each in verdict.against_first:
        ratio = each.ratio
        text = f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"
        print(f"seed {seed}: {each.second} takes {text} of the default: {found[each.second]}", flush=True)


if __name__ == "__main__":
    main()
