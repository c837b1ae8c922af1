"""The process that runs a student's cells: its limits, what it may open, and the messages through which it is asked."""

import base64
import json
import os
import struct
import sys
from collections import deque
from collections.abc import ItemsView, KeysView, ValuesView
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from types import ModuleType

import numpy as np

LARGEST_MESSAGE = 32 << 20  # bytes
_PLAIN = (bool, int, float, str)


class Remote:
    "A stand-in for something in the other process: it can be called, advanced as a generator, and asked."

    def __init__(self, link, handle, about):
        self._link, self._handle, self._about = link, handle, about

    def __repr__(self):
        return self._about

    def __call__(self, *args, **kwargs):
        return self._link.ask({"do": "call", "handle": self._handle}, args=args, kwargs=kwargs)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._link.ask({"do": "get", "handle": self._handle, "name": name})

    def __getitem__(self, key):
        return self._link.ask({"do": "item", "handle": self._handle}, args=(key,))

    def __len__(self):
        return self._link.ask({"do": "len", "handle": self._handle})

    def __iter__(self):
        return self

    def __next__(self):
        return self.send(None)

    def send(self, value):
        "As a generator's."
        return self._link.ask({"do": "send", "handle": self._handle}, args=(value,))

    def close(self):
        "As a generator's."
        self._link.ask({"do": "close", "handle": self._handle})


def encode(value, keep):
    "A value for the other process."
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, np.generic):
        return encode(value.item(), keep)
    if isinstance(value, (list, tuple, set, frozenset)):
        tag = "list" if isinstance(value, list) else "tuple" if isinstance(value, tuple) else "set"
        return {tag: [encode(v, keep) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(k, keep), encode(v, keep)] for k, v in value.items()]}
    if isinstance(value, (Fraction, Decimal)):
        return float(value)
    if isinstance(value, (range, deque, KeysView, ValuesView, ItemsView)):
        return encode(list(value), keep)
    if isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim:
        return encode(value.tolist(), keep)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcU":
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": [value.dtype.str, list(value.shape), data]}
    if isinstance(value, np.random.Generator):
        return {"rng": _plain_state(value.bit_generator.state)}
    named = _encode_ours(value, keep)
    if named is not None:
        return named
    if isinstance(value, Remote):
        return {"yours": value._handle}
    return {"handle": [keep(value), f"{type(value).__name__} {str(getattr(value, '__name__', ''))}".strip()]}


def _plain_state(state):
    return {k: _plain_state(v) if isinstance(v, dict) else v for k, v in state.items()}


def _encode_ours(value, keep):
    "Answers and trees of this package; None for others."
    from comparison_hc.comparisons import Quadruplets, Triplets
    from comparison_hc.dendrogram import Dendrogram

    for kind in (Triplets, Quadruplets):
        if type(value) is kind:
            return {kind.__name__: encode([value.array, value.n_objects], keep)}
    if type(value) is Dendrogram:
        return {"Dendrogram": encode([value.linkage_matrix, [list(map(int, c)) for c in value.initial_clusters]], keep)}
    return None


def decode(sent, link):
    "A value from the other process. Raises `ValueError` for what `encode` does not write."
    if sent is None or type(sent) in _PLAIN:
        return sent
    if not isinstance(sent, dict) or len(sent) != 1:
        raise ValueError("no message of this kind")
    ((tag, body),) = sent.items()
    if tag in ("list", "tuple", "set"):
        return {"list": list, "tuple": tuple, "set": set}[tag](decode(v, link) for v in body)
    if tag == "dict":
        return {decode(k, link): decode(v, link) for k, v in body}
    if tag == "array":
        return _decode_array(*body)
    if tag == "handle":
        return Remote(link, int(body[0]), str(body[1])[:200])
    if tag == "yours":
        return link.kept[int(body)]
    if tag == "rng":
        return _decode_rng(body)
    return _decode_ours(tag, decode(body, link))


def _decode_array(kind, shape, data):
    dtype = np.dtype(kind)
    if dtype.kind not in "biufcU":
        raise ValueError("no array of this kind")
    return np.frombuffer(base64.b64decode(data), dtype).reshape(shape).copy()


def _decode_rng(state):
    name = state["bit_generator"]
    if name not in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"):
        raise ValueError("no generator of this kind")
    bits = getattr(np.random, name)()
    bits.state = state
    return np.random.Generator(bits)


def _decode_ours(tag, body):
    from comparison_hc.comparisons import Quadruplets, Triplets
    from comparison_hc.dendrogram import Dendrogram

    if tag in ("Triplets", "Quadruplets"):
        return {"Triplets": Triplets, "Quadruplets": Quadruplets}[tag](body[0], n_objects=body[1])
    if tag == "Dendrogram":
        return Dendrogram.from_linkage(body[0], initial_clusters=body[1])
    raise ValueError("no message of this kind")


class RemoteError(Exception):
    "What the other process raised."

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


class Link:
    "Messages to another process and back, over two file descriptors."

    def __init__(self, reads, writes, serve=None, wait=None):
        self.reads, self.writes, self.serve, self.wait = reads, writes, serve, wait
        self.kept = {}  # handle -> value

    def keep(self, value):
        "A handle for a value."
        handle = len(self.kept) + 1
        self.kept[handle] = value
        return handle

    def write(self, message):
        "Send a message whole."
        data = json.dumps(message).encode()
        if len(data) > LARGEST_MESSAGE:
            raise ValueError(f"a result of {len(data):,} bytes is too large to be sent")
        data = struct.pack(">I", len(data)) + data
        while data:
            data = data[os.write(self.writes, data) :]

    def read(self):
        "A message. Raises `EOFError` when the other side is gone, `ValueError` for what is none."
        size = struct.unpack(">I", self._bytes(4))[0]
        if size > LARGEST_MESSAGE:
            raise ValueError("a message that is too large")
        return json.loads(self._bytes(size))

    def _bytes(self, size):
        data = b""
        while len(data) < size:
            if self.wait is not None:
                self.wait()
            more = os.read(self.reads, min(size - len(data), 1 << 20))
            if not more:
                raise EOFError("the other process has ended")
            data += more
        return data

    def ask(self, request, args=(), kwargs=None):
        "Send a request and wait for its answer, serving the other side meanwhile."
        given = {"args": encode(list(args), self.keep), "kwargs": encode(kwargs or {}, self.keep)}
        self.write({**request, **given})
        while True:
            message = self.read()
            if "do" in message:
                self.answer(message)
            elif "stop" in message:
                raise StopIteration(decode(message["stop"], self))
            elif "error" in message:
                raise RemoteError(str(message["error"])[:80], str(message.get("text"))[:500])
            else:
                return decode(message["value"], self)

    def answer(self, request):
        "Do what the other side asks, and send what comes of it."
        try:
            reply = {"value": encode(self._do(request), self.keep)}
        except StopIteration as end:
            reply = {"stop": encode(end.value, self.keep)}
        except RemoteError as error:
            reply = {"error": error.kind, "text": str(error)}
        except Exception as error:
            reply = {"error": type(error).__name__, "text": str(error)[:500]}
        try:
            self.write(reply)
        except ValueError as error:
            self.write({"error": "ValueError", "text": str(error)})

    def _do(self, request):
        what = request["do"]
        args, kwargs = decode(request["args"], self), decode(request["kwargs"], self)
        if "handle" not in request:
            if self.serve is None:
                raise ValueError("nothing to do")
            return self.serve(request, *args)
        thing = self.kept[int(request["handle"])]
        if what == "call":
            return thing(*args, **kwargs)
        if what == "get" and not request["name"].startswith("_"):
            return getattr(thing, request["name"])
        if what == "item":
            return thing[args[0]]
        if what == "len":
            return len(thing)
        if what == "send":
            return next(thing) if args[0] is None else thing.send(args[0])
        if what == "close":
            return thing.close()
        raise ValueError("nothing to do")


def set_limits(memory, seconds, file_size):
    "Limits that the process cannot lift. Without effect where the system has none."
    try:
        import resource
        import signal
    except ImportError:
        return
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for what, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 256),
    ):
        most = resource.getrlimit(what)[1]
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(what, (value, value))


_SYSTEM = ("/usr", "/lib", "/lib64", "/etc", "/sys", "/dev/null", "/dev/urandom", "/dev/random", "/proc/self")
_SYSTEM += ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys")
_REFUSED = (
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.system",
    "os.exec",
    "os.spawn",
    "subprocess.Popen",
    "pty.spawn",
)
_REFUSED += (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.sendmsg",
    "socket.getaddrinfo",
    "os.kill",
    "os.killpg",
)
_REFUSED += ("os.link", "os.symlink", "os.chown", "os.setxattr")
_CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "shutil.rmtree", "shutil.move")


def guard(folder, hidden=()):
    "Refuse files outside the folder and the Python installation, connections and processes. For good."
    import comparison_hc

    def real(path):
        return os.path.realpath(os.fsdecode(path))

    own = real(folder)
    package = real(os.path.dirname(comparison_hc.__file__))
    installed = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    places = {sys.prefix, sys.base_prefix, sys.exec_prefix, "/proc/self", *installed}  # some are a user's own
    reads = [own, package, *map(real, places), *_SYSTEM]
    data = os.environ.get("COMPARISON_HC_DATA")
    if data:
        reads.append(real(data))
    closed = [os.path.join(package, "classroom", "sources"), *map(real, hidden)]

    def inside(path, folders):
        return any(path == f or path.startswith(f.rstrip("/") + "/") for f in folders)

    def hook(event, args):
        if event == "open":
            path, mode, flags = args
            if isinstance(path, int) or path is None:
                return
            path = real(path)
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            good = inside(path, [own, "/dev/null"]) if writes else inside(path, reads) and not inside(path, closed)
            if not good:
                raise PermissionError("an assignment may open files in its own folder only")
        elif event in _CHANGES:
            if not inside(real(args[0]), [own]):
                raise PermissionError("an assignment may change files in its own folder only")
        elif event in _REFUSED:
            raise PermissionError(f"an assignment may not use {event}")

    sys.addaudithook(hook)


def plain_python(text):
    "The cell without the lines that only a notebook understands."
    lines = text.split("\n")
    if lines and lines[0].startswith("%%"):
        return ""
    for i, line in enumerate(lines):
        if line.lstrip()[:1] in ("%", "!", "?"):
            lines[i] = line[: len(line) - len(line.lstrip())] + "pass"
    return "\n".join(lines)


class Cells:
    "The namespace of a notebook, and what may be done with it."

    def __init__(self):
        self.names = {"__name__": "__main__", "check": lambda *args: None}  # the tests are outside

    def __call__(self, request, *args):
        "Serve a request."
        if request["do"] == "run":
            exec(compile(plain_python(request["text"]), f"<{request['name']}>", "exec"), self.names)
            return None
        if request["do"] == "names":
            return [k for k, v in self.names.items() if not k.startswith("__") and not isinstance(v, ModuleType)]
        if request["do"] == "value":
            found = self.names[request["name"]]
            return "..." if found is ... else found
        raise ValueError("nothing to do")


def main(arguments):
    "Serve until the other side is gone."
    settings = json.loads(arguments[0])
    sys.stdin = open(os.devnull)
    sys.modules["numba"] = None  # what the package compiles runs as Python here: compiling takes longer than running
    for module in ("classroom.checking", "comparisons", "dendrogram", "link._kinetic"):  # before files are closed
        import_module(f"comparison_hc.{module}")
    del sys.modules["numba"]

    for user in settings["user"]:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    set_limits(settings["memory"], settings["seconds"], settings["file_size"])
    guard(settings["folder"], settings["hidden"])
    link = Link(settings["reads"], settings["writes"], serve=Cells())
    sys.path.insert(0, "")
    try:
        while True:
            link.answer(link.read())
    except EOFError:
        os._exit(0)
