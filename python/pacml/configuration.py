"""A configuration, as people have it, into a task."""

import collections.abc
import copy
import json
import math
import os

from pacml import _core


def _text(value):
    """As YAML, which is JSON but for infinite numbers. Paths are texts, and NumPy's numbers and
    arrays what they hold."""
    if isinstance(value, collections.abc.Mapping):
        entries = (f"{json.dumps(str(k), ensure_ascii=False)}: {_text(v)}" for k, v in value.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, os.PathLike):
        return _text(os.fspath(value))
    if hasattr(value, "tolist"):
        return _text(value.tolist())
    if isinstance(value, float) and math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    if value is None or isinstance(value, (bool, int, float, str)):
        return json.dumps(value, ensure_ascii=False)
    raise _core.UserError(f"the configuration: {value!r} is no number, text, list or mapping")


def load_task(config=None, task=None, overrides=(), profiles=""):
    """The task of a configuration.

    config: a YAML file as `pacml train` reads it, a mapping with the same keys, or None for the
    defaults. task: its name; a configuration of another one is refused. overrides: as `--set`,
    "env.cluster.max_simulation_time=1e6". profiles: a folder of job graphs.
    """
    if isinstance(overrides, str):
        overrides = [overrides]
    overrides = [str(override) for override in overrides]
    profiles = os.fspath(profiles)
    if config is None:
        if task is not None:
            overrides.insert(0, f"env.task={task}")
        config = {}
    if isinstance(config, collections.abc.Mapping):
        config = copy.deepcopy(dict(config))
        if task is not None and isinstance(config.setdefault("env", {}), dict):
            config["env"].setdefault("task", task)
        made = _core.Task.from_text(_text(config), overrides, profiles)
    else:
        made = _core.Task.from_file(os.fspath(config), overrides, profiles)
    if task is not None and made.name != task:
        raise _core.UserError(f"the configuration is about the task {made.name}, not {task}")
    return made
