"""What more actors bring: `pacml bench load --out` and `pacml bench scaling --out`."""
import re

from pictures import COLOURS, Trouble, from_zero, legend_above, number, plain, short

# What is drawn of each benchmark, where it was measured: figure, axis, least upper end of the axis.
PANELS = {
    "load": [("learned_decisions_per_second", "decisions learned a second", 0), ("policy_lag_p50", "lag in updates, median", 4),
             ("most_to_fewest", "decisions of the busiest actor,\nof those of the least busy", 2)],
    "scaling": [("decisions_per_second", "decisions a second", 0), ("efficiency", "decisions per CPU second,\nof those alone", 1)],
}


class Load:
    """The points of one file, by the number of actors."""

    def __init__(self, path, document):
        self.name = path.stem
        self.points = {kind: {} for kind in PANELS}
        for entry, figures in document.items():
            found = re.fullmatch(r"(?:load_[a-z_]+_|scaling_)(\d+)_actors.*", entry)
            if found and isinstance(figures, dict):
                self.points["load" if entry.startswith("load") else "scaling"][int(found[1])] = figures
        if not any(self.points.values()):
            raise Trouble(f"{path} is no report of `pacml bench load --out` or `pacml bench scaling --out`")

    def curve(self, kind, figure):
        points = ((actors, number(figures, figure)) for actors, figures in sorted(self.points[kind].items()))
        return [(x, y) for x, y in points if y is not None]


def draw(plt, loads, title):
    panels = [(kind, *panel) for kind, of in PANELS.items() for panel in of if any(load.curve(kind, panel[0]) for load in loads)]
    if not panels:
        raise Trouble("nothing that can be drawn was measured")
    figure, grid = plt.subplots(len(panels), 1, figsize=(8, 2.4 * len(panels)), layout="constrained", sharex=True, squeeze=False)
    for axes, (kind, name, label, least) in zip(grid.flat, panels):
        for k, load in enumerate(loads):
            points = load.curve(kind, name)
            if points:
                axes.plot(*zip(*points), marker="o", color=COLOURS[k % len(COLOURS)], label=load.name)
        from_zero(axes, least)
        axes.set_ylabel(label)
        axes.yaxis.set_major_formatter(short)
        plain(axes)
    numbers = sorted({actors for load in loads for points in load.points.values() for actors in points})
    last = grid.flat[len(panels) - 1]
    last.set_xscale("log", base=2)
    last.set_xticks(numbers, [str(n) for n in numbers])
    last.minorticks_off()
    last.set_xlabel("actors")
    if len(loads) > 1:
        legend_above(grid.flat[0])
    figure.suptitle(title or "What more actors bring", fontsize=10)
    return figure
