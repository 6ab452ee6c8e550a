#!/usr/bin/env python3
"""Makes the recorded schedules in this folder.

    make_golden.py --oracle DIR

DIR holds an independent implementation of the simulator and its rules, Python files cluster_min.py and
cluster_baselines.py that offer Sim. Small clusters and jobs of our own, drawn from tables made up here, are run through
it; what it computes is written down in the format `cluster-golden-1` (docs/gpu_cluster.md).

Every case exists to pin one thing, named beside it.
"""
import argparse
import json
import math
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent

# Steps a second on one GPU of the fast and the slow type, exponents of scaling in one server and over servers, host
# load, and how much of a neighbour's speed a job leaves it.
TYPES = {"vision": (9.0, 3.5, 0.95, 0.80, 0.9, 0.62), "speech": (4.2, 1.9, 0.90, 0.60, 0.3, 0.71),
         "text": (2.6, 0.8, 0.85, 0.45, 0.1, 0.55), "ads": (31.0, 17.0, 0.70, 0.35, 0.45, 0.83),
         "game": (7.3, 5.1, 0.60, 0.50, 1.0, 0.90)}
GPU_TYPES = ("fast", "slow")


def tables(gpu_types, rng):
    """Speeds that scale with a power of the number of GPUs, and pairs by how much each leaves the other, two of them
    missing."""
    types, pairs = {}, {}
    for name, (fast, slow, together, spread, host, _) in TYPES.items():
        thr = {}
        for gpu_type in gpu_types:
            one = fast if gpu_type == "fast" else slow
            thr[gpu_type] = {str(n): [one * n ** together, one * n ** spread] for n in (1, 2, 3, 4, 6, 8, 12, 16)}
        types[name] = {"thr": thr, "host": host}
    for gpu_type in gpu_types:
        rows = {}
        for a in TYPES:
            rows[a] = {b: round(min(1.0, TYPES[b][5] * rng.uniform(0.8, 1.2)), 6) for b in TYPES}
        del rows["text"]["vision"]
        rows["game"]["game"] = 0.0
        pairs[gpu_type] = rows
    return types, pairs


def draw_jobs(rng, count, sizes, gap, whole=False):
    jobs, t = [], 0.0
    for _ in range(count):
        t += 10.0 * rng.randrange(0, int(gap / 5)) if whole else rng.expovariate(1.0 / gap)
        n = rng.choice(sizes)
        name = rng.choice(sorted(TYPES))
        seconds = rng.choice([60, 120, 600]) if whole else math.exp(rng.uniform(3.5, 7.5))
        jobs.append({"submit": round(t, 3), "type": name, "gpus": n,
                     "steps": max(1, round(seconds * TYPES[name][0] * n ** 0.8)),
                     "user": rng.choice(["ann", "bob", "cyd", "u10", "u9"]), "comm": rng.choice(["ring", "ps"])})
    return jobs


def tree(servers, per_rack, racks_per_pod=0, group=2, groups=1, sockets=2, over=2.0, over_pod=1.0, gpu_types=None):
    return dict(gpus_per_group=group, groups_per_socket=groups, sockets=sockets, servers=servers,
                servers_per_rack=per_rack, racks_per_pod=racks_per_pod, oversub_rack=over, oversub_pod=over_pod,
                gpu_types=gpu_types or [["fast", servers]])


BOTH = [["slow", 2], ["fast", 4], ["slow", 2]]
SMALL = tree(2, 1)
WIDE = tree(8, 2, 2, groups=2, over=1.5, over_pod=2.0)
MIXED = tree(8, 2, 2, gpu_types=BOTH, over_pod=3.0)
ODD = tree(7, 3, 2, group=3, sockets=1, over=4.0)  # the last rack and the last pod are not full
TORUS = dict(dims=[3, 4], gpus_per_group=2, groups_per_socket=1, sockets=1, gpu_types=[["fast", 12]])

# name, what it pins, topology, policy, more of the config, jobs, sizes, mean gap in seconds
CASES = [
    ("c01_strict", "the head of the line blocks", WIDE, dict(order="fifo", place="first_fit"), {}, 40, (1, 2, 4, 8), 40),
    ("c02_window", "the first five of the line are tried", MIXED,
     dict(order="fifo", place="best_fit", strict=False, window=5), {}, 40, (1, 2, 3, 4, 6), 25),
    ("c03_share", "two jobs on a GPU where nothing else is left", SMALL,
     dict(order="fifo", place="first_fit", strict=False, share="fallback"), {}, 30, (1, 2, 4), 60),
    ("c04_share_best", "the partner with the best joint speed, of those with enough gain", MIXED,
     dict(order="srtf", place="best_fit", strict=False, spread=False, share="fallback", gain=1.3), {}, 40, (1, 2, 4), 12),
    ("c05_least_loaded", "the emptiest server", WIDE,
     dict(order="fifo", place="least_loaded", strict=False, spread=False), {}, 40, (1, 2, 3, 4, 8), 20),
    ("c06_tetris", "alignment and shortness", WIDE, dict(order="tetris", place="tetris", window=8, eps=0.7), {}, 40,
     (1, 2, 3, 4, 8), 20),
    ("c07_tetris_strict_share", "alignment where jobs share", SMALL,
     dict(order="tetris", place="tetris", share="always"), {}, 30, (1, 2, 3), 40),
    ("c08_drf", "users by GPUs that they hold, also over several types", MIXED, dict(order="drf", place="best_fit"), {},
     50, (1, 2, 3, 4), 15),
    ("c09_srsf", "shortest remaining service", ODD, dict(order="srsf", place="best_fit", strict=False), {}, 40,
     (1, 2, 3, 4, 6, 12), 60),
    ("c10_interference", "the least sum of slow-downs, over links as well", WIDE,
     dict(order="srtf", place="least_interference", strict=False, share="always", always_spread=1, window=6), {}, 40,
     (1, 2, 3, 4, 8), 15),
    ("c11_delay", "the same in seconds", MIXED,
     dict(order="fifo", place="least_delay", strict=False, share="always", always_spread=1), {}, 40, (1, 2, 4, 6), 15),
    ("c12_patience", "a job waits rather than cost too much", SMALL,
     dict(order="fifo", place="least_interference", strict=False, share="fallback", max_cost=0.4), {}, 30, (1, 2), 40),
    ("c13_random", "candidates are drawn", ODD,
     dict(order="fifo", place="random", strict=False, share="fallback", window=4, seed=2 ** 63 + 11), {}, 40,
     (1, 2, 3, 4, 6), 30),
    ("c14_preempt", "jobs give their GPUs back, and pay for the restart", SMALL,
     dict(order="srtf", place="best_fit", preempt=1, share="fallback"), dict(restart_cost=20), 40, (1, 2, 4, 8), 60),
    ("c15_preempt_rounds", "the same at the end of rounds, over partitions", MIXED,
     dict(order="srsf", place="first_fit", preempt=1), dict(restart_cost=45, round=30, partitions=2), 40, (1, 2, 4, 8),
     40),
    ("c16_rounds", "decisions at multiples of a minute", WIDE,
     dict(order="srtf", place="least_interference", strict=False, share="fallback", gain=1.2, spread=False),
     dict(round=60), 40, (1, 2, 4), 20),
    ("c17_agents_home", "agents wait, forward and place", WIDE, dict(order="agent", seed=5, share="always"),
     dict(round=90, partitions=3, log_rewards=1), 40, (1, 2, 4), 60),
    ("c18_agents_loaded", "jobs go to the least loaded, decisions when something happens", MIXED,
     dict(order="agent", seed=6, share="fallback", always_spread=1, window=3),
     dict(partitions=4, route="least_loaded", log_rewards=1), 40, (1, 2, 3, 4), 40),
    ("c19_partitions", "every scheduler fills its own servers", ODD,
     dict(order="fifo", place="least_loaded", strict=False, share="fallback"),
     dict(partitions=3, route="least_loaded", log_rewards=1), 40, (1, 2, 3, 6), 20),
    ("c20_torus", "rings over a torus cross each other", TORUS,
     dict(order="fifo", place="first_fit", strict=False, always_spread=1, share="always"), {}, 40, (1, 2, 3, 4, 6, 8),
     20),
    ("c21_torus_interference", "the least disturbance on a torus", TORUS,
     dict(order="srsf", place="least_interference", strict=False, always_spread=1), {}, 40, (1, 3, 4, 6, 8, 12), 30),
    ("c22_whole_times", "much happens at one time", MIXED,
     dict(order="fifo", place="first_fit", strict=False, share="fallback"), {}, 60, (1, 2, 4), 20),
    ("c23_other_kappa", "the network costs nothing within a rack", WIDE,
     dict(order="fifo", place="first_fit", strict=False), dict(kappa=[0, 0, 0.5, 0, 2.0, 3.0]), 40, (2, 4, 8, 16), 60),
    ("c24_lockstep", "rounds in lock-step, one too short for some jobs", SMALL, dict(order="fifo", place="first_fit"),
     dict(lockstep=3, reset=20), 30, (1, 2, 4), 60),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", required=True)
    args = parser.parse_args()
    sys.path.insert(0, args.oracle)
    import cluster_min

    for name, note, topology, policy, more, count, sizes, gap in CASES:
        rng = random.Random(name)
        gpu_types = sorted({t for t, _ in topology["gpu_types"]})
        types, pairs = tables(gpu_types, rng)
        config = {"topology": topology, "types": types, "pairs": pairs, "share": 2 if "share" in policy else 1,
                  "host_cap": 0.6, "policy": policy, **more}
        jobs = draw_jobs(rng, count, sizes, gap, whole="whole" in name)
        result = cluster_min.Sim(config, jobs).go().result()
        document = {"format": "cluster-golden-1", "name": name, "note": note, "config": config, "jobs": jobs, **result}
        (HERE / (name + ".json")).write_text(json.dumps(document, separators=(",", ":")) + "\n")
        metrics = result["metrics"]
        print(name, metrics["finished"], "of", count, "finished,", metrics["placements"], "placements")


if __name__ == "__main__":
    main()
