"""Machines of a test's own: network namespaces joined by virtual cables, with Ray started in each.

Each has an address that nothing outside of them can reach, and sees its own processes alone; Ray asks for a
token.  A machine can be killed, stopped for a while, cut off, and brought back.  They share their files.
Needs Linux and the right to make namespaces.
"""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

#: Where Ray listens on the first machine, and how much memory its objects may take on each.
PORT, STORE = 6379, 200_000_000
#: The first process of a machine: when it ends, all others end.
FIRST = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nwhile True: signal.pause()"
#: Seconds that `ray start` may take, and that processes have to end.
PATIENCE = 200.0
ATTEMPTS = 3


class NotAllowed(Exception):
    """Why no machines can be made here."""


def sh(*command, check=True):
    """Run a command; its output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    if check and done.returncode:
        raise NotAllowed(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def why_not():
    """A reason why no namespaces can be made here, or None."""
    if not sys.platform.startswith("linux") or shutil.which("ip") is None:
        return "needs Linux and the tool ip (iproute2)"
    name = f"onetry{os.getpid()}"
    try:
        sh("ip", "netns", "add", name)
        try:
            sh("ip", "-n", name, "link", "add", "name", "hub0", "type", "bridge")
        finally:
            sh("ip", "netns", "del", name, check=False)
    except NotAllowed as reason:
        return f"network namespaces are not allowed here ({reason})"
    return None


class Machines:
    """`count` machines with `n_cpus` CPUs each, on a switch; the first has the head of the Ray cluster.

    rate  bits a second of each cable, as `tc` writes them; None for as fast as it goes
    """

    def __init__(self, count=2, n_cpus=1, rate=None):
        self.count, self.n_cpus, self.token = count, n_cpus, secrets.token_hex(32)
        self.hub = f"one{os.getpid()}-hub"
        self.names = [f"one{os.getpid()}-{k}" for k in range(count)]
        self.addresses = [f"10.213.77.{k + 1}" for k in range(count)]
        self._first = [None] * count
        self.folder = Path(tempfile.mkdtemp(prefix="one", dir="/tmp"))  # short: Ray's sockets lie in it
        try:
            self._lay_cables(rate)
        except BaseException:
            self.close()
            raise

    def _lay_cables(self, rate):
        self._sweep()
        for name in [self.hub, *self.names]:
            sh("ip", "netns", "add", name)
            sh("ip", "-n", name, "link", "set", "lo", "up")
        hub = ["ip", "-n", self.hub]
        sh(*hub, "link", "add", "name", "hub0", "type", "bridge")
        sh(*hub, "link", "set", "hub0", "up")
        for k, (name, address) in enumerate(zip(self.names, self.addresses, strict=True)):
            sh(*hub, "link", "add", "name", f"port{k}", "type", "veth", "peer", "name", "net0", "netns", name)
            sh(*hub, "link", "set", f"port{k}", "master", "hub0", "up")
            sh("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "net0")
            sh("ip", "-n", name, "link", "set", "net0", "up")
            # Leads nowhere: Ray asks the way to find out its own address.
            sh("ip", "-n", name, "route", "add", "default", "via", "10.213.77.254")
            if rate is not None:
                shape = ["root", "tbf", "rate", rate, "burst", "256kb", "latency", "200ms"]
                sh("tc", "-n", name, "qdisc", "add", "dev", "net0", *shape)
                sh("tc", *hub[1:], "qdisc", "add", "dev", f"port{k}", *shape)

        for k in range(self.count):
            self._switch_on(k)

    def _switch_on(self, k):
        """Begin with the first process, in a namespace of processes of its own."""
        own = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable, "-c", FIRST]
        self._first[k] = subprocess.Popen(
            ["ip", "netns", "exec", self.names[k], *own], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + PATIENCE
        while self.pid_of(self._first[k]) is None:
            if self._first[k].poll() is not None or time.monotonic() > end:
                raise NotAllowed("unshare --pid fails")
            time.sleep(0.02)
        time.sleep(0.1)  # /proc is mounted

    def pid_of(self, process):
        """The process itself, below the one that entered a machine for it; None where there is none."""
        try:
            found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        except OSError:
            return None
        return int(found[0]) if found else None

    def _on(self, k):
        """What comes before a command that is to run on machine k."""
        return ["nsenter", "--target", str(self.pid_of(self._first[k])), "--net", "--pid", "--mount", "--"]

    @staticmethod
    def _sweep():
        """Take away the namespaces of tests that were killed."""
        for line in sh("ip", "netns", "list").splitlines():
            name = line.split()[0] if line.split() else ""
            owner = name[3:].partition("-")[0]
            if name.startswith("one") and owner.isdigit() and not os.path.exists(f"/proc/{owner}"):
                for process in sh("ip", "netns", "pids", name, check=False).split():
                    os.kill(int(process), signal.SIGKILL)
                sh("ip", "netns", "del", name, check=False)

    @property
    def address(self):
        """Of the Ray cluster."""
        return f"{self.addresses[0]}:{PORT}"

    def environment(self, token=True):
        """For processes on the machines; token: True for the right one, None for none, or another."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        kept |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0", "RAY_AUTH_MODE": "token"}
        kept["RAY_raylet_start_wait_time_s"] = "100"
        kept["HOME"] = str(self.folder)  # where Ray looks for a token of the user's
        if token is not None:
            kept["RAY_AUTH_TOKEN"] = self.token if token is True else token
        return kept

    def start(self, k, **how):
        """Start Ray on machine k."""
        head = ["--head", f"--port={PORT}", "--include-dashboard=false"]
        place = head if k == 0 else [f"--address={self.address}"]
        ray = [sys.executable, "-m", "ray.scripts.scripts", "start", *place]
        command = [
            *ray, f"--node-ip-address={self.addresses[k]}", f"--num-cpus={self.n_cpus}",
            f"--temp-dir={self.folder}/{k}", f"--object-store-memory={STORE}",
            "--disable-usage-stats",
        ]  # fmt: skip
        log = self.folder / f"start{k}.log"
        if self._first[k].poll() is not None:
            self._switch_on(k)
        with open(log, "wb") as out:
            done = subprocess.run(
                [*self._on(k), *command], stdout=out, stderr=out,
                stdin=subprocess.DEVNULL, env=self.environment(**how), timeout=PATIENCE, check=False,
            )  # fmt: skip
        return done.returncode, log.read_text(errors="replace")

    def start_all(self):
        """Ray on all machines; a machine that is busy may be too slow for Ray at first."""
        for k in range(self.count):
            code, said = self.start(k)
            for _ in range(ATTEMPTS - 1):
                if code:
                    self.kill(k)
                    code, said = self.start(k)
            if code:
                raise RuntimeError(f"ray start failed on machine {k}: {said[-3000:]}")

    def restart_if_lost(self, k):
        """Start Ray again where it has ended."""
        lines = [Path(f"/proc/{process}/cmdline").read_bytes() for process in self.pids(k)]
        if not any(b"/raylet" in line for line in lines):
            self.start(k)

    def popen(self, k, command, token=True, **how):
        """A process on machine k."""
        return subprocess.Popen(
            [*self._on(k), *map(str, command)],
            env=self.environment(token) | how.pop("env", {}), stdin=subprocess.DEVNULL, text=True, **how,
        )  # fmt: skip

    def pids(self, k):
        return [int(word) for word in sh("ip", "netns", "pids", self.names[k], check=False).split()]

    def signal(self, k, number):
        """Send a signal to all processes of machine k."""
        for process in self.pids(k):
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def signal_to(self, process, number):
        """Send a signal to a process that `popen` started."""
        os.kill(self.pid_of(process), number)

    def kill(self, k):
        """As if its power were cut."""
        end, first = time.monotonic() + PATIENCE, self._first[k]
        if first.poll() is None and (inside := self.pid_of(first)):
            os.kill(inside, signal.SIGKILL)
        first.wait()
        while set(map(_alive, self.pids(k))) - {None}:
            self.signal(k, signal.SIGKILL)  # who was on the way in
            assert time.monotonic() < end, f"processes stay on machine {k}"
            time.sleep(0.05)

    def cut(self, k):
        """Pull the cable of machine k."""
        sh("ip", "-n", self.hub, "link", "set", f"port{k}", "down")

    def mend(self, k):
        sh("ip", "-n", self.hub, "link", "set", f"port{k}", "up")

    def workers(self, k):
        """The processes of machine k in which Ray's actors of ours live."""
        found = []
        for process in self.pids(k):
            try:
                line = Path(f"/proc/{process}/cmdline").read_bytes()
            except OSError:
                continue
            if line.startswith(b"ray::_Actor"):
                found.append(process)
        return found

    def close(self):
        """Leave nothing behind."""
        for k, first in enumerate(self._first):
            if first is not None:
                self.kill(k)
        for name in [self.hub, *self.names]:
            sh("ip", "netns", "del", name, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def _alive(process):
    """The process, or None where it only waits to be counted."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None
    return None if state == "Z" else process


def last_json(text):
    """What the last line of a process says."""
    return json.loads(text.strip().splitlines()[-1])
