"""A development system of stand-ins, run as a program by test_dev_supervisor.py.

Redis, supervisor and processes are real; instead of the service, small servers say yes to everything.
Usage: python dev_stub_system.py FOLDER [--json] [--limit SECONDS] [--web CODE] [--worker CODE] [--twilio]
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from handoff.dev import real_calls, system, tunnel
from handoff.dev.folder import Folder
from handoff.dev.ports import Promises
from handoff.dev.real_calls import RealCalls
from handoff.dev.signals import Wakeups
from handoff.dev.supervisor import Running

SAYS_YES = """
import http.server, sys
class Yes(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Yes).serve_forever()
"""
WAITS = "import signal; signal.pause()"


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--json", action="store_true")
    options.add_argument("--limit", type=float, default=20)
    options.add_argument("--web", default=SAYS_YES)
    options.add_argument("--worker", default=WAITS)
    options.add_argument("--twilio", action="store_true")
    chosen = options.parse_args()

    folder = Folder.open(chosen.folder)
    real = None
    if chosen.twilio:
        real = RealCalls(real_calls.settings(os.environ, Path("no-such-file")), tunnel.find())
    plan = system.plan(folder, os.environ, Promises(), real=real)
    code = {
        "web": (chosen.web, str(plan.kept.web_port)),
        "devphone": (SAYS_YES, str(plan.kept.devphone_port)),
        "worker": (chosen.worker,),
        "callbacks": (WAITS,),
        "clock": (WAITS,),
    }
    programs = tuple(
        replace(program, command=(sys.executable, "-u", "-c", *code[program.name]))
        if program.name in code
        else program
        for program in plan.programs
    )
    with Wakeups() as wakeups:
        running = Running(
            replace(plan, programs=programs),
            folder,
            wakeups,
            json_output=chosen.json,
            start_limit_s=chosen.limit,
        )
        return running.until_stopped()


if __name__ == "__main__":
    sys.exit(main())
