"""Comparisons of policies."""

import json
import os

from pacml import _core
from pacml.configuration import load_task


def evaluate(config=None, policies=(), seeds=10, *, first_seed=0, threads=0, task=None,
             overrides=(), profiles=""):
    """What `pacml eval` finds: every policy on the same episodes, none of which training has seen.

    policies: names of baselines and folders of runs, with "+search" behind one to look ahead
    ("rollout:RULE" is "RULE+search"); none: every baseline that the task compares. seeds: how many
    episodes, from number first_seed on. threads: 0 for one per core; the result does not depend
    on it.

    Returns what `pacml eval --out` writes: {"objective": name, "policies": [{"name", "learned",
    "seeds": [{"seed", "decisions", "return", metric: value}], metric: {"mean", "ci95"}}]}; None
    where a figure is not defined.
    """
    if isinstance(policies, (str, os.PathLike)):
        policies = [policies]
    made = load_task(config, task, overrides, profiles)
    names = [os.fspath(name) for name in policies]
    return json.loads(_core.evaluate(made, names, seeds, first_seed, threads))
