"What several test files do in the same way."

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest


def assert_holds(check):
    "A registered check holds; its broken rows are shown where it does not."
    result = check()
    assert result, f"{result!r}\n{result.table[~result.table.holds].to_string()}"


def widget_events(widget, wrong):
    "What a dashboard's widget sends for settings that are wrong, and then for those that it starts with."
    sent, done = [], threading.Event()

    def send(event, *_):
        sent.append(event)
        if event["kind"] == "done":
            done.set()

    widget.send = send
    for number, settings in (("v:1", dict(widget.spec["start"], **wrong)), ("v:2", widget.spec["start"])):
        done.clear()
        widget._handle_custom_msg(dict(number=number, settings=settings), [])
        assert done.wait(30)
    widget.worker.close()
    return sent


def kinds(events):
    "Their kinds, without progress."
    return [event["kind"] for event in events if event["kind"] != "progress"]


@contextmanager
def served_dashboard(*words, token, cwd=None):
    "The command `dashboard` as a user starts it: (process, address that it prints)."
    for name in ("voila", "anywidget"):
        pytest.importorskip(name, reason=f"{name} is not installed (extra: dashboard)")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    main = "import sys; from comparison_hc.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", main, "dashboard", *words, "--no-browser", "--port", str(port)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COMPARISON_HC_TOKEN": token},
    )
    line = process.stdout.readline()
    assert f"http://127.0.0.1:{port}/" in line, line + process.stderr.read()
    yield process, f"http://127.0.0.1:{port}/"
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.wait(60)
