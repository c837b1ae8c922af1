"Every quick check: {name: (whether it holds, what it raised)}, as JSON."

import json

from comparison_hc.checks import run_checks

print(json.dumps({done.name: (bool(done.holds), done.error or "") for done in run_checks()}))
