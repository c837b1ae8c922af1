"Runs in a browser's worker: a dashboard's Python side."

import json


def begin(name, publish):
    "A function of requests; events go to `publish`, as JSON."
    from comparison_hc.dashboards.framework import find_dashboard

    def tell(event):
        publish(json.dumps(event, ensure_ascii=False))

    page = find_dashboard(name)
    if name == "ask":
        from comparison_hc.dashboards.ask_page import replies
        from comparison_hc.elicitation.session import Session

        session = Session()
        return lambda wish: [tell(event) for event in replies(session, wish, "answers")]
    from comparison_hc.dashboards.worker import LatestOnly

    memory = {}
    worker = LatestOnly(lambda sent, step: page.work(page.settings.from_message(sent), step, memory), tell)
    return lambda request: worker.submit(request["number"], request["settings"])
