"""Which machines of a Ray cluster are there, as the driver sees by itself.

Ray waits for a minute and more before it gives a machine up, and what is asked of one that is gone waits for
ever where no other has room.  So every few seconds each machine is greeted at Ray's own port there.  One that

    answers             is there
    is silent           is slow, not lost: its processes are stopped for a while, or very busy
    refuses             has lost its Ray: after a moment it counts as lost
    cannot be reached   may be so for a moment (a cable, a switch); after `SILENCE` seconds it counts as lost
"""

from __future__ import annotations

import math
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from ..errors import OneslackError

#: Seconds between two greetings, and for an answer.
EVERY, PATIENCE = 2.0, 2.0
#: Seconds after which a machine that refuses, or that cannot be reached, is lost.
REFUSAL, SILENCE = 4.0, 40.0
#: How a client of HTTP/2, which Ray's processes speak, begins; whoever speaks it answers with a frame.
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4" + 5 * b"\0"
#: Machines that are greeted at the same time.
AT_ONCE = 16


class Answer(Enum):
    """What came of a greeting."""

    ANSWERS = "answers"
    SILENT = "is silent"
    REFUSES = "refuses"
    UNREACHABLE = "cannot be reached"


def greet(address) -> Answer:
    """How (host, port) answers."""
    try:
        line = socket.create_connection(address, timeout=PATIENCE)
    except ConnectionRefusedError:
        return Answer.REFUSES
    except OSError:
        return Answer.UNREACHABLE
    with line:
        try:
            line.sendall(GREETING)
            return Answer.ANSWERS if line.recv(1) else Answer.REFUSES
        except TimeoutError:
            return Answer.SILENT
        except OSError:
            return Answer.REFUSES


class Machine(NamedTuple):
    """A machine of the cluster: its name, where Ray is greeted there, and its CPUs."""

    node: str
    name: str
    address: tuple[str, int]
    n_cpus: int
    is_alive: bool


class Machines:
    """The machines that are watched, each since when it answers as it does.  `close` ends the watching."""

    def __init__(self, ray):
        self.ray = ray
        host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
        self.head = (host, int(port))
        self._known, self._watched, self._heard = {}, {self.head}, {}
        self._end = threading.Event()
        threading.Thread(target=self._watch, name="oneslack-machines", daemon=True).start()

    def found(self) -> list[Machine]:
        """All machines that Ray knows; those known before where nobody answers."""
        nodes = within(3 * PATIENCE, self.ray.nodes)
        for node in nodes or ():
            address = (node["NodeManagerAddress"], node["NodeManagerPort"])
            n_cpus = int(node["Resources"].get("CPU", 0))
            self._known[node["NodeID"]] = Machine(
                node["NodeID"], node["NodeManagerAddress"], address, n_cpus, node["Alive"]
            )
        return list(self._known.values())

    def watch(self, nodes):
        """Greet the machines of these nodes from now on."""
        if not set(nodes) <= set(self._known):
            self.found()
        self._watched |= {self._known[node].address for node in nodes if node in self._known}

    def name(self, node) -> str:
        """The machine's address."""
        return self._known[node].name if node in self._known else "a machine that Ray does not name"

    def lost(self, node) -> str:
        """Why the machine counts as lost; empty where it does not."""
        return self._verdict(self._known[node].address) if node in self._known else ""

    def lost_head(self) -> str:
        """The same of the head of the cluster, without which Ray ends."""
        return self._verdict(self.head)

    def is_well(self, node) -> bool:
        """Whether the machine has answered the last time."""
        place = self._known[node].address if node in self._known else None
        return self._heard.get(place, (Answer.ANSWERS,))[0] is Answer.ANSWERS

    def free(self) -> list[str]:
        """Machines that are well, those with most free CPUs first: [(CPUs, node)]."""
        known = {machine.node: machine for machine in self.found() if machine.is_alive}
        rooms = within(3 * PATIENCE, self.ray._private.state.available_resources_per_node) or {}
        found = [(rooms.get(node, {}).get("CPU", 0.0), node) for node in known if self.is_well(node)]
        return sorted(found, reverse=True)

    def _verdict(self, address):
        answer, since = self._heard.get(address, (Answer.ANSWERS, 0.0))
        age = time.monotonic() - since
        if answer is Answer.REFUSES and age >= REFUSAL:
            return "no Ray runs there any more"
        if answer is Answer.UNREACHABLE and age >= SILENCE:
            return f"it could not be reached for {SILENCE:.0f} s"
        return ""

    def _watch(self):
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="oneslack-greet") as pool:
            while not self._end.wait(EVERY):
                places, begin = list(self._watched), time.monotonic()
                for place, answer in zip(places, pool.map(greet, places), strict=True):
                    if self._heard.get(place, (None,))[0] is not answer:
                        self._heard[place] = answer, begin

    def close(self):
        self._end.set()


def room_for(machines, threads) -> int:
    """How many workers of so many threads fit on machines with these CPUs."""
    return sum(n_cpus // threads for n_cpus in machines)


def check_room(machines, n_workers, threads):
    """An error at once where some actors could never start: Ray itself would wait for ever."""
    if n_workers > room_for(machines, threads):
        raise OneslackError(
            f"the Ray cluster has {' + '.join(map(str, machines))} CPUs, too few for {n_workers} "
            f"worker{'s' * (n_workers > 1)} with {threads} each; ask for fewer (n_workers or n_jobs, "
            "threads), or add machines."
        )


def free_memory() -> float:
    """Bytes of memory that this machine has left; inf where it does not say."""
    found = [math.inf]
    with suppress(OSError, StopIteration, ValueError), open("/proc/meminfo") as lines:
        line = next(line for line in lines if line.startswith("MemAvailable"))
        found.append(1024 * int(line.split()[1]))
    with suppress(OSError, ValueError):  # of a container
        limit, used = (Path(f"/sys/fs/cgroup/memory.{name}").read_text() for name in ("max", "current"))
        found.append(int(limit) - int(used))
    return min(found)


def within(seconds, function, *arguments, **more):
    """What function gives, or None where it takes longer or fails: Ray may wait for who is gone."""
    answer = []

    def work():
        with suppress(Exception):
            answer.append(function(*arguments, **more))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return answer[0] if answer else None
