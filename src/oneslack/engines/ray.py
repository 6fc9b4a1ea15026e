"""A Ray cluster: parts of the examples live in actors, on as many machines as there are.

Needs `pip install oneslack[ray]`.  Here one is started or joined; ray_crew.py trains on it.
"""

from __future__ import annotations

import glob
import os
import shutil
import signal
import socket
import tempfile
import threading
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..errors import OneslackError
from .machines import check_room, room_for
from .ray_crew import RayCrew
from .threads import count_jobs

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
        return replace(self, n_workers=max(1, room_for(machines, threads)), threads=threads)

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
                check_room(_n_cpus(ray), len(parts), threads)
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
            _show_token(ray, self.address)
            with _keeping_sigterm():
                ray.init(address=self.address, log_to_driver=False, logging_level="ERROR")
        except getattr(ray.exceptions, "AuthenticationError", ()) as error:
            raise OneslackError(
                f"the Ray cluster at {self.address!r} asks for its token ({_first_line(error.message)}); "
                "give the one that `ray start` was given there, in RAY_AUTH_TOKEN or in a file that "
                "RAY_AUTH_TOKEN_PATH names, with RAY_AUTH_MODE=token."
            ) from error
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


def _show_token(ray, address):
    """Ray's AuthenticationError at once where the token is missing or wrong: else it would try for half a
    minute, and say that nobody answers."""
    try:
        from ray._private.authentication import authentication_token_setup as tokens
        from ray._raylet import GcsClient
    except ImportError:
        return  # an older Ray, without tokens
    if address == "auto" or "/" in address:
        return
    if os.environ.get("RAY_AUTH_MODE", "").lower() == "token":
        tokens.ensure_token_if_auth_enabled(None, create_token_if_missing=False)
    GcsClient(address=address)


def _n_cpus(ray) -> list[int]:
    """CPUs of each machine that has any, whoever uses them."""
    found = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
    return [n_cpus for n_cpus in found if n_cpus] or [1]


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


def _first_line(error):
    return str(error).strip().split("\n")[0].rstrip(".")
