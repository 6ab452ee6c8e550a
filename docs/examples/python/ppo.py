#!/usr/bin/env python3
"""PPO in NumPy alone: learns in minutes how far to partition jobs.

    ppo.py [CONFIG] [--minutes 3] [--seed 0] [--episodes 64]

One small network scores every allowed action by what pacml shows of it ("derived"), so that what is
learned of one action holds for all; another one says what the situation is worth. CONFIG is
configs/quickstart.yaml beside it in the repository. Ends with what the policy blocks, and what the
best constant degree does.
"""

import argparse
import pathlib
import time

import numpy as np

import pacml

QUICKSTART = pathlib.Path(__file__).resolve().parents[3] / "configs" / "quickstart.yaml"
ENVS, STEPS, EPOCHS, BATCH = 64, 32, 3, 512
DISCOUNT, LAMBDA, CLIP = 0.99, 0.9, 0.2
SEEN = ("mask", "derived", "situation")  # of an observation


class Network:
    """Linear layers with ReLU between them, and Adam."""

    def __init__(self, rng, sizes):
        scale = [np.sqrt(2 / n) for n in sizes[:-2]] + [0.1 / np.sqrt(sizes[-2])]
        shapes = zip(scale, sizes[:-1], sizes[1:])
        self.weights = [(s * rng.standard_normal((n, m))).astype(np.float32) for s, n, m in shapes]
        self.biases = [np.zeros(m, np.float32) for m in sizes[1:]]
        self.moments = [(np.zeros_like(p), np.zeros_like(p)) for p in self.weights + self.biases]
        self.updates = 0

    def __call__(self, x):
        self.inputs = [x]
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases)):
            x = x @ weight + bias
            if i < len(self.weights) - 1:
                x = np.maximum(x, 0)
                self.inputs.append(x)
        return x[..., 0]

    def learn(self, gradient, rate):
        """One step of Adam. gradient: of the loss by what the last call said."""
        gradient = gradient[..., None].astype(np.float32)
        by_weight, by_bias = [], []
        for i in reversed(range(len(self.weights))):
            by_weight.insert(0, self.inputs[i].T @ gradient)
            by_bias.insert(0, gradient.sum(0))
            gradient = (gradient @ self.weights[i].T) * (self.inputs[i] > 0)
        gradients = by_weight + by_bias
        rate *= min(1, 1 / (1e-8 + np.sqrt(sum((g * g).sum() for g in gradients))))
        self.updates += 1
        bias_1, bias_2 = 1 - 0.9**self.updates, 1 - 0.999**self.updates
        for p, g, (m, v) in zip(self.weights + self.biases, gradients, self.moments):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            p -= rate * (m / bias_1) / (np.sqrt(v / bias_2) + 1e-5)


class Agent:
    def __init__(self, envs, seed):
        self.rng = np.random.default_rng(seed)
        space = envs.single_observation_space
        features, situation = space["derived"].shape[-1], space["situation"].shape[-1]
        self.policy = Network(self.rng, [features, 64, 32, 1])
        self.value = Network(self.rng, [features + situation, 64, 64, 1])

    def log_probabilities(self, seen):
        """[N, A]; the network looks at allowed actions alone."""
        logits = np.full(seen["mask"].shape, -1e9, np.float32)
        logits[seen["mask"] == 1] = self.policy(seen["derived"][seen["mask"] == 1])
        logits -= logits.max(1, keepdims=True)
        return logits - np.log(np.exp(logits).sum(1, keepdims=True))

    def values(self, seen):
        mean = seen["derived"].sum(1) / seen["mask"].sum(1, keepdims=True)
        return self.value(np.concatenate([mean, seen["situation"]], 1).astype(np.float32))

    def learn(self, seen, actions, old, advantages, returns, rate, entropy_cost):
        rows = np.arange(len(actions))
        logs = self.log_probabilities(seen)
        probabilities = np.exp(logs)
        ratio = np.exp(logs[rows, actions] - old)
        free = np.where(advantages > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
        gradient = probabilities * (ratio * advantages * free)[:, None]
        gradient[rows, actions] -= ratio * advantages * free
        surprise = -(probabilities * logs).sum(1, keepdims=True)
        gradient += entropy_cost * probabilities * (logs + surprise)
        self.policy.learn(gradient[seen["mask"] == 1] / len(rows), rate)
        self.value.learn((self.values(seen) - returns) / len(rows), rate)


def collect(envs, agent, seen, blocked):
    """STEPS decisions of every environment, with what PPO makes of them, [STEPS * N, ...]; what
    episodes that end have come to goes to `blocked`."""
    kept, steps = [], []
    for _ in range(STEPS):
        logs = agent.log_probabilities(seen)
        actions = (logs + agent.rng.gumbel(size=logs.shape)).argmax(1)
        following, rewards, terminated, truncated, infos = envs.step(actions)
        if truncated.any():  # cut off: what would have followed pays at once
            cut = {k: np.stack([last[k] for last in infos["final_obs"][truncated]]) for k in SEEN}
            rewards[truncated] += DISCOUNT ** infos["elapsed"][truncated] * agent.values(cut)
        kept.append({k: seen[k] for k in SEEN})
        steps.append((actions, logs[np.arange(ENVS), actions], rewards, agent.values(seen),
                      DISCOUNT ** infos["elapsed"] * ~(terminated | truncated)))  # of what follows
        seen = following
        if "episode" in infos:
            blocked.extend(infos["episode"]["blocking_rate"][infos["_episode"]])
    actions, old, rewards, values, discounts = (np.stack(column) for column in zip(*steps))
    advantages = np.zeros_like(values)
    after, value_after = np.zeros(ENVS), agent.values(seen)
    for t in reversed(range(STEPS)):
        after = rewards[t] + discounts[t] * (value_after + LAMBDA * after) - values[t]
        advantages[t], value_after = after, values[t]
    batch = {k: np.concatenate([one[k] for one in kept]) for k in kept[0]}
    flat = [column.reshape(-1) for column in (actions, old, advantages, advantages + values)]
    return seen, batch, flat


def blocking_rate(config, agent, episodes):
    """Of the most probable actions, over episodes that training has not seen: mean and 95 %."""
    envs = pacml.make_vec("partitioning", config, episodes, autoreset_mode="Disabled")
    seen, _ = envs.reset(seed=1_000_000)
    rates = np.full(episodes, np.nan)
    while np.isnan(rates).any():
        seen, *_, infos = envs.step(agent.log_probabilities(seen).argmax(1))
        if "episode" in infos:
            first = infos["_episode"] & np.isnan(rates)
            rates[first] = infos["episode"]["blocking_rate"][first]
            seen, _ = envs.reset(options={"reset_mask": infos["_episode"]})
    return rates.mean(), 1.96 * rates.std() / np.sqrt(episodes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", default=QUICKSTART)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=64, help="that the policy is judged by")
    options = parser.parse_args()
    envs = pacml.make_vec("partitioning", options.config, ENVS, autoreset_mode="SameStep")
    agent = Agent(envs, options.seed)
    seen, _ = envs.reset(seed=options.seed)
    begin, decisions, blocked, told = time.monotonic(), 0, [], 0.125
    while (done := (time.monotonic() - begin) / (60 * options.minutes)) < 1:
        rate, entropy_cost = 1e-3 + done * (5e-5 - 1e-3), 0.02 + done * (5e-4 - 0.02)
        seen, batch, columns = collect(envs, agent, seen, blocked)
        for _ in range(EPOCHS):
            for rows in np.split(agent.rng.permutation(ENVS * STEPS), ENVS * STEPS // BATCH):
                actions, old, advantages, returns = (column[rows] for column in columns)
                advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
                agent.learn({k: v[rows] for k, v in batch.items()}, actions, old, advantages,
                            returns, rate, entropy_cost)
        decisions += ENVS * STEPS
        if done >= told:
            newest = np.mean(blocked[-ENVS:]) if blocked else np.nan
            print(f"{done:4.0%}  {decisions:9} decisions  blocks {newest:.3f}", flush=True)
            told += 0.125
    best = pacml.evaluate(options.config, ["best_constant"], seeds=options.episodes)
    best = best["policies"][0]["blocking_rate"]
    mean, error = blocking_rate(options.config, agent, options.episodes)
    print(f"after {decisions} decisions the policy blocks {mean:.4f} +- {error:.4f}, the best "
          f"constant degree {best['mean']:.4f} +- {best['ci95']:.4f}, over {options.episodes} episodes each")


if __name__ == "__main__":
    main()
