#!/usr/bin/env python3
"""PPO of RLlib (Ray) on a task of pacml.

    rllib.py [CONFIG] [--minutes 3] [--seed 0] [--episodes 64] [--algorithm PPO]

Needs `pip install "ray[rllib]" torch`. The observation is one vector that begins with the mask
(pacml.wrappers.Flat), and the network below keeps to it. CONFIG is configs/quickstart.yaml.
"""

import argparse
import pathlib
import time

import numpy as np
import ray
import torch
from ray.rllib.algorithms.impala import IMPALAConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.tune.registry import register_env

import pacml
from pacml.wrappers import Flat, FlatVector

QUICKSTART = pathlib.Path(__file__).resolve().parents[3] / "configs" / "quickstart.yaml"


class MaskedNetwork(TorchRLModule, ValueFunctionAPI):
    """Two layers of 64 for the policy and two for the value, over a vector that begins with the
    mask; what the mask forbids has no chance."""

    def setup(self):
        def layers(outputs):
            return torch.nn.Sequential(
                torch.nn.Linear(self.observation_space.shape[0], 64), torch.nn.Tanh(),
                torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, outputs))

        self.actions = int(self.action_space.n)
        self.policy, self.value = layers(self.actions), layers(1)

    def _forward(self, batch, **kwargs):
        seen = batch[Columns.OBS]
        logits = self.policy(seen)
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen[..., :self.actions] < 0.5, -1e9)}

    def compute_values(self, batch, embeddings=None):
        return self.value(batch[Columns.OBS])[..., 0]


def make_config(config, algorithm, seed, runners=0, envs=16):
    """The configuration of an algorithm. runners: processes that collect; 0: the one that learns."""
    register_env("pacml", lambda options: Flat(pacml.make("partitioning", options["config"])))
    made = {"PPO": PPOConfig, "IMPALA": IMPALAConfig}[algorithm]()
    made.environment("pacml", env_config={"config": str(config)})
    made.env_runners(num_env_runners=runners, num_envs_per_env_runner=envs,
                     rollout_fragment_length=32)
    made.rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedNetwork))
    made.learners(num_learners=0)
    made.debugging(seed=seed, log_level="ERROR")
    made.training(gamma=0.99, lr=1e-3, entropy_coeff=0.005, train_batch_size_per_learner=512)
    if algorithm == "PPO":
        made.training(train_batch_size_per_learner=2048, minibatch_size=512, num_epochs=3,
                      lambda_=0.9)
    return made


def blocking_rate(config, module, episodes):
    """Of the most probable actions, over episodes that training has not seen: mean and 95 %."""
    envs = FlatVector(pacml.make_vec("partitioning", config, episodes, autoreset_mode="SameStep"))
    seen, _ = envs.reset(seed=1_000_000)
    rates = np.full(episodes, np.nan)
    while np.isnan(rates).any():
        with torch.no_grad():
            logits = module._forward({Columns.OBS: torch.from_numpy(seen)})
        seen, *_, infos = envs.step(logits[Columns.ACTION_DIST_INPUTS].numpy().argmax(1))
        first = infos.get("_episode", False) & np.isnan(rates)
        if first.any():
            rates[first] = infos["episode"]["blocking_rate"][first]
    return rates.mean(), 1.96 * rates.std() / np.sqrt(episodes)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", default=QUICKSTART)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=64, help="that the policy is judged by")
    parser.add_argument("--algorithm", choices=["PPO", "IMPALA"], default="PPO")
    options = parser.parse_args()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    algorithm = make_config(options.config, options.algorithm, options.seed).build_algo()
    end = time.monotonic() + 60 * options.minutes
    decisions = 0
    while time.monotonic() < end:
        result = algorithm.train()
        decisions = int(result["env_runners"].get("num_env_steps_sampled_lifetime", decisions))
    best = pacml.evaluate(options.config, ["best_constant"], seeds=options.episodes)
    best = best["policies"][0]["blocking_rate"]
    mean, error = blocking_rate(options.config, algorithm.get_module(), options.episodes)
    print(f"Ray {ray.__version__}, {options.algorithm}: after {decisions} decisions the policy "
          f"blocks {mean:.4f} +- {error:.4f}, the best constant degree {best['mean']:.4f} "
          f"+- {best['ci95']:.4f}, over {options.episodes} episodes each")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
