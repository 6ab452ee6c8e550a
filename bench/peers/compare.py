#!/usr/bin/env python3
"""Environment steps and learned samples a second of pacml, and of RLlib and Stable-Baselines3 on
pacml's own environments in Python.

    compare.py PACML [--config configs/quickstart.yaml] [--seconds 40] [--only NAME]... [--out FILE.json]

PACML is the program. Needs the Python package and `pip install stable-baselines3 sb3-contrib torch
"ray[rllib]"` (for all; --only chooses). Prints a table in Markdown with versions and circumstances.

Every one of them has the same task and configuration, the same network (38 081 weights on the
paper's cluster) and the same two processors. pacml has a learner and one actor, each a process;
RLlib's IMPALA collects and learns in one process, taking turns (an env runner of its own would be
its counterpart); so does MaskablePPO of sb3-contrib. Counted is what happens within `seconds`, after as many
that are not counted (a quarter of them, at least five).

    environment steps   decisions that the environments have taken
    learned samples     decisions that went through a gradient, each time that they did
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Window:
    """Two looks at counters: rates between the first after `warm` seconds and the last."""

    def __init__(self, seconds):
        self.begin = time.monotonic()
        self.warm = max(5.0, seconds / 4)
        self.seconds = seconds
        self.first = self.last = None

    def look(self, steps, samples):
        """False: the window is over."""
        now = time.monotonic()
        if now - self.begin >= self.warm:
            self.last = (now, steps, samples)
            self.first = self.first or self.last
        return now - self.begin < self.warm + self.seconds

    def rates(self):
        seconds = self.last[0] - self.first[0]
        if seconds < self.seconds / 4:
            sys.exit("compare.py: too few reports for a rate; give it more --seconds")
        return [(b - a) / seconds for a, b in zip(self.first[1:], self.last[1:])]


def run_pacml(options):
    with tempfile.TemporaryDirectory() as folder:
        seconds = Window(options.seconds)
        minutes = (seconds.warm + options.seconds) / 60
        # Judging the policy meanwhile is nobody else's work here.
        subprocess.run([options.program, "train", options.config, "--run", f"{folder}/run",
                        "--minutes", str(minutes), "--actors", "1",
                        "--set", "learner.evaluate_seconds=100000"],
                       check=True, stdout=subprocess.DEVNULL)
        with open(f"{folder}/run/metrics.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    lines = [line for line in lines if "updates" in line]
    last = lines[-1]
    first = next(line for line in lines if line["seconds"] >= seconds.warm)
    rate = {key: (last[key] - first[key]) / (last["seconds"] - first["seconds"])
            for key in ("decisions", "samples")}
    version = subprocess.run([options.program, "version"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.split("\n")[0]
    # IMPALA learns each decision once, or not at all where it comes too late.
    return {"steps": rate["decisions"], "samples": rate["samples"], "version": version,
            "as": "IMPALA, one actor process, one learner process"}


def run_rllib(options):
    import ray
    from ray.rllib.algorithms.impala import IMPALAConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.tune.registry import register_env

    import pacml
    from networks import RllibModule
    from pacml.wrappers import Flat

    def make(config):
        return Flat(pacml.make("partitioning", config["config"]))

    layout = {k: [v.start, v.stop] for k, v in make({"config": options.config}).layout.items()}
    register_env("pacml", make)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
             runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join([str(ROOT / "bench/peers"), *sys.path])}})
    config = IMPALAConfig()
    config.environment("pacml", env_config={"config": options.config})
    config.env_runners(num_env_runners=0, num_envs_per_env_runner=16, rollout_fragment_length=32)
    config.rl_module(rl_module_spec=RLModuleSpec(module_class=RllibModule,
                                                 model_config={"layout": layout}))
    config.learners(num_learners=0)
    config.debugging(seed=0, log_level="ERROR")
    config.reporting(min_time_s_per_iteration=1)
    config.training(gamma=0.99, lr=1e-3, entropy_coeff=0.02, train_batch_size_per_learner=512)
    algorithm = config.build_algo()
    window = Window(options.seconds)
    while True:
        result = algorithm.train()
        steps = result["env_runners"].get("num_env_steps_sampled_lifetime", 0)
        learners = result.get("learners", {}).get("__all_modules__", {})
        if not window.look(steps, learners.get("num_env_steps_trained_lifetime", 0)):
            break
    steps, samples = window.rates()
    algorithm.stop()
    ray.shutdown()
    return {"steps": steps, "samples": samples, "version": f"Ray {ray.__version__}",
            "as": "IMPALA, 16 environments and the learner in one process"}


def run_stable_baselines(options):
    import sb3_contrib
    import torch
    from stable_baselines3.common.callbacks import BaseCallback

    import pacml
    from networks import StableBaselinesPolicy
    from pacml.wrappers import FlatVector, as_stable_baselines

    torch.set_num_threads(options.threads)
    envs = FlatVector(pacml.make_vec("partitioning", options.config, 64, autoreset_mode="SameStep"))
    epochs = 3
    window = Window(options.seconds)

    class Look(BaseCallback):
        def _on_step(self):
            return True

        # Whole turns of collecting and learning alone are counted.
        def _on_rollout_start(self):
            self.more = window.look(self.num_timesteps, epochs * self.num_timesteps)
            if not self.more:
                raise StopIteration

    model = sb3_contrib.MaskablePPO(
        StableBaselinesPolicy, as_stable_baselines(envs), n_steps=32, batch_size=512,
        n_epochs=epochs, gamma=0.99, gae_lambda=0.9, learning_rate=1e-3, ent_coef=0.02,
        policy_kwargs={"layout": envs.layout}, seed=0, device="cpu")
    try:
        model.learn(total_timesteps=2**40, callback=Look())
    except StopIteration:
        pass
    steps, samples = window.rates()
    return {"steps": steps, "samples": samples, "version": f"sb3-contrib {sb3_contrib.__version__}",
            "as": f"MaskablePPO, 64 environments, {epochs} epochs, {options.threads} threads of torch"}


def run_environments(options):
    import gymnasium

    import pacml

    envs = pacml.make_vec("partitioning", options.config, 64, autoreset_mode="SameStep")
    envs.reset(seed=0)
    window = Window(options.seconds)
    steps = 0
    while window.look(steps, 0):
        envs.step(envs.sample_actions())
        steps += envs.num_envs
    return {"steps": window.rates()[0], "samples": 0.0, "version": f"Gymnasium {gymnasium.__version__}",
            "as": "pacml.make_vec alone, 64 environments, random actions, one thread"}


RUNS = {"pacml": run_pacml, "environments": run_environments, "rllib": run_rllib,
        "stable_baselines": run_stable_baselines}


def print_table(results):
    print("| | environment steps/s | learned samples/s | as |\n| --- | ---: | ---: | --- |")
    for name, r in results.items():
        samples = f"{r['samples']:,.0f}" if r["samples"] else ""
        print(f"| {name} ({r['version']}) | {r['steps']:,.0f} | {samples} | {r['as']} |")
    print(f"\n{os.cpu_count()} processors ({platform.processor() or platform.machine()}), Python "
          f"{platform.python_version()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--config", default=str(ROOT / "configs/quickstart.yaml"))
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--threads", type=int, default=2, help="of torch, where one process learns")
    parser.add_argument("--only", action="append", choices=list(RUNS))
    parser.add_argument("--out")
    parser.add_argument("--in-this-process", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.only or list(RUNS)
    if options.in_this_process:
        sys.path.insert(0, str(ROOT / "bench/peers"))
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(RUNS[names[0]](options), file)
        return
    results = {}
    for name in names:  # in processes of their own, so that none leaves threads to the next
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as out:
            subprocess.run([sys.executable, __file__, options.program, "--config", options.config,
                            "--seconds", str(options.seconds), "--threads", str(options.threads),
                            "--only", name, "--out", out.name, "--in-this-process"], check=True)
            results[name] = json.load(out)
    print_table(results)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
