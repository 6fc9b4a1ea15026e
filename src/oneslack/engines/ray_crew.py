"""RayCrew: parts of the examples lie with actors, and stay at hand when actors and machines are lost.

Each part has a seat at a host, an actor.  A host that dies is replaced: by a new one on its machine, on
another that has room, or, where no CPU is free, by hosts that are left, which then have more than one seat.
A part is loaded anew there; what else its worker knew (scores, remembered cuts, duals) is told or found
again, since a worker answers `LOST` where it is asked about it.  When there is room again, seats move apart.

Ray itself retries nothing: it would wait for ever for a machine that is gone.  A message that is sent a
second time, since its answer was lost on the way, is known by its number and not obeyed twice.
"""

from __future__ import annotations

import time
import warnings
from itertools import zip_longest

from ..errors import MachineLost, OneslackError, users_level
from ..result import OutOfTime
from .crew import Crew
from .machines import Machines, check_room, within
from .processes import packed_with_code
from .ray_actor import _Actor, sendable
from .sums import add_up

#: How often a host may die before the training gives up.
RESTARTS = 20
#: So many sums are added by the driver; more of them first where they are, then two by two.
FEW = 4
#: Seconds between two looks at whom we wait for, and between two at the cluster between steps.
LOOK, LOOK_AROUND = 1.0, 5.0
#: Seconds that a new host may take to start, and a question aside to be answered.
START, ASIDE = 20.0, 8.0
#: Seconds that a wait may go on when time is up: for machines that do not answer, and for busy ones.
STUCK, BUSY = 5.0, 30.0
#: What a part takes when it is loaded, beside its own bytes: so many times them, and so many bytes.
LOADED, SPARE = 1.5, 100_000_000


class Host:
    """An actor, its machine, and the seats there."""

    def __init__(self, actor, node=None):
        self.actor, self.node, self.seats, self.is_gone = actor, node, [], False


class Seat:
    """A part of the examples: its number, what its worker is made of, its bytes, and where it is now."""

    def __init__(self, number, sources, n_bytes):
        self.number, self.sources, self.n_bytes, self.host = number, sources, n_bytes, None

    def move(self, host):
        if self.host is not None:
            self.host.seats.remove(self)
        self.host = host
        host.seats.append(self)


class Call:
    """A message to a seat: what it says, and the host that was asked."""

    def __init__(self, seat, message):
        self.seat, self.message, self.host, self.ref = seat, message, None, None

    def send(self):
        self.host, seat = self.seat.host, self.seat
        self.ref = self.host.actor.do.remote(seat.number, seat.sources, *self.message)
        return self


class RayCrew(Crew):
    """Hosts, each with parts of the examples."""

    def __init__(self, ray, cluster, kind, parts, model, options):
        self.ray, self._cluster = ray, cluster
        self._n_cpus, self._deaths, self._number = options["n_jobs"], 0, 0
        self._until, self._longest, self._next_look, self._coming = None, 0.0, 0.0, None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            maker = ray.put(packed_with_code((kind, model, options), model))
            seats = []
            for number, part in enumerate(parts):
                sent = sendable(part, model)
                n_bytes = len(sent) if isinstance(sent, bytes) else part.n_bytes
                seats.append(Seat(number, [maker, ray.put(sent)], n_bytes))
        super().__init__(seats)
        self.machines = Machines(ray)
        try:
            self._hosts = [self._new_host() for _ in self.workers]
            for seat, host in zip(self.workers, self._hosts, strict=True):
                seat.move(host)
            nodes = self._begun([host.actor.node.remote() for host in self._hosts])
        except BaseException:
            self.machines.close()
            raise
        for host, node in zip(self._hosts, nodes, strict=True):
            host.node = node
        self._settled()

    @property
    def nodes(self):
        """Of the machine of each seat."""
        return [seat.host.node for seat in self.workers]

    def _settled(self):
        self.machines.watch(self.nodes)
        self.n_machines = len(set(self.nodes))

    def _new_host(self, node=None):
        how = {"num_cpus": self._n_cpus, "max_restarts": 0, "max_task_retries": 0}
        if node is not None:
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            how["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Host(self.ray.remote(_Actor).options(**how).remote(), node)

    # Messages.

    def _begun(self, refs):
        """The first answers of actors; they may have to wait for other work on the cluster."""
        ray, begin = self.ray, time.monotonic()
        while ray.wait(refs, num_returns=len(refs), timeout=LOOK)[1]:
            self._check_head()
            if time.monotonic() - begin > START:
                machines = [machine.n_cpus for machine in self.machines.found() if machine.is_alive]
                check_room(machines, len(refs), self._n_cpus)
        try:
            return ray.get(refs)
        except ray.exceptions.RayTaskError as error:
            raise _cause(error) from None
        except ray.exceptions.RayError as error:
            raise OneslackError(
                f"a Ray worker cannot be started ({_line(error)}); see that oneslack is installed on all "
                "machines of the cluster, the same version, and give the workers more memory."
            ) from error

    def _shared(self, vector):
        return self.ray.put(vector)

    def _send(self, seat, method, message, vectors):
        self._number += 1
        return Call(seat, (self._number, method, message, *vectors)).send()

    def _gathered(self, calls):
        return self._answers(calls)

    def _summed(self, calls):
        """First the answers of a machine, there; then those of two machines, and so on."""
        if len(calls) > FEW:
            root = self._sum_in_tree(calls)
            if self._wait_for({root: calls}):
                try:
                    return self.ray.get(root)
                except self.ray.exceptions.RayError:
                    pass  # one by one it will show who has failed
        return add_up(self._answers(calls))

    def _sum_in_tree(self, calls):
        by_node = {}
        for call in calls:
            by_node.setdefault(call.host.node, []).append((call.host.actor, call.ref))
        sums = [_added(members) for members in by_node.values()]
        while len(sums) > 1:
            pairs = zip_longest(sums[::2], sums[1::2])
            sums = [pair[0] if pair[1] is None else _added(pair) for pair in pairs]
        return sums[0][1]

    def _answers(self, calls):
        """Of all calls; hosts that are lost on the way are replaced, and asked again."""
        answers, waiting = {}, {call.ref: call for call in calls}
        while waiting:
            done = self._wait_for({ref: [call] for ref, call in waiting.items()})
            for ref, call in list(waiting.items()):
                if call.host.is_gone or (ref in done and not self._take(call, answers)):
                    del waiting[ref]
                    waiting[call.send().ref] = call
                elif ref in done:
                    del waiting[ref]
        return [answers[call] for call in calls]

    def _take(self, call, answers) -> bool:
        """Take the answer; False where it is none, as the host has died or could not be reached."""
        try:
            answers[call] = self.ray.get(call.ref)
            return True
        except self.ray.exceptions.RayTaskError as error:
            raise _cause(error) from None
        except self.ray.exceptions.RayError as error:
            if isinstance(error, getattr(self.ray.exceptions, "ActorUnavailableError", ())):
                time.sleep(LOOK)  # asked again, it may be there; `_wait_for` sees whether its machine is
            elif not call.host.is_gone:
                self._replace(call.host, self.machines.lost(call.host.node), _line(error))
            return False

    def _wait_for(self, asked) -> set:
        """Wait for references, each of some calls.  All of them, or those that are there when hosts that they
        wait for had to be replaced."""
        begin = time.monotonic()
        while True:
            done, open_refs = self.ray.wait(list(asked), num_returns=len(asked), timeout=LOOK)
            if not open_refs:
                self._longest = max(self._longest, time.monotonic() - begin)
                return set(done)
            hosts = {call.host for ref in open_refs for call in asked[ref]}
            self._check_time(begin, hosts)
            self._check_head()
            lost = [(host, why) for host in hosts if (why := self._why_lost(host))]
            for host, why in lost:
                self._replace(host, why)
            if lost or any(host.is_gone for host in hosts):
                return set(done)

    def _why_lost(self, host):
        return "" if host.is_gone else self.machines.lost(host.node)

    # Time.

    def keep_to(self, seconds):
        """The training is to end after so many seconds; None: whenever it likes."""
        self._until = None if seconds is None else time.monotonic() + seconds

    def hurry(self):
        """The training ends: wait for nobody who does not answer."""
        self._until = time.monotonic()

    def _check_time(self, begin, hosts):
        if self._until is None:
            return
        is_stuck = not all(self.machines.is_well(host.node) for host in hosts)
        patience = STUCK if is_stuck else max(BUSY, 10.0 * self._longest)
        if time.monotonic() - max(begin, self._until) > patience:
            raise OutOfTime

    # Machines that go and come.

    def between_steps(self):
        """Now and then: see that the head is there, and move seats to hosts of their own."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_AROUND
        self._check_head()
        if any(len(host.seats) > 1 for host in self._hosts):
            self._spread()

    def _check_head(self):
        if why := self.machines.lost_head():
            raise MachineLost(
                f"the head of the Ray cluster, {self.machines.head[0]}, is gone ({why}), and Ray ends "
                "without it; start the cluster anew."
            )

    def _replace(self, host, why, error=""):
        """New hosts for the seats of one that is lost; why: of its machine, empty where that is well."""
        host.is_gone = True
        self._hosts.remove(host)
        self._deaths += 1
        within(ASIDE, self.ray.kill, host.actor)
        if self._deaths > RESTARTS:
            raise OneslackError(
                f"Ray workers died {self._deaths} times, the last on {self.machines.name(host.node)} "
                f"({why or error}); give the workers more memory, or use more of them."
            )
        places = [] if why or not self.machines.is_well(host.node) else [host.node]
        new = self._started(places) or self._started(self._places(host.node))
        moved = list(host.seats)
        for seat in moved:
            seat.move(new or self._with_room(seat, host, why or error))
        self._settled()
        places = {self.machines.name(seat.host.node) for seat in moved if seat.host.node != host.node}
        if places:
            warnings.warn(
                f"{self.machines.name(host.node)} is gone ({why or error}); its examples are loaded anew on "
                f"{' and '.join(sorted(places))}, and the training goes on",
                RuntimeWarning, stacklevel=users_level(),
            )  # fmt: skip

    def _places(self, but):
        """Nodes with free CPUs."""
        return [node for free, node in self.machines.free() if free >= self._n_cpus and node != but][:2]

    def _started(self, nodes):
        """A host on the first of these nodes on which one starts, or None."""
        for node in nodes:
            host = self._new_host(node)
            ref, begin = host.actor.node.remote(), time.monotonic()
            while time.monotonic() - begin < START and not self.machines.lost(node):
                if self.ray.wait([ref], timeout=LOOK)[0]:
                    break
            if within(ASIDE, self.ray.get, ref, timeout=LOOK) == node:
                self._hosts.append(host)
                return host
            within(ASIDE, self.ray.kill, host.actor)
        return None

    def _with_room(self, seat, gone, why):
        """A host that is left and whose machine has the memory for one more seat."""
        left = [host for host in self._hosts if not self._why_lost(host)]
        refs = {host: host.actor.room.remote() for host in left}
        if refs:
            self.ray.wait(list(refs.values()), num_returns=len(refs), timeout=ASIDE)
        rooms = {host: within(ASIDE, self.ray.get, ref, timeout=LOOK) or 0 for host, ref in refs.items()}
        needed = LOADED * seat.n_bytes + SPARE
        able = [host for host in left if rooms[host] >= needed]
        if able:
            return min(able, key=lambda host: (len(host.seats), -rooms[host]))
        names = sorted({self.machines.name(host.node) for host in left})
        least = f"{needed / 1e9:.1f} GB for {'its' if len(gone.seats) == 1 else 'each of its'} parts"
        kept = f"{', '.join(names)}, without the memory ({least})" if names else "no worker"
        raise MachineLost(
            f"{self.machines.name(gone.node)} is gone ({why}) with {len(gone.seats)} of {len(self.workers)} "
            f"parts of the examples, and what is left is {kept}; bring it back, or give the cluster another."
        )

    def _spread(self):
        """Give a seat of a crowded host one of its own, once that has started."""
        if self._coming is None:
            places = self._places(None)
            if places:
                host = self._new_host(places[0])
                self._coming = host, host.actor.node.remote(), time.monotonic()
            return
        host, ref, begin = self._coming
        if not self.ray.wait([ref], timeout=0)[0]:
            if time.monotonic() - begin > 3 * START:
                within(ASIDE, self.ray.kill, host.actor)
                self._coming = None
            return
        self._coming = None
        if within(ASIDE, self.ray.get, ref, timeout=LOOK) != host.node:
            return
        self._hosts.append(host)
        seat = max(self._hosts, key=lambda each: len(each.seats)).seats[-1]
        kept = self._answers([self._send(seat, "hand_over", (), ())])[0]
        old = seat.host.actor
        seat.move(host)
        old.drop.remote(seat.number)
        self._answers([self._send(seat, "take_over", (kept,), ())])
        self._settled()

    def close(self):
        super().close()
        self.machines.close()
        hosts = [*self._hosts, *([self._coming[0]] if self._coming else [])]
        within(ASIDE, lambda: [self.ray.kill(host.actor) for host in hosts])
        self.workers, self._hosts, self._coming = [], [], None
        if self._cluster is not None:
            cluster, self._cluster = self._cluster, None
            if self.machines.lost_head():
                within(ASIDE, cluster.stop)
            else:
                cluster.stop()


def _added(members):
    """(actor, sum of the answers), added by the first of them."""
    actor = members[0][0]
    return actor, actor.add.remote(*(ref for _, ref in members))


def _cause(error):
    """What a worker raised."""
    if isinstance(error.cause, Exception):
        return error.cause
    return OneslackError(f"a worker failed: {str(error).strip().splitlines()[-1]}")


def _line(error):
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
