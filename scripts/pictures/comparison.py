"""Policies beside each other: bars with 95 % intervals, a panel for each file of `pacml eval --out`."""
import math
import pathlib

from pictures import COLOURS, Trouble, spaced


class Comparison:
    def __init__(self, path, document):
        self.name = path.stem
        try:
            self.objective = document["objective"]
            rows = [(p["name"], p[self.objective]["mean"], p[self.objective].get("ci95"), is_learned(p)) for p in document["policies"]]
        except (KeyError, TypeError) as error:
            raise Trouble(f"{path} is no comparison that `pacml eval --out` wrote") from error
        self.rows = [(n, m, c or 0.0, learned) for n, m, c, learned in rows if m is not None]
        if not self.rows:
            raise Trouble(f"{path}: no policy has a value of {self.objective}")


def is_learned(policy):
    """As the file says; older ones leave it to the name of whose policy it is, which may be searched from."""
    whose = policy["name"].partition("+")[0]
    return policy.get("learned", "/" in whose or whose.endswith(".safetensors") or pathlib.Path(whose).is_dir())


def shown(names):
    """Of a run's folder its own name, where that tells the policies apart."""
    short = [pathlib.PurePath(name).name for name in names]
    return short if len(set(short)) == len(set(names)) else names


def draw(plt, comparisons, title):
    columns = min(len(comparisons), 2)
    rows = math.ceil(len(comparisons) / columns)
    bars = max(len(c.rows) for c in comparisons)
    figure, grid = plt.subplots(rows, columns, figsize=(5.2 * columns, rows * (1.1 + 0.34 * bars)), layout="constrained", squeeze=False)
    for axes in grid.flat[len(comparisons) :]:
        axes.set_visible(False)
    for axes, comparison in zip(grid.flat, comparisons):
        ordered = sorted(comparison.rows, key=lambda row: row[1], reverse=True)
        names, means, intervals, learned = zip(*ordered)
        axes.barh(range(len(ordered)), means, xerr=intervals, color=[COLOURS[0] if own else "#9aa4ae" for own in learned],
                  height=0.72, error_kw={"elinewidth": 1, "capsize": 2})
        axes.set_yticks(range(len(ordered)), shown(names), fontsize=9)
        right = max(mean + interval for mean, interval in zip(means, intervals))
        for y, (mean, interval) in enumerate(zip(means, intervals)):
            axes.annotate(f"{mean:.4g}", (mean + interval, y), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
        axes.margins(x=0.14)
        if right <= 0:
            axes.invert_xaxis()
        axes.set_xlabel(spaced(comparison.objective))
        axes.set_title(comparison.name, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    if title:
        figure.suptitle(title)
    return figure
