"""Folders of runs, and curves over several of them."""
import json
import pathlib
import re
import sys

from pictures import Trouble, number

POINTS = 200  # of a curve
MOST_GROUPS = 12


def read_metrics(run):
    """The whole lines of a run's metrics; one that is cut or damaged is left out, and told. Where the run went
    on from an earlier checkpoint, what it had told of the decisions behind that is void."""
    lines, broken = [], 0
    try:
        text = (run / "metrics.jsonl").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Trouble(f"{run}/metrics.jsonl cannot be read: {error.strerror}") from error
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            decisions = number(value, "decisions")
            if decisions is not None:
                while lines and (number(lines[-1], "decisions") or 0) > decisions:
                    lines.pop()
            lines.append(value)
        else:
            broken += 1
    if broken:
        print(f"{pathlib.Path(sys.argv[0]).name}: {run}: {broken} lines of metrics.jsonl cannot be read, and are left out", file=sys.stderr)
    return lines


class Run:
    """One run: its objective over its decisions, and the level of the best baseline."""

    def __init__(self, path):
        self.name = path.resolve().name
        try:
            config = (path / "config.yaml").read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise Trouble(f"{path} holds no run: its config.yaml is missing") from error
        # What makes runs comparable: everything but the seed, and what is said of the file itself.
        self.settings = "\n".join(l for l in config.splitlines() if not re.match(r"seed:|#", l))
        lines = read_metrics(path)
        told = [l for l in lines if isinstance(l.get("evaluation"), dict)]
        if not told:
            raise Trouble(f"{path}: nothing has been measured yet")
        last = told[-1]["evaluation"]
        self.objective = last.get("objective", "objective")
        self.better = last.get("better", "lower")
        self.baseline = (last.get("baseline") or {}).get("name")
        self.level = number(last, "baseline", "score")
        self.lines = lines
        self.lately = self.curve(lines, "episode", self.objective)
        self.held_out = self.curve(lines, "evaluation", "score")
        if not self.lately and not self.held_out:
            raise Trouble(f"{path}: no episode has ended yet")

    @staticmethod
    def curve(lines, *path):
        points = ((number(l, "decisions"), number(l, *path)) for l in lines)
        return sorted((x, y) for x, y in points if x is not None and y is not None)


def groups_of(runs):
    """Runs that differ by their seed alone, under a name each."""
    groups = {}
    for run in runs:
        groups.setdefault(run.settings, []).append(run)
    if len(groups) > MOST_GROUPS:
        raise Trouble(f"{len(groups)} different settings are more than a picture shows; at most {MOST_GROUPS}")
    named = []
    for members in groups.values():
        name = members[0].name
        if len(members) > 1:
            # What their names begin with, less the digits of a seed.
            shared = name
            for run in members[1:]:
                shared = shared[: next((i for i, (a, b) in enumerate(zip(shared, run.name)) if a != b), min(len(shared), len(run.name)))]
            name = f"{shared.rstrip('0123456789-_.') or name} ({len(members)} seeds)"
        named.append((name, members))
    return named


def at(curve, x):
    """The curve's value at x, between its points; None outside."""
    if not curve or x < curve[0][0] or x > curve[-1][0]:
        return None
    for (x0, y0), (x1, y1) in zip(curve, curve[1:]):
        if x <= x1:
            return y0 if x1 == x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return curve[-1][1]


def band(curves):
    """Where all curves are: x, mean, least, most."""
    curves = [c for c in curves if c]
    begin, end = max(c[0][0] for c in curves), min(c[-1][0] for c in curves)
    if begin > end:
        return []
    grid = [begin + (end - begin) * i / (POINTS - 1) for i in range(POINTS)] if end > begin else [begin]
    rows = []
    for x in grid:
        values = [v for v in (at(c, x) for c in curves) if v is not None]
        if values:
            rows.append((x, sum(values) / len(values), min(values), max(values)))
    return rows
