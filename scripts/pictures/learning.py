"""Learning curves: the objective over decisions, with a band over seeds, and the best baseline's level."""
from pictures import COLOURS, Trouble, plain, short, spaced
from pictures.runs import band, groups_of


def draw(plt, runs, title):
    objectives = {(run.objective, run.better) for run in runs}
    if len(objectives) > 1:
        raise Trouble("these runs have different objectives: " + ", ".join(sorted(o for o, _ in objectives)))
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    seen = []
    for k, (name, members) in enumerate(groups_of(runs)):
        colour = COLOURS[k % len(COLOURS)]
        lately = band([run.lately for run in members]) if any(run.lately for run in members) else []
        held = band([run.held_out for run in members]) if any(run.held_out for run in members) else []
        if held:
            xs, means, least, most = zip(*held)
            axes.plot(xs, means, color=colour, linewidth=2, label=name)
            axes.fill_between(xs, least, most, color=colour, alpha=0.2, linewidth=0)
            seen += list(least) + list(most)
        if lately:
            xs, means, least, most = zip(*lately)
            axes.plot(xs, means, color=colour, linewidth=0.8, alpha=0.6, label=None if held else name)
            if not held:
                axes.fill_between(xs, least, most, color=colour, alpha=0.2, linewidth=0)
            # What happened in the first moments would hide the rest.
            late = lately[len(lately) // 4 :]
            seen += [row[1] for row in late]
        levels = [run.level for run in members if run.level is not None]
        if levels:
            level = sum(levels) / len(levels)
            names = sorted({run.baseline for run in members if run.baseline})
            axes.axhline(level, color=colour, linestyle="--", linewidth=1.2)
            axes.annotate(f"{' / '.join(names)} {level:.4g}", (1, level), xycoords=("axes fraction", "data"),
                          xytext=(-4, 3), textcoords="offset points", ha="right", fontsize=8, color=colour)
            seen.append(level)
    if not seen:
        raise Trouble("these runs have no decisions in common, and no baseline")
    low, high = min(seen), max(seen)
    room = 0.06 * ((high - low) or abs(high) or 1)
    axes.set_ylim(low - room, high + room)
    axes.set_xlabel("decisions")
    axes.set_ylabel(f"{spaced(runs[0].objective)} ({runs[0].better} is better)")
    axes.xaxis.set_major_formatter(short)
    plain(axes)
    axes.legend(frameon=False, fontsize=9)
    axes.set_title(title or "Held-out episodes (bold), training episodes (thin), best baseline (dashed)", fontsize=10)
    return figure
