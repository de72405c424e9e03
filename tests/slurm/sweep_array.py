# SPDX-License-Identifier: Apache-2.0
"""A sweep as a real Slurm job array on one node: one task is killed, one is requeued while it runs, and the dataset is
that of one process.

Starts munged, slurmctld and slurmd with a configuration of its own in a temporary folder, submits scripts/sweep.sbatch,
and ends them again.
Usage: sweep_array.py PLIANT SOURCE_DIR; exit code 77 (skipped) where Slurm or munge is not installed.
"""

import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pyarrow.parquet

TASKS = 3
SWEEP = """
name: array
accelerator: flexref
workloads: [mobilenet_v2]
network: false
vary:
  rows: [8, 16, 32]
  cols: [8, 16, 32, 64]
flexibility: all-16
"""


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, condition, seconds=600):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise TimeoutError(f"waited {seconds} s in vain for {what}")


class Cluster:
    """One node that is controller and worker at once."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = []
        user, host = getpass.getuser(), socket.gethostname().split(".")[0]
        for name in ("state", "spool", "munge"):
            (folder / name).mkdir()
        # Everybody may enter the socket's folder, nobody may write to it: munged insists.
        folder.chmod(0o755)
        (folder / "munge").chmod(0o755)
        self.conf = folder / "slurm.conf"
        self.conf.write_text(f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
MinJobAge=3600
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={TASKS} RealMemory=16000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
""")
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")

    def start(self):
        munge = self.folder / "munge"
        key = munge / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.spawn(
            "munged",
            "--foreground",
            f"--socket={munge}/socket",
            f"--key-file={key}",
            f"--pid-file={munge}/pid",
            f"--log-file={munge}/log",
            f"--seed-file={munge}/seed",
        )
        wait_for("munged", (munge / "socket").exists)
        self.spawn("slurmctld", "-D", "-f", str(self.conf))
        self.spawn("slurmd", "-D", "-f", str(self.conf))
        wait_for("an idle node", lambda: "idle" in self.ask("sinfo", "-h", "-o", "%t", check=False))

    def spawn(self, *command):
        with open(self.folder / f"{command[0]}.out", "wb") as out:
            self.daemons.append(subprocess.Popen(command, stdout=out, stderr=out, env=self.environment()))

    def environment(self):
        return {**os.environ, "SLURM_CONF": str(self.conf)}

    def ask(self, *command, check=True):
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout.strip()

    def task(self, job, index):
        """What Slurm knows of one task of an array."""
        for line in self.ask("scontrol", "-o", "show", "job", job).splitlines():
            words = dict(word.split("=", 1) for word in line.split() if "=" in word)
            if words.get("ArrayTaskId") == str(index):
                return words
        return {}

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def logs(self):
        for file in (
            sorted(self.folder.glob("*.log"))
            + sorted(self.folder.glob("*.out"))
            + sorted(self.folder.glob("munge/log"))
        ):
            print(f"--- {file.name}\n{file.read_text(errors='replace')[-4000:]}", file=sys.stderr)


def process_of(pliant, dataset, index):
    """The process of a task: the one with its number in the environment and the dataset on its command line."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if (
            command[0] == str(pliant).encode()
            and str(dataset).encode() in command
            and b"SLURM_ARRAY_TASK_ID=%d" % index in variables
        ):
            return int(entry.name)
    return None


def parts(dataset, index):
    """Finished parts of a shard."""
    names = (file.stem for file in dataset.glob("designs/part-*.parquet"))
    return [name for name in names if int(name.removeprefix("part-")) % TASKS == index]


def compare(whole, array):
    for table in ("layers", "designs"):
        names = sorted(file.name for file in (whole / table).iterdir())
        assert names == sorted(file.name for file in (array / table).iterdir() if not file.name.startswith("."))
        assert len(names) > 2 * TASKS, "too few parts for shards to matter"
        for name in names:
            one, other = (pyarrow.parquet.read_table(folder / table / name) for folder in (whole, array))
            assert one.schema.equals(other.schema, check_metadata=True), name
            assert one.to_pylist() == other.to_pylist(), f"{table}/{name} differs"


def run(cluster, pliant, source, folder):
    sweep, whole, array = folder / "sweep.yaml", folder / "whole", folder / "array"
    sweep.write_text(SWEEP)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([pliant, "sweep", sweep, "-o", whole, "--threads", "1"], check=True, **quiet)

    job = cluster.ask(
        "sbatch",
        "--parsable",
        f"--array=0-{TASKS - 1}",
        "--cpus-per-task=1",
        f"--chdir={source}",
        f"--output={folder}/task-%a.txt",
        f"--export=ALL,PLIANT={pliant}",
        str(source / "scripts" / "sweep.sbatch"),
        str(sweep),
        str(array),
    )
    print("job", job)

    # 1. Task 0 dies without warning in the middle of its work and is requeued.
    wait_for("the first part of task 0", lambda: parts(array, 0))
    os.kill(process_of(pliant, array, 0), signal.SIGKILL)
    wait_for("task 0 to fail", lambda: cluster.task(job, 0).get("JobState") == "FAILED")
    done_before = len(parts(array, 0))
    missing = (
        sum(1 for file in (whole / "designs").iterdir() if int(file.stem.removeprefix("part-")) % TASKS == 0)
        - done_before
    )
    assert missing > 0, "task 0 was done before it could be killed"
    print(f"task 0 killed with {done_before} of {done_before + missing} parts done")
    cluster.ask("scontrol", "requeue", f"{job}_0")

    # 2. Task 1 is requeued while it runs, as preemption does.
    wait_for("the first part of task 1", lambda: parts(array, 1))
    assert cluster.task(job, 1).get("JobState") == "RUNNING", "task 1 was done before it could be requeued"
    cluster.ask("scontrol", "requeue", f"{job}_1")

    # 3. All tasks end, and the dataset is that of one process.
    wait_for(
        "all tasks to end", lambda: all(cluster.task(job, i).get("JobState") == "COMPLETED" for i in range(TASKS)), 300
    )
    for index, restarts in ((0, "1"), (1, "1"), (2, "0")):
        assert cluster.task(job, index).get("Restarts") == restarts, f"task {index}: {cluster.task(job, index)}"
    compare(whole, array)
    assert "reused" in (folder / "task-0.txt").read_text()
    status = subprocess.run(
        [pliant, "sweep", "--status", "-o", array], check=True, capture_output=True, text=True
    ).stdout
    assert "complete since" in status, status
    print(status.strip())


def main():
    pliant, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for program in ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "sinfo"):
        if shutil.which(program) is None:
            skip(f"{program} is not installed (scripts/setup --dev installs slurm-wlm and munge)")
    with tempfile.TemporaryDirectory(prefix="pliant-slurm-") as name:
        folder = pathlib.Path(name)
        cluster = Cluster(folder)
        try:
            cluster.start()
            run(cluster, pliant, source, folder)
        except BaseException:
            cluster.logs()
            raise
        finally:
            cluster.stop()


main()
