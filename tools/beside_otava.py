#!/usr/bin/env python3
"""Change points of the same made-up series, by dbdyno and by Apache Otava.

  python3 -m venv v && v/bin/pip install apache-otava numpy
  cargo build --release -p dbdyno && v/bin/python tools/beside_otava.py target/release/dbdyno 200

For each kind of series and each length: the share of series in which anything is found, and for
those with a step the share in which it is found within 5 of its place, with Wilson's 95 % interval.
dbdyno works at 1 % per series; Otava at its default (p 0.001, window 50) and at p 0.01.
"""

import json
import math
import subprocess
import sys

import numpy as np
from otava.series import AnalysisOptions, Metric, Series

STEP = 1.5
NEAR = 5


def noise(rng, n, phi=0.0):
    own = math.sqrt(1 - phi * phi)
    values = [rng.standard_normal()]
    for _ in range(n - 1):
        values.append(phi * values[-1] + own * rng.standard_normal())
    return np.array(values)


def step(values):
    values[len(values) // 2 :] += STEP
    return values


def spikes(rng, values):
    return values + 10 * (rng.random(len(values)) < 0.02)


KINDS = {
    "independent": lambda rng, n: noise(rng, n),
    "AR(0.3)": lambda rng, n: noise(rng, n, 0.3),
    "AR(0.6)": lambda rng, n: noise(rng, n, 0.6),
    "2 % spikes": lambda rng, n: spikes(rng, noise(rng, n)),
    "log-normal": lambda rng, n: np.exp(noise(rng, n)),
    "two modes": lambda rng, n: noise(rng, n) + 6 * (rng.random(n) < 0.4),
    "step": lambda rng, n: step(noise(rng, n)),
    "step in AR(0.3)": lambda rng, n: step(noise(rng, n, 0.3)),
    "step in AR(0.6)": lambda rng, n: step(noise(rng, n, 0.6)),
    "step among spikes": lambda rng, n: spikes(rng, step(noise(rng, n))),
}


def wilson(count, total):
    z, p = 1.959964, count / total
    centre = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    return f"{100 * p:.1f} ({100 * max(0, centre - half):.1f} … {100 * (centre + half):.1f})"


def of_dbdyno(program, all_series):
    lines = [",".join(f"s{i}" for i in range(len(all_series)))]
    lines += [",".join(f"{value:.9g}" for value in row) for row in zip(*all_series)]
    command = [program, "history", "-", "--budget", "0%", "--better", "higher", "--format", "json"]
    told = subprocess.run(command, input="\n".join(lines), text=True, capture_output=True)
    series = json.loads(told.stdout)["series"]
    return [[shift["first"] for shift in one["shifts"]] for one in series]


def of_otava(values, p):
    options = AnalysisOptions()
    options.max_pvalue = p
    n = len(values)
    series = Series("t", None, list(range(n)), {"m": Metric(1, 1.0)}, {"m": list(values)}, {})
    return [point.index for point in series.analyze(options).change_points["m"]]


def main():
    program, count = sys.argv[1], int(sys.argv[2])
    print("| series | values | dbdyno | Otava | Otava, p 0.01 | dbdyno near | Otava near | p 0.01 |")
    print("|---|---|---|---|---|---|---|---|")
    for number, (kind, make) in enumerate(KINDS.items()):
        for n in [30, 100, 200]:
            rng = np.random.default_rng([2026, number, n])
            all_series = [1000 + 20 * make(rng, n) for _ in range(count)]
            found = [of_dbdyno(program, all_series)]
            found += [[of_otava(values, p) for values in all_series] for p in [0.001, 0.01]]
            any_of = [wilson(sum(map(bool, tool)), count) for tool in found]
            is_near = lambda firsts: any(abs(first - n // 2) <= NEAR for first in firsts)
            near = [wilson(sum(map(is_near, tool)), count) for tool in found]
            near = near if "step" in kind else ["", "", ""]
            print("|", " | ".join([kind, str(n), *any_of, *near]), "|", flush=True)


main()
