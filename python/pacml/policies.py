"""Trained policies."""

import os
import sys

import numpy as np

from pacml import _core
from pacml.configuration import load_task
from pacml.environments import observation_space_of


class Policy:
    """The best policy of a run, on batches of observations as VectorEnv shows them.

    A single observation, without the axis [N], is taken, too, and answered without it. Every
    array is new. Threads may share it.
    """

    def __init__(self, core):
        self._core = core
        self.observation_space = observation_space_of(core.layout)  # what it reads
        self.file = core.file  # the checkpoint that it was read from

    def act(self, observations, deterministic=True, rng=None):
        """Actions, int64 [N]: the most probable, as `pacml eval` has it act, or drawn.

        deterministic=False draws with rng, a numpy.random.Generator (default: a new one).
        """
        drawn = None
        if not deterministic:
            rng = rng if rng is not None else np.random.default_rng()
            drawn = _core.Rng(int(rng.integers(2**63)))
        return self._ask(lambda batch: self._core.act(batch, drawn), observations)

    def log_probabilities(self, observations):
        """float32 [N, A], about -1e9 where the mask forbids."""
        self._require(not self._core.values_actions, "has no probabilities: it values actions")
        return self._ask(self._core.log_probabilities, observations)

    def probabilities(self, observations):
        """float32 [N, A], 0 where the mask forbids; each row adds up to 1."""
        return np.exp(self.log_probabilities(observations))

    def values(self, observations):
        """float32 [N]: what it expects of the states, in the unit of rewards."""
        self._require(self._core.learns_values, "learned no values: its algorithm needs none")
        self._require(self._core.has_values, "does not say what its values are in units of")
        if not self._core.values_actions:
            return self._ask(self._core.values, observations)
        return np.nanmax(self.action_values(observations), axis=-1)

    def action_values(self, observations):
        """float32 [N, A], NaN where the mask forbids: of Ape-X and expert iteration alone."""
        self._require(self._core.values_actions, "values states, not actions")
        self._require(self._core.has_values, "does not say what its values are in units of")
        return self._ask(self._core.action_values, observations)

    def _require(self, holds, sentence):
        if not holds:
            raise _core.UserError(f"the policy of {self.file} {sentence}")

    def _ask(self, question, observations):
        if np.ndim(observations["mask"]) > 1:
            return question(dict(observations))
        return question({k: np.asarray(v)[None] for k, v in observations.items()})[0]


def load_policy(run, config=None, *, overrides=(), profiles=""):
    """The best policy of a run folder, which acts in the task of the run's own configuration, or of
    another one (as configuration.load_task) whose decisions it can read."""
    run = os.fspath(run)
    if config is None:
        if not os.path.isfile(os.path.join(run, "config.yaml")):
            raise _core.UserError(f"{run} is no run: it has no config.yaml")
        config = os.path.join(run, "config.yaml")
    core = _core.PolicyBatch(load_task(config, None, overrides, profiles), run)
    if core.warning:
        print(core.warning, end="", file=sys.stderr)
    return Policy(core)
