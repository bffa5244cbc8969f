"""Runs a program that must not outlive the one who started it. Executed as a file, never imported.

Usage: python tether.py PARENT_PID PROGRAM ARGUMENT...   The program keeps this process's id, so that whoever
started it sees, signals and reaps the real thing. Only the standard library: it must start in milliseconds.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(parent: int, command: list[str]) -> None:
    """Asks the kernel for SIGTERM when `parent` dies, then becomes `command`. Never returns.

    Only Linux has this (prctl(2)); elsewhere the program simply starts, and a killed parent leaves it
    running. The signal comes when the *thread* that started us ends: start us from the main thread.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("tether: the process that wanted this program is gone")
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"tether: can't run {command[0]}: {error.strerror}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
