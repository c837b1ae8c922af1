"Runs in a browser's worker: a dashboard's Python side."

import json
from importlib import import_module


def begin(name, publish):
    "A function of requests; events go to `publish`, as JSON."
    module = import_module(f"comparison_hc.dashboards.{name}_page")

    def tell(event):
        publish(json.dumps(event, ensure_ascii=False))

    if name == "ask":
        from comparison_hc.elicitation.session import Session

        session = Session()
        return lambda wish: [tell(event) for event in module.replies(session, wish, "answers")]
    from comparison_hc.dashboards.worker import LatestOnly

    page, memory = module.PAGE, {}
    worker = LatestOnly(lambda sent, step: page.work(page.settings.from_message(sent), step, memory), tell)
    return lambda request: worker.submit(request["number"], request["settings"])
