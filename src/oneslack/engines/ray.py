"""A Ray cluster: parts of the examples live in actors, on as many machines as there are.

Needs `pip install oneslack[ray]`.  An actor that dies is started again by Ray and loads its part anew; what
else it knew (scores, remembered cuts, duals) is told or found again.
"""

from __future__ import annotations

import glob
import os
import pickle
import shutil
import signal
import socket
import tempfile
import threading
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest

from ..errors import OneslackError
from .crew import Crew
from .processes import packed_with_code
from .sums import add_up
from .threads import count_jobs

#: How often an actor may die before the training gives up.
RESTARTS = 20
#: So many sums are added by the driver; more of them first where they are, then two by two.
FEW = 4
#: Seconds that a cluster has to answer, and how often one of our own is started before we give up.
PATIENCE, ATTEMPTS = 10.0, 3
#: How the folders of our own clusters begin; the number of their process follows.
FOLDER = "oneslack-ray-"
#: Longer paths leave no room for the names of Ray's sockets.
SHORT_PATH = 40


@dataclass(frozen=True)
class Ray:
    """Where to train: a Ray cluster.

    n_workers  parts that the examples are cut into, one actor each; None for as many as the cluster has room
               for.  On one machine estimators with compiled loops take one actor of so many threads instead,
               and train as without Ray
    address    of a cluster: "auto" for the one that this machine belongs to, or host:port; None starts one on
               this machine alone (127.0.0.1), and stops it after the training; one that the process has
               joined already (ray.init) is used as it is
    threads    of each actor, on as many CPUs; None for 1, but where neither number is given and a compiled
               decoder is asked, for all CPUs of a machine

    >>> import oneslack
    >>> model = oneslack.LinearSVC(engine=oneslack.Ray(n_workers=8, address="auto"))
    """

    n_workers: int | None = None
    address: str | None = None
    threads: int | None = None

    def __post_init__(self):
        for name in ("n_workers", "threads"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise ValueError(f"{name}={number} is not possible; use None or a positive number")

    def on_one_machine(self) -> Ray | None:
        """As one worker with as many threads as there would be workers, where one machine is all there is;
        None where there are more, or where workers are asked for by their threads."""
        if self.n_workers == 1:
            return replace(self, threads=self.threads or 1)
        if self.threads is not None:
            return None
        if self._is_new():
            return replace(self, n_workers=1, threads=self.n_workers or count_jobs(None))
        machines = self._machines()
        threads = self.n_workers or machines[0]
        has_room = len(machines) == 1 and threads <= machines[0]
        return replace(self, n_workers=1, threads=threads) if has_room else None

    def _is_new(self) -> bool:
        """Whether the cluster will be started for the training, on this machine."""
        return self.address is None and not _imported().is_initialized()

    def laid_out(self, decodes) -> Ray:
        """With both numbers.  decodes: whether workers ask a compiled decoder, whose time counts most; it
        runs in threads, and fewer workers are in each other's way less."""
        if self.n_workers is not None:
            return replace(self, threads=self.threads or 1)
        machines = self._machines()
        threads = self.threads or (min(machines) if decodes else 1)
        return replace(self, n_workers=max(1, _room(machines, threads)), threads=threads)

    def _machines(self) -> list[int]:
        """How many CPUs each of them has."""
        if self._is_new():
            return [count_jobs(None)]
        ray = _imported()
        cluster = self._join(ray)
        try:
            return _n_cpus(ray)
        finally:
            if cluster is not None:
                cluster.stop()

    def start(self, kind, parts, model, options) -> RayCrew:
        """A crew with an actor of this kind (parts/worker.py) for each part; `laid_out` comes first."""
        ray = _imported()
        cluster, threads = None, self.threads
        if not ray.is_initialized():
            cluster = self._join(ray, len(parts) * threads)
        try:
            if not isinstance(cluster, LocalCluster):
                _check_room(ray, len(parts), threads)
            return RayCrew(ray, cluster, kind, parts, model, options | {"n_jobs": threads})
        except BaseException:
            if cluster is not None:
                cluster.stop()
            raise

    def _join(self, ray, n_cpus=None):
        """Start a cluster, or join one; the answer can be stopped."""
        if ray.is_initialized():
            return None
        if self.address is None:
            return LocalCluster(ray, n_cpus)
        try:
            _knock(self.address)
            with _keeping_sigterm():
                ray.init(address=self.address, log_to_driver=False, logging_level="ERROR")
        except (OSError, ValueError, RuntimeError) as error:
            raise OneslackError(
                f"no Ray cluster answers at {self.address!r} ({_first_line(error)}); start one with "
                "`ray start --head`, or leave the address out to use this machine alone."
            ) from error
        return JoinedCluster(ray)


def _knock(address):
    """An error at once where nobody listens: Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        with socket.create_connection((host, int(port)), timeout=PATIENCE):
            pass


def _n_cpus(ray) -> list[int]:
    """CPUs of each machine that has any, whoever uses them."""
    found = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
    return [n_cpus for n_cpus in found if n_cpus] or [1]


def _room(machines, threads) -> int:
    """How many workers of so many threads fit on machines with these CPUs."""
    return sum(n_cpus // threads for n_cpus in machines)


def _check_room(ray, n_workers, threads):
    """An error at once where some actors could never start: Ray itself would wait for ever."""
    machines = _n_cpus(ray)
    if n_workers > _room(machines, threads):
        raise OneslackError(
            f"the Ray cluster has {' + '.join(map(str, machines))} CPUs, too few for {n_workers} "
            f"worker{'s' * (n_workers > 1)} with {threads} each; ask for fewer (n_workers or n_jobs, "
            "threads), or add machines."
        )


def _imported():
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Our actors ask for no accelerator: Ray's future default says what we mean.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Ray itself is warned of is not the user's to mend
            import ray
    except ImportError as error:
        raise OneslackError("engine='ray' needs Ray: pip install 'oneslack[ray]'") from error
    return ray


@contextmanager
def _keeping_sigterm():
    """Ray makes SIGTERM end the process when it starts: who wants something else of it keeps that."""
    wanted = signal.getsignal(signal.SIGTERM)
    yield
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and wanted not in (None, signal.SIG_DFL):
        signal.signal(signal.SIGTERM, wanted)


class JoinedCluster:
    """A cluster of somebody else's: leave it as it was."""

    def __init__(self, ray):
        self.ray = ray

    def stop(self):
        self.ray.shutdown()


class LocalCluster:
    """A cluster of our own on this machine, which nobody else can reach."""

    def __init__(self, ray, n_cpus):
        self.ray, self.folder = ray, ""
        # What Ray does by itself on a Mac: it binds to 127.0.0.1, and nobody else can reach it.
        constants = ray._private.ray_constants
        self._was_open, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, False
        home = tempfile.gettempdir()
        home = home if len(home) <= SHORT_PATH else "/tmp"
        _sweep(home)
        try:
            self._start(n_cpus, home)
        except BaseException:
            self.stop()
            raise

    def _start(self, n_cpus, home):
        """A busy machine may be too slow for Ray's own limits of time: then once more."""
        for attempt in range(1, ATTEMPTS + 1):
            self.folder = tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-", dir=home)
            try:
                with warnings.catch_warnings(), _keeping_sigterm():
                    warnings.simplefilter("ignore")
                    return self.ray.init(
                        num_cpus=n_cpus, include_dashboard=False, _node_ip_address="127.0.0.1",
                        _temp_dir=self.folder, log_to_driver=False, logging_level="ERROR",
                    )  # fmt: skip
            except Exception as error:
                self._leave()
                if attempt == ATTEMPTS:
                    raise OneslackError(
                        f"Ray could not be started on this machine ({_first_line(error)}); try again when it "
                        "is less busy, or start a cluster by `ray start --head` and give its address."
                    ) from error

    def _leave(self):
        self.ray.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        self._leave()
        self.ray._private.ray_constants.ENABLE_RAY_CLUSTER = self._was_open


def _sweep(home):
    """Remove the folders of clusters whose process was killed; Ray's own processes end with it."""
    for path in glob.glob(os.path.join(home, f"{FOLDER}*")):
        pid = os.path.basename(path)[len(FOLDER) :].partition("-")[0]
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            shutil.rmtree(path, ignore_errors=True)
        except (ValueError, OSError):
            continue  # not ours to judge


class RayCrew(Crew):
    """Actors, each with a part of the examples."""

    def __init__(self, ray, cluster, kind, parts, model, options):
        self.ray, self._cluster = ray, cluster
        maker = ray.put(packed_with_code((kind, model, options), model))
        actor = ray.remote(_Actor).options(
            num_cpus=options["n_jobs"], max_restarts=RESTARTS, max_task_retries=RESTARTS
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            super().__init__([actor.remote() for _ in parts])
            # What an actor needs, at first and whenever it comes back.
            sources = [[maker, ray.put(_sendable(part, model))] for part in parts]
            self._sources = dict(zip(self.workers, sources, strict=True))
            self.nodes = self._got([worker.node.remote() for worker in self.workers])
        self.n_machines = len(set(self.nodes))

    def _got(self, refs):
        ray = self.ray
        try:
            return ray.get(refs)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, Exception):
                raise cause from None
            raise OneslackError(f"a worker failed: {_last_line(error)}") from None
        except ray.exceptions.RayError as error:
            raise OneslackError(
                f"a Ray worker died {RESTARTS} times, or its machine is gone ({_first_line(error)}); give "
                "the workers more memory, or use more of them."
            ) from error

    def _shared(self, vector):
        return self.ray.put(vector)

    def _send(self, worker, method, message, vectors):
        return worker.do.remote(self._sources[worker], method, message, *vectors)

    def _gathered(self, futures):
        return self._got(futures)

    def _summed(self, futures):
        """First the answers of a machine, there; then those of two machines, and so on."""
        if len(futures) > FEW:
            futures = self._sum_in_tree(futures)
        return add_up(self._got(futures))

    def _sum_in_tree(self, futures):
        by_node = {}
        for node, worker, future in zip(self.nodes, self.workers, futures, strict=True):
            by_node.setdefault(node, []).append((worker, future))
        sums = [_added(members) for members in by_node.values()]
        while len(sums) > 1:
            pairs = zip_longest(sums[::2], sums[1::2])
            sums = [pair[0] if pair[1] is None else _added(pair) for pair in pairs]
        return [sums[0][1]]

    def close(self):
        super().close()
        for worker in self.workers:
            self.ray.kill(worker)
        self.workers, self._sources = [], {}
        if self._cluster is not None:
            self._cluster.stop()
            self._cluster = None


def _added(members):
    """(worker, sum of the answers), added by the first worker of them."""
    worker = members[0][0]
    return worker, worker.add.remote(*(future for _, future in members))


class _Actor:
    """Around a Worker: an actor that comes back makes it anew."""

    def __init__(self):
        self._worker = None

    def do(self, sources, method, message, *vectors):
        if self._worker is None:
            self._worker = self._made(sources)
        return self._worker.do(method, message, *vectors)

    def _made(self, sources):
        import ray

        from .threads import single_blas_thread

        maker, part = ray.get(sources)
        kind, model, options = pickle.loads(maker)
        self._limit = single_blas_thread()
        return kind(pickle.loads(part) if isinstance(part, bytes) else part, model, options)

    def add(self, *answers):
        return add_up(answers)

    def pid(self):
        return os.getpid()

    def node(self):
        import ray

        return ray.get_runtime_context().get_node_id()


def _sendable(part, model):
    """Arrays go through shared memory; lists of anything go with the code of their classes."""
    if isinstance(getattr(part, "X", None), list):
        return packed_with_code(part, model)
    return part


def _first_line(error):
    return str(error).strip().split("\n")[0].rstrip(".")


def _last_line(error):
    return str(error).strip().split("\n")[-1]
