"""`python -m comparison_hc` is the command `comparison-hc`."""

from comparison_hc.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
