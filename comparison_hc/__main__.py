"""`python -m comparison_hc` is the command `comparison-hc`."""

import signal


def main():
    "The command. Ctrl-C while Python reads the modules, or tidies up, ends it without a word: nothing is half done."
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell may have said to ignore it
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from comparison_hc.cli import main as run

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = run()
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
