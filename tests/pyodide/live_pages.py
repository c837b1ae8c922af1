"""What each live page shows first, where it begins small: charts and events, the same with a thread and without.

Run natively by `test_pyodide.py`, and by Pyodide as a program that prints JSON.
"""

import asyncio
import hashlib
import json
import sys
from importlib import import_module

ROOM = "comparison_hc.dashboards"


async def first_events(page):
    "Kinds of events for the settings with which a page begins in a browser."
    from comparison_hc.dashboards.worker import LatestOnly

    events, memory = [], {}
    worker = LatestOnly(lambda sent, step: page.work(page.settings.from_message(sent), step, memory), events.append)
    for number, settings in ((1, page.settings()), (2, page.settings(**page.small))):
        worker.submit(number, settings.message())
    while not events or events[-1]["kind"] != "done" or events[-1]["number"] < 2:
        await asyncio.sleep(0.02)
    worker.close()
    return [event["kind"] for event in events if event["number"] == 2 and event["kind"] != "progress"]


async def pages():
    "{page: [digest of its charts, first events]}."
    found = {}
    for name in ("planted", "flat", "step", "link", "plan"):
        page = import_module(f"{ROOM}.{name}_page").PAGE
        spec = page.spec(page.settings.values("live"), page.settings(**page.small), page.about)
        charts = hashlib.sha256(json.dumps(spec["charts"], sort_keys=True).encode()).hexdigest()[:16]
        found[name] = [charts, await first_events(page)]
    found["library"] = len(import_module(f"{ROOM}.page").vega_library())
    return found


async def main():
    print(json.dumps(await pages()))


if __name__ == "__main__" and sys.platform == "emscripten":
    asyncio.get_event_loop().create_task(main())
