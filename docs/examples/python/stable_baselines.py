#!/usr/bin/env python3
"""MaskablePPO of sb3-contrib (Stable-Baselines3) on a task of pacml.

    stable_baselines.py [CONFIG] [--minutes 3] [--seed 0] [--episodes 64]

Needs `pip install stable-baselines3 sb3-contrib`. The observation is one vector
(pacml.wrappers.Flat), the network that library's own; CONFIG is configs/quickstart.yaml.
"""

import argparse
import pathlib
import time

import numpy as np
import stable_baselines3
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import pacml
from pacml.wrappers import FlatVector, as_stable_baselines

QUICKSTART = pathlib.Path(__file__).resolve().parents[3] / "configs" / "quickstart.yaml"
ENVS = 64


class Clock(BaseCallback):
    """Ends the training when its minutes are over."""

    def __init__(self, minutes):
        super().__init__()
        self.end = time.monotonic() + 60 * minutes

    def _on_step(self):
        return time.monotonic() < self.end


def make(config, num_envs):
    envs = pacml.make_vec("partitioning", config, num_envs, autoreset_mode="SameStep")
    return as_stable_baselines(FlatVector(envs))


def blocking_rate(config, model, episodes):
    """Of the most probable actions, over episodes that training has not seen: mean and 95 %."""
    envs = make(config, episodes)
    envs.seed(1_000_000)  # environment i has seed 1000000 + i
    seen = envs.reset()
    rates = np.full(episodes, np.nan)
    while np.isnan(rates).any():
        actions, _ = model.predict(seen, deterministic=True, action_masks=envs.action_masks())
        seen, _, over, infos = envs.step(actions)
        for i in np.flatnonzero(over & np.isnan(rates)):
            rates[i] = infos[i]["episode"]["blocking_rate"]
    return rates.mean(), 1.96 * rates.std() / np.sqrt(episodes)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", default=QUICKSTART)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=64, help="that the policy is judged by")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = MaskablePPO("MlpPolicy", make(options.config, ENVS), n_steps=32, batch_size=512,
                        n_epochs=3, gamma=0.99, gae_lambda=0.9, learning_rate=1e-3, ent_coef=0.005,
                        policy_kwargs={"net_arch": [64, 64]}, seed=options.seed, device="cpu")
    model.learn(total_timesteps=2**40, callback=Clock(options.minutes))
    best = pacml.evaluate(options.config, ["best_constant"], seeds=options.episodes)
    best = best["policies"][0]["blocking_rate"]
    mean, error = blocking_rate(options.config, model, options.episodes)
    print(f"Stable-Baselines3 {stable_baselines3.__version__}: after {model.num_timesteps} decisions "
          f"the policy blocks {mean:.4f} +- {error:.4f}, the best constant degree "
          f"{best['mean']:.4f} +- {best['ci95']:.4f}, over {options.episodes} episodes each")


if __name__ == "__main__":
    main()
