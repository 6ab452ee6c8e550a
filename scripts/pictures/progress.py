"""How a training went: decisions a second, and how old the policy was that made what was learned from."""
from pictures import COLOURS, from_zero, legend_above, number, plain, short


def curve(run, *path):
    points = ((number(line, "seconds"), number(line, *path)) for line in run.lines)
    return sorted((x / 60, y) for x, y in points if x is not None and y is not None)


def draw(plt, runs, title):
    """None where no run tells of it."""
    rates = [curve(run, "decisions_per_second") for run in runs]
    if not any(rates):
        return None
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5.5), layout="constrained", sharex=True)
    for k, (run, rate) in enumerate(zip(runs, rates)):
        colour = COLOURS[k % len(COLOURS)]
        above.plot(*zip(*rate), color=colour, linewidth=1.2, label=run.name) if rate else None
        for quantile, style in (("p50", "-"), ("p99", ":")):
            lag = curve(run, "policy_lag", quantile)
            if lag:
                below.plot(*zip(*lag), color=colour, linestyle=style, linewidth=1.2, label=quantile if k == 0 else None)
    above.set_ylabel("decisions a second")
    above.yaxis.set_major_formatter(short)
    below.set_ylabel("lag in updates")
    below.set_xlabel("minutes of training")
    for axes, least in ((above, 0), (below, 4)):
        from_zero(axes, least)
        plain(axes)
        legend_above(axes)
    figure.suptitle(title or "Throughput, and how many updates old the acting policy was", fontsize=10)
    return figure
