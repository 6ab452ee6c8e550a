"""Decisions a second of a vector environment under random actions.

    python -m pacml.bench TASK [--config FILE] [--envs 64] [--decisions 200000] [--repetitions 5]

As `pacml bench simulator` measures them, with everything that Gymnasium's interface adds. Prints a
JSON object.
"""

import argparse
import json
import statistics
import time

from pacml.environments import make_vec


def measure(envs, decisions, repetitions):
    """Decisions a second: [repetitions], after one that is not counted."""
    envs.reset(seed=0)
    steps = max(1, decisions // envs.num_envs)
    rates = []
    for _ in range(repetitions + 1):
        begin = time.perf_counter()
        for _ in range(steps):
            envs.step(envs.sample_actions())
        rates.append(steps * envs.num_envs / (time.perf_counter() - begin))
    return rates[1:]


def main():
    parser = argparse.ArgumentParser(prog="python -m pacml.bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", default="partitioning")
    parser.add_argument("--config")
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--decisions", type=int, default=200_000)
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    figures = {"task": options.task, "envs": options.envs}
    for name, derived, copy in [("decisions_per_second", False, True),
                                ("decisions_per_second_views", False, False),
                                ("decisions_with_candidates_per_second", True, True)]:
        envs = make_vec(options.task, options.config, num_envs=options.envs, copy=copy,
                        derived=derived, autoreset_mode="SameStep")
        if derived and "derived" not in envs.single_observation_space.spaces:
            continue
        rates = measure(envs, options.decisions, options.repetitions)
        figures[name] = round(statistics.median(rates))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
