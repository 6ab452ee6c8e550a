"""Environments in the forms in which other libraries want them.

    flat = Flat(pacml.make("partitioning", config))             # a gymnasium.Env: one vector
    flat = FlatVector(pacml.make_vec("partitioning", config, 64))  # a gymnasium.vector.VectorEnv
    envs = as_stable_baselines(flat)                            # a VecEnv of Stable-Baselines3

A flat observation is a float32 vector: the columns of the observation one after the other, of which
the mask is the first, so that whoever is given the vector alone knows what may be taken:
`vector[:A] > 0`. `layout[column]` is the slice in which a column stands.
"""

import gymnasium
import numpy as np
from gymnasium import spaces

from pacml._core import UserError
from pacml.environments import VectorEnv

_DEFAULT = ("globals", "situation", "candidates", "derived")


class Flattener:
    """Observations of one space as vectors. Immutable; any thread.

    columns: which, besides the mask and behind it; default: all of globals, situation, candidates
    and derived that there are. What is one of few (SLOT_graph, SLOT_focus) is one-hot; what is one
    of few for each action (candidate_nodes) is refused, as it belongs to a graph.

    space   spaces.Box, float32 [F]
    layout  {column: slice of the vector}
    """

    def __init__(self, space, columns=None):
        if isinstance(columns, str):
            columns = [columns]
        if columns is None:
            columns = [name for name in _DEFAULT if name in space.spaces]
        self._columns = {"mask": space["mask"]}
        for name in columns:
            if name not in space.spaces:
                known = ", ".join(space.spaces)
                raise UserError(f"columns: there is no {name!r} here; there are {known}")
            if isinstance(space[name], spaces.MultiDiscrete):
                raise UserError(f"columns: {name!r} names nodes of a graph and has no flat form")
            self._columns[name] = space[name]
        self.layout = {}
        end = 0
        for name, column in self._columns.items():
            begin, end = end, end + int(spaces.flatdim(column))
            self.layout[name] = slice(begin, end)
        low, high = np.zeros(end, np.float32), np.ones(end, np.float32)
        for name, column in self._columns.items():
            if isinstance(column, spaces.Box):
                low[self.layout[name]] = column.low.reshape(-1)
                high[self.layout[name]] = column.high.reshape(-1)
        self.space = spaces.Box(low, high, dtype=np.float32)

    def __call__(self, observations):
        """float32 [F] of one observation, [N, F] of a batch; always new."""
        lead = np.shape(observations["mask"])[:-1]
        flat = np.empty((*lead, *self.space.shape), np.float32)
        for name, column in self._columns.items():
            values = np.asarray(observations[name])
            if isinstance(column, spaces.Discrete):
                values = values[..., None] == np.arange(column.n)
            flat[..., self.layout[name]] = values.reshape(*lead, -1)
        return flat


class Flat(gymnasium.ObservationWrapper):
    """A pacml.Env with vectors for observations. columns: as Flattener."""

    def __init__(self, env, columns=None):
        super().__init__(env)
        self.flattener = Flattener(env.observation_space, columns)
        self.layout = self.flattener.layout
        self.observation_space = self.flattener.space

    def observation(self, observation):
        return self.flattener(observation)

    def action_masks(self):
        """bool [A], what may be taken now: the name by which sb3-contrib's MaskablePPO asks."""
        return self.env.get_wrapper_attr("action_masks")()


class FlatVector(gymnasium.vector.VectorWrapper):
    """A pacml.VectorEnv with float32 [N, F] for observations, infos["final_obs"] included.

    columns: as Flattener.
    """

    def __init__(self, envs, columns=None):
        super().__init__(envs)
        self.flattener = Flattener(envs.single_observation_space, columns)
        self.layout = self.flattener.layout
        self.single_observation_space = self.flattener.space
        self.observation_space = gymnasium.vector.utils.batch_space(
            self.single_observation_space, envs.num_envs)

    def reset(self, *, seed=None, options=None):
        observations, infos = self.env.reset(seed=seed, options=options)
        return self.flattener(observations), infos

    def step(self, actions):
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        if "final_obs" in infos:
            for i in np.flatnonzero(infos["_final_obs"]):
                infos["final_obs"][i] = self.flattener(infos["final_obs"][i])
        return self.flattener(observations), rewards, terminated, truncated, infos


def as_stable_baselines(envs):
    """A stable_baselines3.common.vec_env.VecEnv that steps `envs`, a VectorEnv or a FlatVector.

    It needs autoreset_mode="SameStep", which is how that library thinks of episodes, and answers
    `env_method("action_masks")`, as MaskablePPO of sb3-contrib asks. Needs stable-baselines3.
    """
    inner = envs.unwrapped
    if not isinstance(inner, VectorEnv):
        raise UserError("as_stable_baselines: takes what pacml.make_vec made")
    if inner.metadata["autoreset_mode"] != gymnasium.vector.AutoresetMode.SAME_STEP:
        raise UserError('as_stable_baselines: needs make_vec(..., autoreset_mode="SameStep")')
    # Who has not that library uses the rest of this module.
    from pacml._stable_baselines import StableBaselinesEnv

    return StableBaselinesEnv(envs)
