"""Tasks as environments of Gymnasium.

An observation is a dictionary of arrays of fixed shapes, in a `gymnasium.spaces.Dict`; what a task
does not show is not there:

    mask             int8 [A]        1 where the action may be taken
    globals          float32 [G]     what describes the decision as a whole
    candidates       float32 [A, W]  what is sent of each action
    candidate_nodes  int64 [A]       the node that each action is
    derived          float32 [A, V]  what pacml's networks read of each action
    situation        float32 [S]     ... and of the decision as a whole
    SLOT_graph       int64           which of `graphs` the slot shows
    SLOT_nodes       float32 [M, D]  features of its nodes that change, zeroes behind the last node
    SLOT_focus       int64           the node that the decision is about

Graphs themselves never change: `env.graphs[i]` is {"name", "nodes" [nodes, features], "edges"
[2, edges] (from, to), "edge_features" [edges, features]}, and an observation has their index.
`env.features[key]` has the names of a key's last axis, where they are known.
"""

import operator

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from pacml import _core
from pacml.configuration import load_task

_AUTORESET = {
    AutoresetMode.NEXT_STEP: _core.Autoreset.NEXT_STEP,
    AutoresetMode.SAME_STEP: _core.Autoreset.SAME_STEP,
    AutoresetMode.DISABLED: _core.Autoreset.DISABLED,
}


def _space_of(column):
    shape = tuple(column["shape"])
    if column["name"] == "mask":
        return spaces.MultiBinary(shape[0])
    if column["dtype"] == np.int64:
        if not shape:
            return spaces.Discrete(column["values"])
        return spaces.MultiDiscrete(np.full(shape, column["values"]))
    low = np.full(shape, -np.inf, np.float32)
    high = np.full(shape, np.inf, np.float32)
    if column["low"]:
        low[...], high[...] = column["low"], column["high"]
    return spaces.Box(low, high, dtype=np.float32)


def observation_space_of(layout):
    """The space of one observation, as the core describes its columns."""
    return spaces.Dict({column["name"]: _space_of(column) for column in layout})


class _Batch:
    """What a vector environment and a single one have in common."""

    def __init__(self, task, size, autoreset, derived, strict):
        self.task = task
        self.core = _core.EnvBatch(task, size, autoreset, derived, strict)
        self.layout = self.core.layout
        self.features = {c["name"]: tuple(c["features"]) for c in self.layout if c["features"]}
        self.observations = self.core.observations()
        self.final_observations = self.core.final_observations()
        (self.rewards, self.terminated, self.truncated,
         self.elapsed, self.replaced, self.over) = self.core.results()
        # Bound once: looking methods up takes as long as copying a short array.
        self.copies = [(name, view.copy) for name, view in self.observations.items()]


class VectorEnv(gymnasium.vector.VectorEnv):
    """N environments of a task, stepped together in C++ with the GIL released.

    Observations are arrays [N, ...]. With copy=False they, rewards and flags are views of the
    environments' own memory, which the next call of reset() or step() overwrites.

    infos of reset() and step():
        action_mask  int8 [N, A], the observations' mask
    of step(), besides:
        elapsed      float32 [N], how long the step took in the task's unit of discounting: what
                     follows is worth gamma ** elapsed; 0 where an episode began instead
        replaced     bool [N], where a masked action was replaced by the first allowed one
        episode      where any ended: {"r": return, "l": decisions, metric: ...}, each [N], with
                     _episode saying which entries count, as Gymnasium's RecordEpisodeStatistics
        final_obs    of AutoresetMode.SAME_STEP, where any ended: object [N] of observations, and
                     _final_obs. Of an episode that terminated: what its last decision was about,
                     as nobody asks for the value of what is over
        final_info   the same of infos: {"episode", "_episode"}, and _final_info

    Episode e of environment i depends on its seed and e alone: reset(seed=s) gives environment i
    seed s + i. Without a seed, streams of episodes go on; the first ones are drawn at random.
    Thread-confined; several can be stepped by several threads. After UserError of an environment
    (one in Python may fail) all have to be reset, which makes them anew. close() lets go of the
    environments.
    """

    def __init__(self, task, num_envs, autoreset_mode=AutoresetMode.NEXT_STEP, copy=True,
                 derived=True, masked="replace"):
        autoreset_mode = AutoresetMode(autoreset_mode)
        self._batch = _Batch(task, _count_of(num_envs), _AUTORESET[autoreset_mode], derived,
                             _is_strict(masked))
        self.metadata = {"render_modes": [], "autoreset_mode": autoreset_mode}
        self.num_envs = num_envs
        self.single_observation_space = observation_space_of(self._batch.layout)
        self.single_action_space = spaces.Discrete(task.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.render_mode = None
        self.graphs = task.graphs
        self.features = self._batch.features
        self._copy = copy
        self._seeded = False
        self._rng = None
        self._everybody = np.ones(num_envs, bool)

    def reset(self, *, seed=None, options=None):
        """Starts an episode in every environment, or where options["reset_mask"] (bool [N]) is set.

        seed: a number, or one (or None) for each environment. options["episode_seeds"]: one (or
        None) for each environment; its episode is that of this very seed, as held_out_seeds() and
        evaluate() have them, rather than the next one of its stream. Returns (observations,
        infos).
        """
        which = self._everybody
        if options and options.get("reset_mask") is not None:
            which = np.asarray(options["reset_mask"], bool)
            if which.shape != (self.num_envs,) or not which.any():
                raise _core.UserError(f"reset_mask: must be bool [{self.num_envs}] with one set")
        self._seed(seed, which)
        self._set_episodes((options or {}).get("episode_seeds"), which)
        self._batch.core.reset(which)
        observations = self._observations()
        return observations, {"action_mask": observations["mask"]}

    def _set_episodes(self, seeds, which):
        if seeds is None:
            return
        seeds = list(seeds)
        if len(seeds) != self.num_envs:
            raise _core.UserError(f"episode_seeds: must be {self.num_envs} seeds, or None each")
        known = [None if seed is None else _seed_of(seed) for seed in seeds]
        for i in np.flatnonzero(which):
            if known[i] is not None:
                self._batch.core.set_episode(i, known[i])

    def _seed(self, seed, which):
        if seed is None and self._seeded:
            return
        if seed is None:
            seed = _drawn_seed()
        if isinstance(seed, (int, np.integer)):
            first = _seed_of(seed)
            self._np_random, self._np_random_seed = seeding.np_random(first)
            seeds = [_seed_of(first + i) for i in range(self.num_envs)]
        else:
            given = None if isinstance(seed, str) or not hasattr(seed, "__iter__") else list(seed)
            if given is None or len(given) != self.num_envs:
                raise _core.UserError(f"seed: must be a number, or {self.num_envs} of them")
            seeds = [None if own is None else _seed_of(own) for own in given]
        first = next((own for own in seeds if own is not None), None)
        if not self._seeded:  # the first time every environment has one, whoever is reset
            drawn = _drawn_seed()
            seeds = [drawn + i if own is None else own for i, own in enumerate(seeds)]
        for i, own in enumerate(seeds):
            if own is not None and (which[i] or not self._seeded):
                self._batch.core.seed(i, own)
        if first is not None or not self._seeded:
            self._rng = _core.Rng(seeds[0] if first is None else first)
        self._seeded = True

    def step(self, actions):
        """Takes int [N]. Returns (observations, rewards float64 [N], terminated bool [N],
        truncated bool [N], infos)."""
        batch = self._batch
        any_over = batch.core.step(actions)
        observations = self._observations()
        if self._copy:
            rewards, terminated, truncated = (
                batch.rewards.copy(), batch.terminated.copy(), batch.truncated.copy())
            infos = {"action_mask": observations["mask"], "elapsed": batch.elapsed.copy(),
                     "replaced": batch.replaced.copy()}
        else:
            rewards, terminated, truncated = batch.rewards, batch.terminated, batch.truncated
            infos = {"action_mask": observations["mask"], "elapsed": batch.elapsed,
                     "replaced": batch.replaced}
        if any_over:
            over = batch.over.copy()
            infos["episode"], infos["_episode"] = batch.core.episodes(), over
            if batch.final_observations:
                finals = np.full(self.num_envs, None, dtype=object)
                for i in np.flatnonzero(over):
                    finals[i] = _row(batch.final_observations, i)
                infos["final_obs"], infos["_final_obs"] = finals, over
                infos["final_info"] = {"episode": infos["episode"], "_episode": over}
                infos["_final_info"] = over
        return observations, rewards, terminated, truncated, infos

    def sample_actions(self):
        """Allowed actions of the current decisions, all equally likely: int64 [N]."""
        if self._rng is None:
            raise _core.UserError("there are no decisions yet: call reset first")
        return self._batch.core.sample_actions(self._rng)

    def _observations(self):
        if self._copy:
            return {name: copy() for name, copy in self._batch.copies}
        return dict(self._batch.observations)

    def render(self):
        """Nothing: `pacml dashboard` and `pacml explain` show what a decision looks like."""

    def close_extras(self, **kwargs):
        """Lets go of the environments. Views of their memory stay valid, and keep it."""
        self._batch = _Closed()


class Env(gymnasium.Env):
    """One environment of a task: a row of VectorEnv, with observations of its own.

    info has "action_mask" int8 [A]; after a step "elapsed" and "replaced"; at the end of an episode
    "episode", {"r": return, "l": decisions, metric: ...}.
    """

    metadata = {"render_modes": []}

    def __init__(self, task, derived=True, masked="replace"):
        self._batch = _Batch(task, 1, _core.Autoreset.DISABLED, derived, _is_strict(masked))
        self.observation_space = observation_space_of(self._batch.layout)
        self.action_space = spaces.Discrete(task.num_actions)
        self.render_mode = None
        self.graphs = task.graphs
        self.features = self._batch.features
        self._seeded = False
        self._all = np.ones(1, bool)

    def reset(self, *, seed=None, options=None):
        """Starts an episode. With a seed, the first one of that seed's stream; with
        options["episode_seed"], the episode of this very seed, as held_out_seeds() and evaluate()
        have them; else the stream's next one. Returns (observation, info)."""
        seed = None if seed is None else _seed_of(seed)
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            own = seed if seed is not None else int(self.np_random.integers(2**63))
            self._batch.core.seed(0, own)
            self._seeded = True
        episode = (options or {}).get("episode_seed")
        if episode is not None:
            self._batch.core.set_episode(0, _seed_of(episode))
        self._batch.core.reset(self._all)
        observation = _row(self._batch.observations, 0)
        return observation, {"action_mask": observation["mask"]}

    def step(self, action):
        """Returns (observation, reward, terminated, truncated, info)."""
        batch = self._batch
        batch.core.step(np.asarray(action).reshape(1))
        observation = _row(batch.observations, 0)
        info = {"action_mask": observation["mask"], "elapsed": float(batch.elapsed[0]),
                "replaced": bool(batch.replaced[0])}
        if batch.over[0]:
            info["episode"] = {name: float(v[0]) for name, v in batch.core.episodes().items()}
        return (observation, float(batch.rewards[0]), bool(batch.terminated[0]),
                bool(batch.truncated[0]), info)

    def action_masks(self):
        """bool [A], what may be taken now: the name by which sb3-contrib's MaskablePPO asks."""
        return self._batch.observations["mask"][0].astype(bool)

    def close(self):
        """Lets go of the environment."""
        self._batch = _Closed()


def _row(columns, i):
    return {name: a[i].copy() for name, a in columns.items()}


class _Closed:
    """What is left of environments that are closed."""

    def __getattr__(self, name):
        raise _core.UserError("these environments are closed")


def _drawn_seed():
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 2


def _seed_of(seed):
    try:
        seed = operator.index(seed)
    except TypeError:
        raise _core.UserError(f"seed: must be a whole number, and is {seed!r}") from None
    if not 0 <= seed < 2**64:
        raise _core.UserError(f"seed: {seed} is not in 0..2^64-1")
    return seed


def _count_of(num_envs):
    is_count = isinstance(num_envs, (int, np.integer)) and not isinstance(num_envs, bool)
    if not is_count or num_envs < 1:
        raise _core.UserError(f"num_envs: must be at least 1, and is {num_envs}")
    return int(num_envs)


def _is_strict(masked):
    if masked not in ("replace", "error"):
        raise _core.UserError(f'masked: must be "replace" or "error", and is {masked!r}')
    return masked == "error"


def _refuse_rendering(mode):
    if mode is not None:
        raise _core.UserError(
            "render_mode: there is none; `pacml explain` shows what a decision looks like")


def make(task, config=None, *, overrides=(), profiles="", derived=True, masked="replace",
         render_mode=None):
    """One environment of a task, by name.

    config, overrides, profiles: as configuration.load_task. derived: whether observations have what
    is derived of the actions; it costs time. masked: what becomes of an action that the mask
    forbids: "replace" by the first allowed one, or "error".
    """
    _refuse_rendering(render_mode)
    return Env(load_task(config, task, overrides, profiles), derived, masked)


def make_vec(task, config=None, num_envs=1, *, autoreset_mode=AutoresetMode.NEXT_STEP, copy=True,
             overrides=(), profiles="", derived=True, masked="replace", render_mode=None):
    """`num_envs` environments of a task, as a VectorEnv; as make()."""
    _refuse_rendering(render_mode)
    made = load_task(config, task, overrides, profiles)
    return VectorEnv(made, num_envs, autoreset_mode, copy, derived, masked)
