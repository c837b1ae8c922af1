"""Voila behind one dashboard: a port that is ours, a page that asks nobody else, and no process left behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ..core.parallel import die_with_parent
from ..core.validation import InputError, check_integer, check_number, require
from .page import import_extra, static_text

WORD_PATH = "voila/templates/comparison-hc/static/word"  # in the folder, and in the address
EXTENSIONS = ("@voila-dashboards/widgets-manager8", "@jupyter-widgets/jupyterlab-manager", "anywidget")
VOILA = {"auto_token": True, "tornado_settings": {"allow_remote_access": False}}  # the token is in its environment


def write_served(folder, dashboard, arguments, word):
    "The notebook, a kernel that is this interpreter, the template, and the word."
    source = f"from {dashboard.module} import {dashboard.widget}\n{dashboard.widget}(**{arguments!r})"
    cell = dict(cell_type="code", id="dashboard", execution_count=None, metadata={}, outputs=[], source=source)
    kernel = dict(name="comparison-hc", display_name="comparison_hc", language="python")
    metadata = dict(kernelspec=kernel, title=dashboard.title)
    start = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    files = {
        f"{dashboard.name}.ipynb": json.dumps(dict(cells=[cell], metadata=metadata, nbformat=4, nbformat_minor=5)),
        "kernels/comparison-hc/kernel.json": json.dumps(
            dict(argv=start, display_name="comparison_hc", language="python")
        ),
        "voila/templates/comparison-hc/index.html.j2": static_text("voila.html.j2"),
        "voila/templates/comparison-hc/conf.json": json.dumps(dict(base_template="lab")),
        "voila.json": json.dumps(dict(Voila=VOILA)),  # Voila reads it where it starts
        WORD_PATH: word,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def voila_command(notebook, port, idle=120, interval=20):
    "The words that start Voila."
    return [
        sys.executable,
        "-c",
        f"from comparison_hc.dashboards.server import voila_main; voila_main({os.getpid()})",
        str(notebook),
        "--no-browser",
        f"--port={port}",
        "--Voila.ip=127.0.0.1",
        "--Voila.port_retries=0",
        "--Voila.log_level=ERROR",
        "--template=comparison-hc",
        *(f"--VoilaConfiguration.extension_allowlist={name}" for name in EXTENSIONS),
        "--preheat_kernel=True",
        "--pool_size=1",
        f"--MappingKernelManager.cull_interval={interval}",
        f"--MappingKernelManager.cull_idle_timeout={idle}",
    ]


def kept_until_given(manager):
    "The same, but kernels count as idle only from when a page has got them."
    from datetime import datetime, timezone

    class Kernels(manager):
        "Voila asks about a kernel only when it is in no pool, or is not in it yet."

        async def cull_kernel_if_idle(self, kernel_id):
            if not all(begun.done() for pool in self._pools.values() for begun in pool):
                return  # one that is being made ready looks like one that a page has got
            kernel = self.get_kernel(kernel_id)
            if not getattr(kernel, "is_given", False):
                kernel.is_given, kernel.last_activity = True, datetime.now(timezone.utc)
            await super().cull_kernel_if_idle(kernel_id)

    return Kernels


def voila_main(home=None):
    "What the command runs, with the words of the command."
    if home is not None:
        die_with_parent(home, kindly=True)
    from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
    from traitlets.config import Config
    from voila.app import Voila

    config = Config()
    config.VoilaConfiguration.multi_kernel_manager_class = kept_until_given(AsyncMappingKernelManager)
    Voila.launch_instance(config=config)


def _is_free(port):
    "Whether a server could listen there now."
    with socket.socket() as probe:
        if os.name == "posix":  # elsewhere this word would let two servers share the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port(port=None):
    "A port for a server on this machine. Raises `InputError` if the wanted one is taken."
    if port is None:
        if _is_free(8866):
            return 8866
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]
    check_integer(port, "--port", 1, 65535)
    require(_is_free(port), "--port", "a port that is free", port)
    return port


def _word_at(port):
    "What the server on this port says where ours says its word; None if nobody answers."
    from http.client import HTTPConnection, HTTPException  # not urllib, which would ask a proxy

    connection = HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", f"/{WORD_PATH}")
        return connection.getresponse().read(64).decode("ascii", "replace")
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


def _is_ours(process, port, word, deadline):
    "Wait until the server on this port says our word; False if our process ends before, or the time."
    while process.poll() is None and time.monotonic() < deadline:
        if _word_at(port) == word:
            return True
        time.sleep(0.1)
    return False


def _start_server(notebook, wanted, word, token, deadline):
    "A server that answers, and its port; `InputError` if there is none by the deadline."
    log = notebook.with_name("log")
    paths = os.pathsep.join([str(notebook.parent), *filter(None, [os.environ.get("JUPYTER_PATH")])])
    while True:
        port = free_port(wanted)
        with open(log, "w") as output:
            process = subprocess.Popen(
                voila_command(notebook, port),
                cwd=notebook.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env={**os.environ, "JUPYTER_PATH": paths, "JUPYTER_TOKEN": token},
            )
        try:
            if _is_ours(process, port, word, deadline):
                return process, port
        except BaseException:  # Ctrl-C while we wait
            _end(process)
            raise
        said = log.read_text(errors="replace").strip().splitlines()  # before it is ended, which it would comment on
        _end(process)
        if _is_free(port) or time.monotonic() > deadline:
            raise InputError(f"the server did not start: {said[-1] if said else 'it said nothing'}")


def _end(process):
    "End the server as Ctrl-C would, which also ends its kernels; after ten seconds, harder."
    gentle = signal.SIGINT if os.name == "posix" else signal.SIGTERM
    for number, patience in ((gentle, 10), (signal.SIGTERM, 5)):
        if process.poll() is None:
            process.send_signal(number)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        break
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)  # a kernel that outlived its server; usually nobody is left
        except ProcessLookupError:
            pass
    elif process.poll() is None:
        process.kill()


@contextmanager
def serve_dashboard(dashboard, port=None, patience=120, **arguments):
    """Serve a dashboard on this machine until the context ends. Needs the extra `dashboard`.

    Parameters
    ----------
    dashboard
        As for `write_served`.
    port
        As for `free_port`.
    patience
        Seconds until the first page must be there.
    **arguments
        Of its widget: numbers, texts and None.

    Returns
    -------
    result
        Yields the address, with the token that opens the page.
    """
    import secrets
    import tempfile

    require(isinstance(dashboard, Dashboard), "dashboard", "made by Dashboard", dashboard)
    check_number(patience, "patience", 0)
    for name in ("voila", "anywidget", "ipykernel"):
        import_extra(name)
    word, token = secrets.token_hex(16), secrets.token_urlsafe(12)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        write_served(Path(folder), dashboard, arguments, word)
        notebook, deadline = Path(folder) / f"{dashboard.name}.ipynb", time.monotonic() + patience
        process, port = _start_server(notebook, port, word, token, deadline)
        try:
            yield f"http://127.0.0.1:{port}/?token={token}"
        finally:
            _end(process)


DASHBOARD_MODULES = [
    "comparison_hc.dashboards.planted_page",
    "comparison_hc.dashboards.flat_page",
    "comparison_hc.dashboards.step_page",
    "comparison_hc.dashboards.ask_page",
    "comparison_hc.dashboards.link_page",
    "comparison_hc.dashboards.plan_page",
]


@dataclass(frozen=True)
class Dashboard:
    "A dashboard that can be found by name."

    name: str  # for the command line
    title: str  # in words
    module: str  # where the function below is
    widget: str  # name of a function that makes the widget; it needs no arguments
    static: object  # function of (progress, pages=None) that returns the static twin's HTML; None if none
    prepare: object = None  # function of options by name that returns arguments for `widget`; None if it takes none


_registry = {}


def register_dashboard(dashboard):
    """Let the command find a dashboard.

    Parameters
    ----------
    dashboard
        `Dashboard`.

    Returns
    -------
    result
        The same.
    """
    require(isinstance(dashboard, Dashboard), "dashboard", "made by Dashboard", dashboard)
    known = _registry.get(dashboard.name, dashboard)
    require(known.module == dashboard.module, "name", "that of one dashboard only", dashboard.name)
    _registry[dashboard.name] = dashboard
    return dashboard


def find_dashboard(name=None):
    """The dashboard with this name, or all.

    Parameters
    ----------
    name
        Name of a dashboard, or None.

    Returns
    -------
    result
        `Dashboard`; for None, {name: `Dashboard`}.
    """
    for module in DASHBOARD_MODULES:
        import_module(module)
    if name is None:
        return dict(_registry)
    require(isinstance(name, str) and name in _registry, "NAME", f"one of {', '.join(_registry)}", name)
    return _registry[name]


def run_dashboard(name, port=None, browser=True, stop=None, **options):
    """Serve a dashboard until Ctrl-C; a request to terminate is taken as one, so that no server is left behind.

    Parameters
    ----------
    name
        Name of a dashboard.
    port
        As for `free_port`.
    browser
        Whether to open it.
    stop
        `threading.Event` that ends it; None for Ctrl-C only.
    **options
        Of this dashboard.
    """
    import signal
    import webbrowser

    require(name is not None, "NAME", "the name of a dashboard", name)
    dashboard = find_dashboard(name)
    takes_options = dashboard.prepare is not None
    require(takes_options or not options, f"the options of {name}", "left out: it has none", ", ".join(options))
    arguments = dashboard.prepare(**options) if takes_options else {}
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)
    with serve_dashboard(dashboard, port, **arguments) as address:
        print(f"{dashboard.title}: {address} (Ctrl-C ends it)", flush=True)
        if browser:
            webbrowser.open(address)
        (stop or threading.Event()).wait()


def _interrupt(*_):
    raise KeyboardInterrupt


def write_static(name, path, progress=None, pages=None):
    """Write the static twin of a dashboard.

    Parameters
    ----------
    name
        Name of a dashboard.
    path
        File to write, *.html.
    progress
        Called with (settings done, settings in all).
    pages
        As for `sources_html`.
    """
    from comparison_hc.core.io import atomic_write, check_destination

    require(name is not None, "NAME", "the name of a dashboard", name)
    dashboard = find_dashboard(name)
    having = ", ".join(each.name for each in find_dashboard().values() if each.static)
    require(dashboard.static is not None, "NAME", f"a dashboard with a static twin ({having})", name)
    atomic_write(check_destination(path, "--static", (".html",)), dashboard.static(progress, pages=pages))
