"`python -m comparison_hc.cli` is the command `comparison-hc`."

import sys

from . import main

sys.exit(main())
