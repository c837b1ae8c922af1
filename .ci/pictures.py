"Draw the pictures of the dashboards in nbs/figures again: `python .ci/pictures.py [NAME ...]`. Needs Chromium."

import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs/_ext"))
from browser_pages import DASHBOARDS, write_dashboards  # noqa: E402

with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    write_dashboards(Path(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    tab = browser.new_page(viewport=dict(width=1280, height=500))
    for name in sys.argv[1:] or DASHBOARDS:
        tab.goto(f"http://127.0.0.1:{server.server_port}/live/{name}.html")
        tab.wait_for_selector(".ask-leaves li" if name == "ask" else ".chc[data-done]", state="attached")
        tab.wait_for_timeout(1000)  # charts are drawn a moment later
        tab.locator(".chc").screenshot(path=ROOT / f"nbs/figures/{name}_dashboard.png")
