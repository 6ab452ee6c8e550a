#!/usr/bin/env python3
"""Makes the golden traces of the partitioning environment in this folder.

    make_golden.py --oracle PATH [--only NAME]

PATH is an independent implementation of the simulator, a Python file that offers Env, Part,
check_file, summary and agent_action. Small graphs and job lists of our own are run through it; what
it computes is written down in the format `ramp-golden-1`, and then checked against the file by the
same program. Graphs go to graphs/<model>/graph.txt. Needs numpy.

Every scenario exists to pin one thing, named beside it.
"""
import argparse
import importlib.util
import json
import math
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
GRAPHS = HERE / "graphs"

# ---------------------------------------------------------------- graphs
# model -> (ops in file order: id, description, forward, backward, activation, parameters;
#           dependencies in file order). An activation may be a list, which counts as its sum.
MODELS = {
    # Two branches of different length between a split and a join; ids are not in file order.
    "diamond": (
        [
            (3, "Left", 3.2, 6.1, 48e6, 9e6),
            (1, "Data", 20.0, 0.0, 96e6, 0),
            (2, "Stem", 4.0, 8.5, 64e6, 2e6),
            (6, "Join", 0.3, 0.2, 48e6, 0),
            (5, "RightB", 0.9, 1.8, 48e6, 6e6),
            (4, "RightA", 1.7, 3.3, 24e6, 4e6),
            (8, "Loss", 0.05, 0.04, 1e3, 0),
            (7, "Head", 2.2, 4.0, 8e6, 32e6),
        ],
        [(3, 6), (1, 2), (2, 4), (2, 3), (5, 6), (4, 5), (7, 8), (6, 7)],
    ),
    # Ops without cost in the middle, a list-valued activation, and ops so short that the quantum
    # splits them less than their neighbours.
    "views": (
        [
            (1, "Data", 6.0, 0.0, 32e6, 0),
            (2, "Conv", 1.9, 3.6, 40e6, 1e6),
            (3, "Size", 0.0, 0.0, 4, 0),
            (4, "View", 0.0, 0.0, 40e6, 0),
            (5, "Linear", 1.1, 2.3, 16e6, 64e6),
            (6, "ReLU", 0.012, 0.009, 16e6, 0),
            (7, "Recurrent", 2.4, 4.9, [8e6, 131072.0, 131072.0], 24e6),
            (8, "Dropout", 0.033, 0.021, 8e6, 0),
            (9, "Linear", 0.7, 1.2, 2e6, 8e6),
        ],
        [(1, 2), (2, 3), (2, 4), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9)],
    ),
    # Several sources and several sinks, all but the last of them without cost.
    "sides": (
        [
            (1, "Tokens", 0.0, 0.0, 0.0, 0),
            (2, "Lengths", 0.0, 0.0, 0.0, 0),
            (3, "Embedding", 0.4, 1.5, 12e6, 50e6),
            (4, "Encoder", 2.6, 5.3, [12e6, 262144.0, 262144.0], 33e6),
            (5, "EncoderOutput", 0.0, 0.0, 12e6, 0),
            (6, "EncoderState", 0.0, 0.0, 524288.0, 0),
            (7, "Hidden", 0.0, 0.0, 0.0, 0),
            (8, "Decoder", 2.9, 5.6, [11e6, 262144.0, 262144.0], 34e6),
            (9, "DecoderState", 0.0, 0.0, 524288.0, 0),
            (10, "DecoderOutput", 0.0, 0.0, 11e6, 0),
            (11, "Add", 0.0, 0.0, 11e6, 0),
            (12, "Classifier", 3.4, 6.9, 90e6, 60e6),
        ],
        [(1, 3), (3, 4), (2, 4), (4, 5), (4, 6), (7, 8), (5, 8), (8, 9), (8, 10), (10, 11), (5, 11),
         (11, 12)],
    ),
    # Two residual blocks, the second with a projection.
    "residual": (
        [
            (1, "Data", 9.5, 0.0, 75e6, 0),
            (2, "Conv", 2.1, 4.4, 100e6, 1e6),
            (3, "Norm", 0.6, 0.8, 100e6, 1e3),
            (4, "Conv", 1.8, 4.1, 100e6, 2e6),
            (5, "Add", 0.0, 0.0, 100e6, 0),
            (6, "ReLU", 0.4, 0.5, 100e6, 0),
            (7, "Conv", 1.5, 3.2, 50e6, 4e6),
            (8, "Conv", 1.6, 3.4, 50e6, 8e6),
            (9, "Project", 0.5, 0.9, 50e6, 1e6),
            (10, "Add", 0.02, 0.02, 50e6, 0),
            (11, "Head", 0.8, 1.3, 4e6, 20e6),
        ],
        [(1, 2), (2, 3), (3, 4), (4, 5), (2, 5), (5, 6), (6, 7), (7, 8), (8, 10), (6, 9), (9, 10),
         (10, 11)],
    ),
    # Costs that the quantum 0.01 turns into 6, 10 and 12 pieces at large degrees, and a lot of
    # memory in one op.
    "uneven": (
        [
            (1, "Data", 3.0, 0.0, 200e6, 0),
            (2, "Conv", 5.0, 9.0, 800e6, 100e6),
            (3, "Scale", 0.055, 0.06, 400e6, 0),
            (4, "Shift", 0.095, 0.1, 400e6, 0),
            (5, "Linear", 1.0, 2.0, 100e6, 900e6),
            (6, "Loss", 0.118, 0.07, 1e6, 0),
        ],
        [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)],
    ),
}


def number(value):
    if isinstance(value, list):
        return "[" + "; ".join(str(float(v)) for v in value) + "]"
    return f"{value:.3f}"


def write_graphs():
    for model, (ops, deps) in MODELS.items():
        lines = [
            f"node{i} -- {text} -- forward_compute_time={f:.3f}, backward_compute_time={b:.3f}, "
            f"activation_size={number(a)}, parameter_size={number(p)}"
            for i, text, f, b, a, p in ops
        ]
        lines += [f"\tnode{u} -- node{v}" for u, v in deps]
        folder = GRAPHS / model
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "graph.txt").write_text("\n".join(lines) + "\n")


# ---------------------------------------------------------------- scenarios
CONFIG = {
    "topology": [4, 4, 2], "num_channels": 1, "total_node_bandwidth": 1.6e12,
    "intra_gpu_propagation_latency": 50e-9, "worker_io_latency": 100e-9, "num_training_steps": 50,
    "max_partitions_per_op_in_observation": 1, "max_partitions_per_op": 16,
    "min_op_run_time_quantum": 0.01, "max_simulation_run_time": "inf", "job_queue_capacity": 10,
    "pad_obs_max_nodes": 30, "worker_memory_capacity": 80_000_000_000, "topology_type": "ramp",
    "worker": "A100", "apply_action_mask": True,
    "job_sampling": "trace in list order, no repeat",
}


def mix(seed, count, models, fracs, gaps):
    """A job list: models, requirements and interarrival times drawn from the given choices."""
    draw = random.Random(seed)
    jobs, clock = [], 0.0
    for i in range(count):
        gap = 0 if i == 0 else draw.choice(gaps)
        clock += gap
        jobs.append([draw.choice(models), draw.choice(fracs), gap, clock])
    return jobs


def listed(*jobs):
    """A job list given as (model, frac, interarrival before); the first job arrives at 0."""
    out, clock = [], 0.0
    for i, (model, frac, gap) in enumerate(jobs):
        gap = gap if i > 0 else 0
        clock += gap
        out.append([model, frac, gap, clock])
    return out


ALL = list(MODELS)
BOTH = ("model_degree", "off")

SCENARIOS = [
    # Every degree on an empty cluster: split rule, partitioned graph, priorities, lookahead.
    dict(name="g01_degrees", cache=("off",), jobs=listed(*[("diamond", 1.0, 2500)] * 6),
         agent={"kind": "list", "actions": [1, 2, 4, 6, 8, 16]},
         dump=("diamond@2", "diamond@4"), ticks=("diamond@2",), observe=True),
    # Ops of no cost, list-valued activations, sources and sinks at the side.
    dict(name="g02_side_paths", cache=("off",),
         jobs=listed(*[(m, 1.0, 900) for m in ("sides", "views", "sides", "views", "sides")]),
         agent={"kind": "list", "actions": [2, 2, 4, 8, 6]},
         dump=("sides@2", "views@2"), observe=True),
    # Low bandwidth: where a job stands decides how long it takes, and the published cache by model
    # and degree forgets that. The two files differ in their outcomes.
    dict(name="g03_cache_222", cache=BOTH,
         config=dict(topology=[2, 2, 2], max_partitions_per_op=8, total_node_bandwidth=6e8),
         jobs=listed(("diamond", 1.0, 0), ("diamond", 1.0, 20), ("sides", 0.6, 20),
                     ("sides", 0.6, 20), ("sides", 0.54, 20), ("residual", 0.65, 900),
                     ("residual", 0.7, 400), ("residual", 0.6, 20), ("diamond", 0.6, 1500),
                     ("sides", 0.2, 100), ("sides", 0.95, 900)),
         agent={"kind": "list", "actions": [1, 1, 2, 2, 2, 2, 2, 2, 4, 4, 2]}),
    # A heuristic under load in the published topology, with a network that matters.
    dict(name="g04_mix_442", cache=BOTH, config=dict(total_node_bandwidth=3e9),
         jobs=mix(11, 12, ["residual", "diamond", "sides", "views"], [0.2, 0.35, 0.5, 0.8], [150]),
         agent={"kind": "acceptable_jct"}),
    # Three groups, two racks: block shapes and collectives of unequal extents; long latencies.
    dict(name="g05_latency_322", cache=("off",),
         config=dict(topology=[3, 2, 2], max_partitions_per_op=12, total_node_bandwidth=2e9,
                     intra_gpu_propagation_latency=2e-3, worker_io_latency=5e-3,
                     num_training_steps=7),
         jobs=mix(23, 11, ["residual", "diamond", "sides", "views"], [0.3, 0.6, 1.0], [60, 90]),
         agent={"kind": "random", "seed": 9}),
    # Too little memory on a worker for a piece: blocked at op placement until split further.
    dict(name="g06_memory", cache=("model_degree",),
         config=dict(worker_memory_capacity=999_000_000),
         jobs=listed(("uneven", 1.0, 0), ("uneven", 1.0, 100), ("residual", 0.9, 100),
                     ("uneven", 1.0, 100), ("uneven", 0.9, 300), ("diamond", 1.0, 50)),
         agent={"kind": "list", "actions": [1, 8, 2, 6, 1, 4]}),
    # A valid action that the cluster cannot place, since the quantum asks for 10 or 12 pieces.
    dict(name="g07_unplaceable", cache=("off",),
         jobs=listed(*[("uneven", 1.0, 400)] * 3 + [("views", 1.0, 300)] * 2),
         agent={"kind": "list", "actions": [16, 8, 6, 16, 2]}),
    # The simulation ends while jobs run, one of them in its own first step; a completion and an
    # arrival share a tick, after which the mask still counts the finished job's servers.
    dict(name="g08_end_222", cache=("model_degree",),
         config=dict(topology=[2, 2, 2], max_partitions_per_op=8, max_simulation_run_time=4300,
                     max_partitions_per_op_in_observation=2),
         jobs=listed(("diamond", 1.0, 0), ("sides", 1.0, 2814.5), ("diamond", 1.0, 500),
                     ("residual", 0.9, 400.5), ("views", 0.9, 250.25), ("views", 0.9, 200),
                     ("views", 1.0, 100), ("views", 1.0, 250)),
         agent={"kind": "list", "actions": [1, 4, 2, 2, 1, 2, 1]}, observe=True),
    # Masked actions are taken as 0 where the mask is not applied.
    dict(name="g09_mask_not_applied", cache=("model_degree",), config=dict(apply_action_mask=False),
         jobs=mix(31, 9, ["diamond", "residual", "views"], [0.5, 1.0], [120, 200]),
         agent={"kind": "list", "actions": [3, 4, 16, 5, 2, 14, 7, 8, 4]}),
    # All training jobs run to their end after the last arrival; times between arrivals vary.
    dict(name="g10_drain", cache=("off",), config=dict(total_node_bandwidth=25e9),
         jobs=mix(5, 11, ALL, [0.1, 0.25, 0.5, 1.0], [40.5, 160.25, 320]),
         agent={"kind": "max_parallelism"}),
    # A coarse quantum and an odd topology.
    dict(name="g11_quantum_242", cache=("off",),
         config=dict(topology=[4, 2, 2], max_partitions_per_op=16, min_op_run_time_quantum=0.5,
                     total_node_bandwidth=4e9, max_simulation_run_time=1500),
         jobs=mix(77, 12, ["residual", "diamond", "views", "sides"], [0.4, 0.7, 1.0], [130, 170]),
         agent={"kind": "random", "seed": 21}),
]

# ---------------------------------------------------------------- running and writing
REWARDS = {
    "job_acceptance": ("JobAcceptance", {"fail_reward": -1, "success_reward": 1}),
    "lookahead_jct": ("LookaheadJobCompletionTime", {
        "fail_reward": "job_sequential_completion_time", "fail_reward_factor": 10, "sign": -1,
        "inverse": False, "transform_with_log": False,
        "normaliser": "job_sequential_completion_time_times_fail_reward_factor"}),
    "lookahead_jct_default": ("LookaheadJobCompletionTime", {}),
    "lookahead_jct_inv_log": ("LookaheadJobCompletionTime", {
        "fail_reward": "job_sequential_completion_time", "fail_reward_factor": 2, "sign": 1,
        "inverse": True, "transform_with_log": True,
        "normaliser": "job_sequential_completion_time"}),
    "multi_objective_jct_blocking": ("MultiObjectiveJCTBlocking",
                                     {"sign": -1, "blocking_weight": 1}),
    "multi_objective_w3_log": ("MultiObjectiveJCTBlocking",
                               {"sign": -1, "blocking_weight": 3, "transform_with_log": True}),
    "mean_compute_throughput": ("MeanComputeThroughput",
                                {"sign": 1, "transform_with_log": True, "normalise": True}),
    "mean_compute_throughput_raw": ("MeanComputeThroughput", {}),
    "mean_cluster_throughput": ("MeanClusterThroughput",
                                {"sign": 1, "transform_with_log": False, "normalise": True}),
    "mean_demand_total_throughput": ("MeanDemandTotalThroughput",
                                     {"sign": 1, "transform_with_log": False, "normalise": True}),
}

INFO = ["compute", "dep", "flow", "cluster", "demand_compute", "demand_dep", "demand_total"]
CLUSTER_STEP_COLUMNS = (
    ["step_start_time", "step_end_time", "num_jobs_completed", "num_jobs_arrived",
     "num_jobs_blocked", "job_queue_length", "mean_num_jobs_running", "mean_num_mounted_workers",
     "mean_num_mounted_channels"]
    + [f"{x}_info_processed" for x in INFO] + [f"mean_{x}_throughput" for x in INFO]
    + ["mean_compute_overhead_frac", "mean_communication_overhead_frac",
       "mean_mounted_worker_utilisation_frac", "mean_cluster_worker_utilisation_frac"])

HANDLED = ["degree", "num_nodes", "num_edges", "num_flows", "flow_run_time_sum",
           "flow_run_time_max", "dep_size_sum", "n_unique_flow_run_times", "placement_checksum",
           "lookahead_ran", "jct", "communication_overhead_time", "computation_overhead_time",
           "num_lookahead_ticks", "max_acceptable_jct", "partitioned_job_sequential_completion_time",
           "servers", "num_mounted_channels"]
ACCEPTED = ["mean_mounted_worker_utilisation_frac", "job_total_flow_size"]


def plain(value):
    """Ready for JSON: non-finite numbers as words, numpy's numbers as Python's."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    return value


def shortest_float32(value):
    import numpy

    return float(str(numpy.float32(value)))


def table(values):
    """The distinct values in order of appearance, and each value's place among them."""
    places = {}
    return [places.setdefault(v, len(places)) for v in values], list(places)


def dump_partition(job):
    part, look, server = job.part, job.L, job.server
    flow = [server[a] != server[b] and size != 0
            for a, b, size in zip(part.esrc, part.edst, part.esize)]
    compute, compute_table = table(part.comp)
    memory, memory_table = table(part.mem)
    sizes, size_table = table(part.esize)
    times, time_table = table([t if f else 0.0 for t, f in zip(job.rt_raw, flow)])
    return {
        "model": job.model, "max_partitions_per_op": job.deg, "job_idx": job.idx,
        "node_id": [str(i) + (chr(97 + k) if k >= 0 else "") for i, k in part.keys],
        "compute_table": compute_table, "compute": compute,
        "memory_table": memory_table, "memory": memory,
        "server": list(server), "op_priority": list(look["oprio"]),
        "size_table": size_table, "run_time_table": time_table,
        "edges": [list(e) for e in zip(part.esrc, part.edst, sizes, times)],
        "dep_priority": [p if f else -1 for p, f in zip(look["dprio"], flow)],
    }


def choose(oracle, agent, draw, mask, job, number):
    if agent["kind"] == "list":
        return agent["actions"][number]
    if agent["kind"] == "random":
        most = agent.get("max_action", len(mask))
        return draw.choice([a for a, valid in enumerate(mask) if valid and a <= most and a > 0] or [0])
    return oracle.agent_action(agent, mask, job)


def play(oracle, scenario, cache):
    config = {**CONFIG, **scenario.get("config", {})}
    config["channel_bandwidth"] = config["total_node_bandwidth"] / config["topology"][0]
    jobs = [list(job) for job in scenario["jobs"]]
    env = oracle.Env(config, jobs, str(GRAPHS), cache)
    agent, draw = scenario["agent"], random.Random(scenario["agent"].get("seed"))
    steps, partitioned, actions = [], {}, []
    while not env.is_done():
        job, mask = env.queue[0], env.mask()
        step = {"job": job.idx, "model": job.model, "frac": job.frac, "arrival": job.arrived,
                "time": env.time, "mask": "".join(str(m) for m in mask),
                "graph_features": [shortest_float32(f) for f in env.graph_features()]}
        action = choose(oracle, agent, draw, mask, job, len(steps))
        actions.append(action)
        completed, blocked = set(env.completed), set(env.blocked)
        info = env.step(action)
        step["action"] = action
        step |= {k: info[k] for k in HANDLED + ACCEPTED if k in info}
        key = f"{job.model}@{info.get('degree')}"
        if key in scenario.get("ticks", ()) and info["lookahead_ran"]:
            step["ticks"] = [list(t) for t in info["ticks"]]
        if key in scenario.get("dump", ()) and key not in partitioned and info["lookahead_ran"]:
            partitioned[key] = dump_partition(job)
        step |= {
            "outcome": info["outcome"], "cause": info["cause"], "rewards": info["rewards"],
            "cluster_steps": [[s[c] for c in CLUSTER_STEP_COLUMNS] for s in info["cluster_steps"]],
            "jobs_completed": sorted(set(env.completed) - completed),
            "jobs_blocked": sorted(set(env.blocked) - blocked),
            "num_jobs_running": len(env.running), "num_mounted_workers": len(env.mounted_workers),
            "num_mounted_channels_cluster": len(env.mounted_channels),
            "num_jobs_arrived": env.next_idx, "queue_length": len(env.queue),
            "time_after": env.time, "done": env.is_done()}
        steps.append(step)
    if agent["kind"] == "random":  # the draws are this program's own
        agent = {"kind": "list", "actions": actions}
    return {
        "format": "ramp-golden-1", "name": scenario["name"], "split": "dev",
        "lookahead_cache": cache, "reference": {"generator": "tests/golden/env/make_golden.py"},
        "config": config,
        "rewards_config": {k: {"cls": c, "kwargs": a} for k, (c, a) in REWARDS.items()},
        "agent": agent,
        "models": {m: oracle.summary(g, env.steps) for m, g in env.graphs.items()},
        "jobs_params": env.params,
        "jobs_columns": ["model", "max_acceptable_job_completion_time_frac", "interarrival_before",
                         "arrival_time"],
        "jobs": jobs,
        "obs_static": observations(oracle, env) if scenario.get("observe") else {},
        "cluster_step_columns": CLUSTER_STEP_COLUMNS, "steps": steps,
        "episode_stats": {k: v for k, v in env.ep.items() if v != []},
        "partitioned": partitioned,
    }


def observations(oracle, env):
    found = {}
    for model, graph in env.graphs.items():
        o = oracle.Env.static_obs(graph)
        for key in ("node_features", "edge_features"):
            o[key] = [[shortest_float32(x) for x in row] for row in o[key]]
        found[model] = o
    return found


def to_text(trace):
    """JSON with one line a key, and one line a step, so that a change can be reviewed."""
    def line(value):
        return json.dumps(plain(value), separators=(",", ":"), allow_nan=False)

    parts = []
    for key, value in trace.items():
        if key == "steps":
            text = "[\n" + ",\n".join(line(step) for step in value) + "\n]"
        else:
            text = line(value)
        parts.append(f"{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--oracle", type=pathlib.Path, required=True)
    options.add_argument("--only", help="one scenario by name")
    options = options.parse_args()
    spec = importlib.util.spec_from_file_location("oracle", options.oracle)
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)

    write_graphs()
    failed = 0
    for scenario in SCENARIOS:
        if options.only not in (None, scenario["name"]):
            continue
        for cache in scenario["cache"]:
            trace = play(oracle, scenario, cache)
            path = HERE / f"{scenario['name']}.{cache}.json"
            path.write_text(to_text(trace))
            result, steps, _ = oracle.check_file(str(path), str(GRAPHS), 1e-12)
            failed += bool(result.bad)
            causes = {}
            for step in trace["steps"]:
                cause = step["cause"] or "placed"
                causes[cause] = causes.get(cause, 0) + 1
            print(f"{'FAIL' if result.bad else 'ok  '} {path.name}: {path.stat().st_size} bytes, "
                  f"{steps} steps, {result.n} values, {causes}")
            for bad in result.bad[:5]:
                print("    ", bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
