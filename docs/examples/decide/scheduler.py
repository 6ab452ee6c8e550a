#!/usr/bin/env python3
"""A scheduler of one's own that asks pacml how far to partition each job.

    scheduler.py PACML MODEL [JOBS]

It runs `PACML decide MODEL`, plays a cluster at which JOBS jobs arrive (10000), and ends with what
came of them. Only the arrivals and the clock are made up: which servers a job gets, how long it
runs and whether it is taken at all is what pacml decides, and the scheduler keeps books of its own
that no server runs two jobs. Standard library only.
"""

import heapq
import json
import random
import subprocess
import sys


class DecisionService:
    """`pacml decide` as a child: a line out, a line in."""

    def __init__(self, program, model):
        self.process = subprocess.Popen([program, "decide", model], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("scheduler.py: pacml decide has ended")
        answer = json.loads(line)
        if answer["type"] == "error":
            raise ValueError(answer["error"])
        return answer

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


class Scheduler:
    """Books of a cluster: who runs where, until when."""

    def __init__(self, service):
        self.service = service
        about = service.ask(type="describe")
        self.models = [model["name"] for model in about["models"]]
        self.mean_interarrival_time = about["mean_interarrival_time"]
        self.free = set(range(about["servers"]))
        self.servers = about["servers"]
        self.ends = []  # (time, id, servers)
        self.refused = 0
        self.busy_time = 0.0  # servers x time

    def finish_until(self, time):
        while self.ends and self.ends[0][0] <= time:
            end, job, servers = heapq.heappop(self.ends)
            self.service.ask(type="finish", id=job, time=end)
            self.free.update(servers)

    def arrive(self, job, time, model, limit):
        decision = self.service.ask(type="arrive", id=job, time=time, model=model, limit=limit)
        if not decision["accepted"]:
            self.refused += 1
            return
        servers = set(decision["servers"])
        if not servers <= self.free:
            raise AssertionError(f"{job} was given servers that are not free")
        if decision["completion_time"] > decision["limit_time"] * (1 + 1e-6):
            raise AssertionError(f"{job} was taken though it will miss its limit")
        self.free -= servers
        self.busy_time += len(servers) * decision["completion_time"]
        heapq.heappush(self.ends, (decision["until"], job, sorted(servers)))


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    jobs = int(sys.argv[3]) if len(sys.argv) == 4 else 10_000
    service = DecisionService(sys.argv[1], sys.argv[2])
    scheduler = Scheduler(service)
    chance = random.Random(0)
    time = 0.0
    for number in range(jobs):
        scheduler.finish_until(time)
        scheduler.arrive(f"job-{number}", time, chance.choice(scheduler.models),
                         round(chance.uniform(0.1, 1), 2))
        time += chance.expovariate(1 / scheduler.mean_interarrival_time)
    arrived_until = time
    scheduler.finish_until(float("inf"))
    if len(scheduler.free) != scheduler.servers:
        raise AssertionError("servers are still held when every job has ended")
    busy = scheduler.busy_time / (scheduler.servers * arrived_until)
    print(f"{jobs} jobs, {jobs - scheduler.refused} run, {scheduler.refused} refused; "
          f"servers busy {busy:.0%} of the time")
    return service.close()


if __name__ == "__main__":
    sys.exit(main())
