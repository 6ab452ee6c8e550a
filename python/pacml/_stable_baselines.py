"""The adapter behind wrappers.as_stable_baselines: the one module that needs stable-baselines3."""

import copy

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv


class StableBaselinesEnv(VecEnv):
    """A vector environment of pacml, whose episodes begin anew in the step that ends them."""

    def __init__(self, envs):
        self.envs = envs
        self._actions = None
        self._mask = None
        # Flat observations are new ones anyway.
        is_flat = not isinstance(envs.single_observation_space, spaces.Dict)
        self._are_views = not (envs.unwrapped._copy or is_flat)
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self):
        # VecEnv.seed() says what the next episodes are seeded with: None goes on.
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        observations, infos = self.envs.reset(seed=seeds)
        self._mask = infos["action_mask"]
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        return self._to_keep(observations)

    def step_async(self, actions):
        self._actions = actions

    def step_wait(self):
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        self._mask = infos["action_mask"]
        over = terminated | truncated
        told = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(over):
            told[i]["terminal_observation"] = infos["final_obs"][i]
            told[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
            told[i]["episode"] = {name: float(v[i]) for name, v in infos["episode"].items()}
        return self._to_keep(observations), rewards.astype(np.float32), over, told

    def _to_keep(self, observations):
        """Algorithms store an observation after the next step, which overwrites views."""
        return copy.deepcopy(observations) if self._are_views else observations

    def action_masks(self):
        """bool [N, A], what may be taken now."""
        return self._mask.astype(bool)

    def close(self):
        self.envs.close()

    def get_attr(self, attr_name, indices=None):
        value = getattr(self.envs, attr_name)
        return [value for _ in self._get_indices(indices)]

    def has_attr(self, attr_name):
        return attr_name == "action_masks" or hasattr(self.envs, attr_name)

    def set_attr(self, attr_name, value, indices=None):
        raise AttributeError(f"{attr_name}: these environments are one object and share attributes")

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        if method_name != "action_masks":
            raise AttributeError(f"{method_name}: only action_masks can be asked of these")
        masks = self.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False for _ in self._get_indices(indices)]
