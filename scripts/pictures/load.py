"""What more actors bring: `pacml bench load --out` and `pacml bench scaling --out`."""
import re

from pictures import COLOURS, Trouble, from_zero, legend_above, number, plain, short

# What is drawn of each benchmark, where it was measured: figure, axis, least upper end of the axis.
YIELD = "yield"  # what actors are there for: see Load.add()
PANELS = {
    "load": [(YIELD, "decisions learned, or taken in\nby replay shards, a second", 0), ("policy_lag_p50", "lag in updates, median", 4),
             ("most_to_fewest", "decisions of the busiest actor,\nof those of the least busy", 2)],
    "scaling": [("decisions_per_second", "decisions a second", 0), ("efficiency", "decisions per CPU second,\nof those alone", 1)],
}


class Load:
    """The points of one file: for each number of shards by the number of actors."""

    def __init__(self, path, document):
        self.name = path.stem
        self.points = {}  # (benchmark, shards): {actors: figures}
        for entry, figures in document.items():
            found = re.fullmatch(r"(?:load_[a-z_]+_|scaling_)(\d+)_actors(?:_(\d+)_shards)?", entry)
            if found and isinstance(figures, dict):
                self.add("load" if entry.startswith("load") else "scaling", int(found[1]), int(found[2] or 0), figures)
        if not self.points:
            raise Trouble(f"{path} is nothing that `pacml eval --out`, `explain --episode`, `bench load --out` or `bench scaling --out` wrote")

    def add(self, kind, actors, shards, figures):
        # From replay shards a learner draws as fast as it can, however many the actors are.
        # A learner that was there before does not say what it has learned of this.
        learned = None if shards else figures.get("learned_decisions_per_second")
        brought = figures.get("decisions_per_second") if learned is None else learned
        self.points.setdefault((kind, shards), {})[actors] = figures | {YIELD: brought}

    def curves(self, kind, figure):
        """(name, points) for each number of shards."""
        for (of, shards), by_actors in sorted(self.points.items()):
            points = ((actors, number(figures, figure)) for actors, figures in sorted(by_actors.items()))
            points = [(x, y) for x, y in points if y is not None]
            if of == kind and points:
                yield self.name + (f", {shards} shard{'s' if shards > 1 else ''}" if shards else ""), points


def draw(plt, loads, title):
    panels = [(kind, *panel) for kind, of in PANELS.items() for panel in of if any(list(load.curves(kind, panel[0])) for load in loads)]
    if not panels:
        raise Trouble("nothing that can be drawn was measured")
    figure, grid = plt.subplots(len(panels), 1, figsize=(8, 2.4 * len(panels)), layout="constrained", sharex=True, squeeze=False)
    colours = {}
    for axes, (kind, figure_name, label, least) in zip(grid.flat, panels):
        for load in loads:
            for name, points in load.curves(kind, figure_name):
                colour = colours.setdefault(name, COLOURS[len(colours) % len(COLOURS)])
                axes.plot(*zip(*points), marker="o", color=colour, label=name)
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
    if len(colours) > 1:
        legend_above(grid.flat[0])
    figure.suptitle(title or "What more actors bring", fontsize=10)
    return figure
