"""Comparisons of policies."""

import json
import os

import numpy as np
from gymnasium.vector import AutoresetMode

from pacml import _core
from pacml.configuration import load_task
from pacml.environments import VectorEnv

# Observations that a function is asked about at once, at most: a network answers faster for many.
_MOST_AT_ONCE = 64


def held_out_seeds(config=None, seeds=10, *, first_seed=0, task=None, overrides=(), profiles=""):
    """The seeds of the episodes that evaluate() plays, and no training: int each.

    For reset(options={"episode_seeds": ...}) of an environment.
    """
    return _core.held_out_seeds(load_task(config, task, overrides, profiles), seeds, first_seed)


def evaluate(config=None, policies=(), seeds=10, *, functions=None, first_seed=0, threads=0,
             task=None, overrides=(), profiles=""):
    """What `pacml eval` finds: every policy on the same episodes, none of which training has seen.

    policies: names of baselines, folders of runs, and folders of several runs, which are trainings
    of one method; "+search" behind one to look ahead ("rollout:RULE" is "RULE+search"); none: every
    baseline that the task compares. seeds: how many episodes, from number first_seed on. threads: 0
    for one per core; the result does not depend on it.

    functions: {name: function}, policies of one's own, which play the same episodes. A function is
    called with observations of several episodes at once, as make_vec() has them, and returns an
    allowed action for each, int [N]; what it says of one may not depend on the others.

    Returns what `pacml eval --out` writes, but for its origin: {"objective": name, "policies":
    [{"name", "learned", "seeds": [{"seed", "decisions", "return", metric: value}], metric: {"mean",
    "ci95"}, "difference": {"from", "mean", "ci95", "episodes"}, "method": name}], "methods":
    [{"name", "trainings", "mean", "ci95", "median", "least", "most", "difference"}]}; None where a
    figure is not defined. What is said of functions counts as learned.
    """
    if isinstance(policies, (str, os.PathLike)):
        policies = [policies]
    made = load_task(config, task, overrides, profiles)
    names = [os.fspath(name) for name in policies]
    functions = dict(functions or {})
    for name, function in functions.items():
        if not isinstance(name, str) or not callable(function):
            raise _core.UserError("functions: must be {name: function}")
    # First what may be refused, then what takes its time.
    episodes = _core.held_out_seeds(made, seeds, first_seed)
    comparison = _core.Comparison(made, names, threads)
    for name in functions:
        if name in comparison.names:
            raise _core.UserError(f"functions: {name} is a policy already")
    played = [(name, _play(made, act, episodes)) for name, act in functions.items()]
    return json.loads(comparison.evaluate(seeds, first_seed, played))


def _play(task, act, seeds):
    """What `act` comes to in the episodes of these seeds: (return, decisions, metrics) each."""
    size = min(len(seeds), _MOST_AT_ONCE)
    envs = VectorEnv(task, size, AutoresetMode.DISABLED, masked="error")
    results = [None] * len(seeds)
    playing = np.arange(size)  # the episode of each environment; behind the last: none that counts
    waiting = size
    left = len(seeds)
    observations, _ = envs.reset(seed=0, options={"episode_seeds": seeds[:size]})
    while left > 0:
        observations, _, _, _, infos = envs.step(act(observations))
        if "episode" not in infos:
            continue
        episode, over = infos["episode"], infos["_episode"]
        following = [None] * size
        for i in np.flatnonzero(over):
            if playing[i] < len(seeds):
                results[playing[i]] = (float(episode["r"][i]), int(episode["l"][i]),
                                       [float(episode[name][i]) for name in task.metrics])
                left -= 1
            playing[i] = waiting
            if waiting < len(seeds):
                following[i] = seeds[waiting]
                waiting += 1
        observations, _ = envs.reset(
            options={"reset_mask": over, "episode_seeds": following})
    return results
