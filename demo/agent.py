"""The demo's agent: a program that orders a teapot, and asks a person when the shop will not have a robot.

    HANDOFF_URL=... HANDOFF_API_KEY=... python -m demo.agent http://127.0.0.1:8030/

Everything about Handoff is in one call. What it prints is its own log; exit code 0 means that it ordered.
"""

import sys

import human
from demo.browser import Browser

MOST_TRIES = 5


def main(shop: str) -> int:
    """Orders from the shop at this address; 1 when that was not to be."""
    browser = Browser(user_agent="teapot-agent/1.0")
    say(f"opens {shop} and wants to order a teapot")
    browser.open(shop)
    browser.press("Check out")
    checkout = browser.url
    browser.press("Place the order")
    for _ in range(MOST_TRIES):
        if browser.status != 403:
            break
        say("is refused (403): the shop wants a person to tick a box. Calls human.clear_wall() and waits")
        try:
            cleared = human.clear_wall(
                reason="A human-verification checkbox is blocking checkout",
                live_view_url=checkout,
                timeout_s=600,
            )
        except human.HumanError as error:
            say(f"stops: {error}")
            return 1
        say(f"goes on: {cleared.by} cleared it ({cleared.proof})")
        browser.open(checkout)
        browser.press("Place the order")
    if browser.status != 201:
        say(f"gives up: the shop answers {browser.status}, {browser.heading}")
        return 1
    say(f"has what it came for: {browser.heading}")
    return 0


def say(text: str) -> None:
    """One line of the agent's log."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
