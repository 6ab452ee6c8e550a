"""Runs environments that are written in Python, for env/tasks/python/python_process.h.

Requests come as JSON, one a line, over the stream `channel`, which is there already; each is
answered by one line: {"ok": ...}, or {"error": "a sentence"}. What a task prints goes to stderr, as
do the tracebacks of what it raises.
"""

import copy
import importlib
import importlib.util
import json
import math
import operator
import os
import pathlib
import signal
import sys
import threading
import time
import traceback


class Unfit(Exception):
    """What a task says of itself or shows cannot be: told as a sentence, without a traceback."""


def end_all():
    """Ends this process and what it has started, which is of its group."""
    os.killpg(0, signal.SIGKILL)


def end_with(parent):
    """Ends this process soon after its parent, also out of code that never returns."""
    while os.getppid() == parent:
        time.sleep(0.5)
    end_all()


def load(file, module):
    if not file:
        return importlib.import_module(module)
    path = pathlib.Path(file).resolve()
    if not path.is_file():
        raise Unfit(f"there is no file {file}")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def meant(text):
    """A setting as JSON reads it, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def plain(values):
    """NumPy's arrays and numbers as Python's own."""
    return values.tolist() if hasattr(values, "tolist") else values


def numbers(values, what):
    flat = []

    def add(value):
        value = plain(value)
        if isinstance(value, (list, tuple)):
            for inner in value:
                add(inner)
            return
        value = float(value)
        if not math.isfinite(value):
            raise Unfit(f"{what} hold a number that is not finite")
        flat.append(value)

    add(values)
    return flat


def number(value, what):
    flat = numbers(value, what)
    if len(flat) != 1:
        raise Unfit(f"{what} are single numbers, not {len(flat)}")
    return flat[0]


def whole(value, what):
    value = plain(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        return operator.index(value)
    except TypeError:
        raise Unfit(f"{what} are whole numbers, not {value!r}") from None


def truth(value, what):
    """Whether: what Python itself takes for true, a text say, may be meant otherwise."""
    value = plain(value)
    if value not in (0, 1):
        raise Unfit(f"{what} true or false, 1 or 0, not {value!r}")
    return bool(value)


def attribute(env, name):
    """An attribute of an environment, or of the one that Gymnasium's wrappers are around."""
    found = getattr(env, name, None)
    return getattr(getattr(env, "unwrapped", None), name, None) if found is None else found


def count(env, name, what):
    """How many an attribute says; None where it does not. Environments of Gymnasium, which have spaces,
    may call other things by the same name."""
    given = attribute(env, name)
    if given is None:
        return None
    try:
        return operator.index(given)
    except TypeError:
        if getattr(env, "action_space", None) is not None:
            return None
        raise Unfit(f"{name} are {what}, a whole number, not {given}") from None


def named(given, **defaults):
    """A feature or a metric: a name alone, or a mapping."""
    given = {"name": given} if isinstance(given, str) else dict(given)
    unknown = set(given) - {"name"} - set(defaults)
    if unknown or not isinstance(given.get("name"), str):
        raise Unfit(f"{given} is no name and no mapping of name, {', '.join(defaults)}")
    return {**defaults, **given}


def feature(given):
    made = named(given, unit="1", low=None, high=None)
    for bound in ("low", "high"):  # null: there is none
        if made[bound] is not None:
            value = float(plain(made[bound]))
            made[bound] = value if math.isfinite(value) else None
    return made


class Shown:
    """What a task's observations are, and how each becomes what pacml reads."""

    def __init__(self, env):
        agents = count(env, "agents", "how many decide in turns")
        self.agents = 1 if agents is None else agents
        if self.agents < 1:
            raise Unfit(f"agents are how many decide in turns, a whole number, not {agents}")
        self.choices = 0  # of a Discrete observation space, which is shown one-hot
        self.globals = self._globals(env)
        self.candidates = self._candidates(env)

    def _globals(self, env):
        given = attribute(env, "globals")
        if given is not None:
            return [feature(each) for each in given]
        space = getattr(env, "observation_space", None)
        if space is None:
            return []
        if type(space).__name__ == "Dict":
            space = space.spaces.get("globals")
            if space is None:
                return []
        if type(space).__name__ == "Discrete":
            self.choices = int(space.n)
            self.first = int(getattr(space, "start", 0))
            return [feature({"name": f"is_{i}", "low": 0, "high": 1}) for i in range(self.choices)]
        if type(space).__name__ != "Box":
            raise Unfit(
                f"observations of {type(space).__name__} are not read: numbers are (Box, Discrete),"
                " or a mapping of globals, candidates and mask"
            )
        bounds = zip(flat(space.low), flat(space.high))
        return [feature({"name": f"x{i}", "low": a, "high": b}) for i, (a, b) in enumerate(bounds)]

    def _candidates(self, env):
        given = attribute(env, "candidates")
        if given is not None:
            unknown = set(given) - {"most", "features", "vary"}
            if unknown or "most" not in given:
                raise Unfit("candidates are a mapping of most, features and vary")
            return {
                "most": whole(given["most"], "numbers of candidates"),
                "features": [feature(each) for each in given.get("features", [])],
                "vary": truth(given.get("vary", False), "whether candidates vary is"),
            }
        actions = count(env, "actions", "how many there are to choose from")
        if actions is None:
            space = getattr(env, "action_space", None)
            if space is None:
                raise Unfit("it has neither actions nor candidates nor an action_space")
            if type(space).__name__ != "Discrete" or int(getattr(space, "start", 0)) != 0:
                raise Unfit(f"actions of {space} are not chosen from: Discrete ones from 0 on are")
            actions = space.n
        return {"most": int(actions), "features": [], "vary": False}

    def describe(self):
        return {"agents": self.agents, "globals": self.globals, "candidates": self.candidates}

    def read(self, observation, info):
        candidates, mask = [], None
        if isinstance(observation, dict):
            values = observation.get("globals", [])
            candidates = plain(observation.get("candidates", []))
            mask = observation.get("mask")
        elif self.choices:
            chosen = whole(observation, "observations of a Discrete space") - self.first
            if not 0 <= chosen < self.choices:
                raise Unfit(f"an observation of {observation}, which its Discrete space does not hold")
            values = [0.0] * self.choices
            values[chosen] = 1.0
        else:
            values = observation
        if mask is None:
            mask = info.get("action_mask")
        return {
            "globals": numbers(values, "globals"),
            "candidates": [numbers(each, "candidates") for each in candidates],
            "mask": None if mask is None else [int(truth(each, "masks are")) for each in plain(mask)],
            "agent": whole(info.get("agent", 0), "agents"),
        }


def flat(bounds):
    """The bounds of a Box, without refusing infinite ones."""
    return [float(each) for each in bounds.reshape(-1)]


def in_turns(env):
    """One of PettingZoo's environments as pacml asks for them; another one as it is."""
    if not hasattr(env, "possible_agents"):
        return env
    if not callable(getattr(env, "agent_iter", None)):  # its agents decide at the same time
        env = importlib.import_module("pettingzoo.utils.conversions").parallel_to_aec(env)
    return Turns(env)


def same_for_all(env, space_of, what):
    """The space that every agent has; of a mapping with an action mask, that of the observation."""
    spaces = [space_of(name) for name in env.possible_agents]
    if any(space != spaces[0] for space in spaces):
        raise Unfit(f"its agents have different {what}; pettingzoo's and SuperSuit's wrappers pad")
    space = spaces[0]
    return space.spaces["observation"] if type(space).__name__ == "Dict" else space


class Turns:
    """One of PettingZoo's environments whose agents decide in turns (AEC), as pacml asks for it."""

    def __init__(self, env):
        self.env = env
        self.names = list(env.possible_agents)
        self.agents = len(self.names)
        self.observation_space = same_for_all(env, env.observation_space, "observations")
        self.action_space = same_for_all(env, env.action_space, "actions")

    def reset(self, *, seed):
        self.env.reset(seed=seed)
        self.last = {}  # of agents that are out, and of all at the end
        self.left = set()  # those of them that are out by themselves, not cut off
        return self._see(self.env.agent_selection)

    def step(self, action):
        decided = self.env.agent_selection
        self.env.step(action)
        rewards = {self.names.index(name): float(got) for name, got in self.env.rewards.items()}
        over = all(self._is_out(name) for name in self.env.agents)
        self.left.update(name for name, left in self.env.terminations.items() if left)
        truncated = over and len(self.left) < len(self.names)
        self.last.update({name: self._see(name) for name in self.env.agents if self._is_out(name)})
        if over:
            observation, info = self.last.get(decided, ([], {}))
        else:
            while self._is_out(self.env.agent_selection):
                self.env.step(None)  # who is out leaves
            observation, info = self._see(self.env.agent_selection)
        info["rewards"] = rewards
        if truncated:
            info["left"] = [self.names.index(name) for name in self.left]
        reward = rewards.pop(self.names.index(decided), 0.0)
        return observation, reward, over and not truncated, truncated, info

    def observe_last(self, agent):
        return self.last[self.names[agent]]

    def _is_out(self, name):
        return self.env.terminations[name] or self.env.truncations[name]

    def _see(self, name):
        observation = self.env.observe(name)
        info = {**self.env.infos.get(name, {}), "agent": self.names.index(name)}
        if isinstance(observation, dict):
            info["action_mask"] = observation.get("action_mask", info.get("action_mask"))
            observation = observation["observation"]
        return observation, info


class Episode:
    """An environment, and what its episode has come to."""

    def __init__(self, env):
        self.env = env
        self.total = 0.0


class Host:
    def __init__(self):
        self.make = None
        self.settings = {}
        self.shown = None
        self.metrics = []
        self.episodes = {}

    def serve(self, request):
        for gone in request.pop("dropped", []):
            self.episodes.pop(gone, None)
        return getattr(self, "do_" + request.pop("do"))(**request)

    def do_start(self, file, module, make, settings):
        loaded = load(file, module)
        self.make = getattr(loaded, make, None)
        if not callable(self.make):
            raise Unfit(f"{file or module} defines nothing to call of the name {make}")
        self.settings = {key: meant(text) for key, text in settings.items()}
        env = self.new()
        self.shown = Shown(env)
        for method in ("reset", "step"):
            if not callable(getattr(env, method, None)):
                raise Unfit(f"{type(env).__name__} has no method {method}")
        given = attribute(env, "metrics") or [{"name": "return", "better": "higher"}]
        self.metrics = [named(each, unit="1", better="neither", decimals=3) for each in given]
        for metric in self.metrics:
            metric["decimals"] = whole(metric["decimals"], "decimals")
        baselines = attribute(env, "baselines") or {}
        return {
            **self.shown.describe(),
            "metrics": self.metrics,
            "baselines": [{"name": name, "about": about(act)} for name, act in baselines.items()],
            "sources": self.sources(loaded),
        }

    def sources(self, loaded):
        """The files of what was named and of what defines it: whoever edits them has another task."""
        defines = sys.modules.get(getattr(self.make, "__module__", None))
        files = [getattr(each, "__file__", None) for each in (loaded, defines)]
        return [file.encode(errors="replace").decode() for file in files if file]

    def new(self):
        return in_turns(self.make(**self.settings))

    def do_reset(self, env, seed):
        if env not in self.episodes:
            self.episodes[env] = Episode(self.new())
        episode = self.episodes[env]
        episode.total = 0.0
        observation, info = episode.env.reset(seed=seed)
        return self.shown.read(observation, info)

    def do_step(self, env, action):
        episode = self.episodes[env]
        observation, reward, terminated, truncated, info = episode.env.step(action)
        reward = number(reward, "rewards")
        others = [
            [whole(agent, "agents"), number(got, "rewards")]
            for agent, got in dict(info.get("rewards", {})).items()
        ]
        episode.total += reward + sum(got for _, got in others)
        terminated, truncated = (
            truth(each, "what step returns third and fourth are") for each in (terminated, truncated))
        shown = {} if terminated else self.shown.read(observation, info)
        return {
            **shown,
            "reward": reward,
            "rewards": others,
            "terminated": terminated,
            "truncated": truncated,
            "left": [whole(agent, "agents") for agent in info.get("left", [])],
            "elapsed": number(info.get("elapsed", 1.0), "elapsed times"),
        }

    def do_last(self, env, agent):
        last = attribute(self.episodes[env].env, "observe_last")
        if not callable(last):
            raise Unfit("it has several agents and an episode that is cut off, but no method observe_last(agent)")
        observation, info = last(agent)
        return {**self.shown.read(observation, info), "agent": agent}

    def do_clone(self, env, clone):
        episode = self.episodes[env]
        made = Episode(copy.deepcopy(episode.env))
        made.total = episode.total
        self.episodes[clone] = made

    def do_resample(self, env, seed):
        resample = attribute(self.episodes[env].env, "resample_future")
        if resample is None:
            return False
        drawn = resample(seed)
        return drawn is None or truth(drawn, "what resample_future returns is")

    def do_summary(self, env):
        episode = self.episodes[env]
        summary = attribute(episode.env, "summary")
        values = dict(summary()) if callable(summary) else {}
        values.setdefault("return", episode.total)
        missing = [each["name"] for each in self.metrics if each["name"] not in values]
        if missing:
            raise Unfit(f"summary() lacks {missing[0]}, which metrics name")
        return [number(values[each["name"]], "metrics") for each in self.metrics]

    def do_describe(self, env, action):
        describe = attribute(self.episodes[env].env, "describe")
        return str(describe(action)) if callable(describe) else f"action {action}"

    def do_act(self, env, name):
        env = self.episodes[env].env
        if getattr(env, "baselines", None) is None:
            env = env.unwrapped
        return whole(env.baselines[name](env), "actions")


def about(act):
    lines = (act.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""


def answer(host, request):
    """One line. What JSON does not have is a fault of the task's, too, and so is that it would end."""
    try:
        return json.dumps({"ok": host.serve(request)}, allow_nan=False, ensure_ascii=False)
    except Unfit as problem:
        said = str(problem)
    except (Exception, SystemExit) as problem:
        said = f"{type(problem).__name__}: {problem}"
        traceback.print_exc()
    return json.dumps({"error": " ".join(said.split())}, ensure_ascii=False)


def main():
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    host = Host()
    for line in channel:  # noqa: F821
        # Names of files need not be text: what of them is none becomes question marks.
        said = answer(host, json.loads(line)).encode(errors="replace")
        channel.write(said + b"\n")  # noqa: F821
        channel.flush()  # noqa: F821
    end_all()


main()
