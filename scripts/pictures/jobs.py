"""What becomes of jobs: how long they take, how much time the ones that are done or blocked were given, and how full the
servers are. Out of episodes that `pacml explain RUN --episode FILE.json` wrote; those of one policy are taken together."""
from pictures import COLOURS, Trouble, legend_above, number, plain, short

LIMIT, ALONE = "must be done in", "time on one server"  # facts of a job
BINS = 20
POINTS = 100  # of a curve


class Episode:
    def __init__(self, path, document):
        self.policy = str(document.get("policy", path.stem))
        self.done = []  # how long each job took that was done in time
        self.times = []  # times of decisions
        self.used = []  # share of places that were taken then
        self.limits = {True: [], False: []}  # done or not: limits, as shares of the time on one server
        try:
            for decision in document["decisions"]:
                self.add(decision)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise Trouble(f"{path} is no episode that `pacml explain --episode` wrote") from error
        if not self.times:
            raise Trouble(f"{path}: its task shows neither jobs nor places")

    def add(self, decision):
        places = [item for grid in decision["grids"] for item in grid["items"] if item != -2]
        if places:
            self.times.append(decision["now"])
            self.used.append(sum(1 for item in places if item >= 0) / len(places))
        outcome = decision.get("outcome")
        if outcome is None:
            return
        if outcome["kept"] and outcome["item"]["ends"] > outcome["item"]["begins"]:
            self.done.append(outcome["item"]["ends"] - outcome["item"]["begins"])
        facts = {name: numbers[0] for name, _, *numbers in decision["facts"] if numbers}
        limit, alone = number(facts, LIMIT), number(facts, ALONE)
        if limit is not None and alone:
            self.limits[outcome["kept"]].append(limit / alone)


def draw_times(axes, policies, colours):
    longest = max((t for episodes in policies.values() for e in episodes for t in e.done), default=0)
    for name, episodes in policies.items():
        done = [t for e in episodes for t in e.done]
        if done:
            axes.hist(done, bins=BINS, range=(0, longest), histtype="step", linewidth=1.6, color=colours[name], label=name)
    axes.set_xlabel("time that a job took")
    axes.xaxis.set_major_formatter(short)
    has_limits = any(e.limits[True] or e.limits[False] for episodes in policies.values() for e in episodes)
    axes.set_ylabel("jobs done in time" if has_limits else "jobs, some by estimate")
    legend_above(axes)


def draw_limits(axes, policies, colours):
    for name, episodes in policies.items():
        for is_done, style in ((True, "-"), (False, "--")):
            limits = [x for e in episodes for x in e.limits[is_done]]
            if limits:
                axes.hist(limits, bins=21, range=(-0.025, 1.025), histtype="step", linewidth=1.6, linestyle=style, color=colours[name],
                          label=f"{name}, {'done' if is_done else 'blocked'}")
    axes.set_xlabel("limit, of the time on one server (β)")
    axes.set_ylabel("jobs")
    legend_above(axes)


def thinned(episode):
    """Times of decisions and the share of places in use; of many decisions means over as many times as a picture shows."""
    if len(episode.times) <= POINTS:
        return episode.times, episode.used
    begin, end = min(episode.times), max(episode.times)
    sums = [[0, 0.0] for _ in range(POINTS)]
    for time, used in zip(episode.times, episode.used):
        cell = sums[min(POINTS - 1, int(POINTS * (time - begin) / ((end - begin) or 1)))]
        cell[0] += 1
        cell[1] += used
    filled = [(k, total / count) for k, (count, total) in enumerate(sums) if count]
    return [begin + (end - begin) * k / POINTS for k, _ in filled], [mean for _, mean in filled]


def draw_occupancy(axes, policies, colours):
    for name, episodes in policies.items():
        times, used = thinned(episodes[0])
        axes.step(times, [100 * share for share in used], where="post", linewidth=1.2, color=colours[name], label=name)
    axes.set_ylim(0, 102)
    axes.set_xlabel("time")
    axes.xaxis.set_major_formatter(short)
    axes.set_ylabel("places in use, %")
    legend_above(axes)


def draw(plt, episodes, title):
    policies = {}
    for episode in episodes:
        policies.setdefault(episode.policy, []).append(episode)
    if len(policies) > len(COLOURS):
        raise Trouble(f"{len(policies)} policies are more than a picture shows; at most {len(COLOURS)}")
    colours = dict(zip(policies, COLOURS))
    panels = [draw_occupancy]
    if any(e.limits[is_done] for e in episodes for is_done in (True, False)):
        panels.insert(0, draw_limits)
    if any(e.done for e in episodes):
        panels.insert(0, draw_times)
    figure, grid = plt.subplots(len(panels), 1, figsize=(8, 3 * len(panels)), layout="constrained", squeeze=False)
    for axes, panel in zip(grid.flat, panels):
        panel(axes, policies, colours)
        plain(axes)
    counts = ", ".join(f"{name}: {len(of)}" for name, of in policies.items())
    figure.suptitle(title or f"Jobs of held-out episodes ({counts}); places in the first of them", fontsize=10)
    return figure
