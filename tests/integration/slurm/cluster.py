"""A Slurm cluster of virtual nodes on this host: munged, slurmctld and one slurmd a node."""

import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from ports import sixteen_ports
from soon import wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "srun", "scancel")

CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmctldTimeout=300
SlurmdTimeout={node_timeout}
MessageTimeout=100
TCPTimeout=30
BatchStartTimeout=300
UnkillableStepTimeout=600
InactiveLimit=0
KillWait=20
MinJobAge=3600
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why there can be no cluster here, or nothing."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    search = os.environ["PATH"] + ":/usr/sbin:/sbin"
    absent = [name for name in PROGRAMS if shutil.which(name, path=search) is None]
    if absent:
        return "not installed: " + ", ".join(absent) + " (Debian: slurm-wlm munge)"
    try:
        pwd.getpwnam("munge")
    except KeyError:
        return "there is no user munge"
    return None


class Cluster:
    def __init__(self, nodes, node_timeout=300):
        """`node_timeout`: seconds of silence after which Slurm gives a node up."""
        assert nodes < 16
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pacml-slurm-"))
        self.folder.chmod(0o755)
        self.daemons = {}
        self._start_munge()
        host = socket.gethostname()
        port = sixteen_ports()
        lines = [
            f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={port + i} CPUs=2 RealMemory=4000"
            for i in range(1, nodes + 1)
        ]
        (self.folder / "state").mkdir()
        conf = self.folder / "slurm.conf"
        conf.write_text(
            CONF.format(host=host, port=port, folder=self.folder, node_timeout=node_timeout,
                        nodes="\n".join(lines))
        )
        os.environ["SLURM_CONF"] = str(conf)
        self._start("slurmctld", ["slurmctld", "-D", "-f", str(conf)])
        for i in range(1, nodes + 1):
            self._start(f"n{i}", ["slurmd", "-D", "-N", f"n{i}", "-f", str(conf)])
        wait_until(
            "all nodes are idle",
            lambda: self.ask("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * nodes,
            self._check_daemons,
        )

    def _check_daemons(self):
        for name, daemon in self.daemons.items():
            if daemon.poll() is not None:
                said = (self.folder / f"{name}.out").read_text(errors="replace")
                raise RuntimeError(f"{name} ended with {daemon.returncode}:\n{said}")

    def _start_munge(self):
        # Its folders must not be writable by others, up to the root: the key lies below ours.
        munge = self.folder / "munge"
        munge.mkdir(mode=0o755)
        user = pwd.getpwnam("munge")
        key = munge / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        for path in (munge, key):
            os.chown(path, user.pw_uid, user.pw_gid)
        drop = ["setpriv", "--reuid", "munge", "--regid", "munge", "--clear-groups"]
        files = [f"--{kind}={munge / name}" for kind, name in
                 (("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"),
                  ("log-file", "log"), ("seed-file", "seed"))]
        self._start("munged", drop + ["munged", "--foreground", "--force"] + files)
        wait_until("munge listens", (munge / "socket").exists)

    def _start(self, name, command):
        log = (self.folder / f"{name}.out").open("wb")
        self.daemons[name] = subprocess.Popen(command, stdout=log, stderr=log)

    def ask(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def jobs(self):
        """job or task ("12_3") -> (state, node)"""
        lines = self.ask("squeue", "-h", "-a", "-r", "-t", "all", "-o", "%i|%T|%N").splitlines()
        return {job: (state, node) for job, state, node in (line.split("|") for line in lines)}

    def hurry(self, job):
        """Slurm makes a requeued job wait for two minutes; we do not."""
        subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"],
                       capture_output=True, timeout=300)

    def kill_node(self, name):
        """As if its power failed: the daemon and everything that it started."""
        self.daemons[name].kill()
        self.daemons[name].wait()
        for pid in self._processes_of(name):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def _processes_of(self, name):
        """What runs on a node of ours: its environment says so, or, of step daemons, their job."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if (b"SLURM_CONF=" + os.environb[b"SLURM_CONF"] in variables
                    and b"SLURMD_NODENAME=" + name.encode() in variables):
                found.append(int(entry.name))
                parent = _parent_of(entry)
                if parent and _command(parent).startswith("slurmstepd"):
                    found.append(parent)
        return found

    def close(self):
        try:
            if self.daemons["slurmctld"].poll() is None:
                self._end_jobs()
        finally:
            for daemon in reversed(list(self.daemons.values())):
                daemon.terminate()
                try:
                    daemon.wait(10)
                except subprocess.TimeoutExpired:
                    daemon.kill()
                    daemon.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _end_jobs(self):
        for job in self.jobs():
            subprocess.run(["scancel", "--signal=KILL", "--full", job], capture_output=True, timeout=60)
        # A courtesy: of a node that died, one may be completing for ever.
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and any(
                state in ("RUNNING", "COMPLETING") for state, _ in self.jobs().values()):
            time.sleep(0.2)


def _parent_of(entry):
    try:
        text = (entry / "stat").read_text()
    except OSError:
        return None
    return int(text.rsplit(")", 1)[1].split()[1])


def _command(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
