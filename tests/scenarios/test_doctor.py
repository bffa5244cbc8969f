"""`handoff doctor` before the first call: what is well, and what is wrong with what to do about it."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from devphone.testing import DevPhone
from handoff import bootstrap, config, connecting, doctor, opt_outs
from handoff.dev.redis_server import RunningRedis
from handoff.doctor import Finding
from handoff.notices import Stopped
from handoff.store import Connections, Keyspace, Plan, Store
from tests.world import ACCOUNT, ADA, BEN, OURS, TOKEN

CONSENT = 'consent = "Ada, 3 May 2026, by mail"\n'
ADAS = f'[contacts.ada]\nname = "Ada"\nnumbers = ["{ADA}"]\n{CONSENT}'
BENS = f'[contacts.ben]\nname = "Ben"\nnumbers = ["{BEN}"]\n{CONSENT}'


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Installation:
    """Settings of an installation that has begun to work; a test changes what it is about."""

    def __init__(self, redis_url: str, twilio_url: str, folder: Path) -> None:
        self.folder = folder
        self.prefix = f"test-{secrets.token_hex(6)}"
        self.environ = {
            "HANDOFF_DEV": "1",
            "HANDOFF_PUBLIC_URL": "http://127.0.0.1:8000",
            "HANDOFF_SECRET_KEY": "0123456789abcdef" * 4,
            "HANDOFF_TO_NUMBER": f"Ada={ADA},Ben={BEN}",
            "HANDOFF_REDIS_URL": redis_url,
            "HANDOFF_PREFIX": self.prefix,
            "TWILIO_ACCOUNT_SID": ACCOUNT,
            "TWILIO_AUTH_TOKEN": TOKEN,
            "TWILIO_FROM_NUMBER": OURS,
            "TWILIO_API_URL": twilio_url,
        }

    def beat(self, *kinds: str, ago_s: float = 0) -> None:
        """Processes of these kinds gave a sign of life."""
        store = Store(Connections(self.environ["HANDOFF_REDIS_URL"]), Keyspace(self.prefix))
        for kind in kinds:
            store.beat(kind, now_ms() - int(ago_s * 1000))

    def leads_here(self, phone: DevPhone) -> None:
        """Our number sends calls and texts to this installation."""
        wanted = connecting.ours(self.environ["HANDOFF_PUBLIC_URL"])
        line = phone.line(OURS)
        line.sends_calls_to(wanted.calls, status_callback=wanted.call_status).sends_texts_to(wanted.texts)

    def findings(self, *, fast_by_s: float = 0, offline: bool = False) -> list[Finding]:
        """What the doctor says, on a machine whose clock is so many seconds fast."""
        return list(
            doctor.examine(self.environ, offline=offline, clock=lambda: now_ms() + int(fast_by_s * 1000))
        )

    def wrong(self, *, fast_by_s: float = 0) -> list[str]:
        return [one.what for one in self.findings(fast_by_s=fast_by_s) if one.wrong]


@pytest.fixture
def installation(
    running_redis: RunningRedis, running_phone: DevPhone, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Installation]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = Installation(running_redis.url, running_phone.url, tmp_path)
    running_phone.reset()
    made.leads_here(running_phone)
    yield made
    running_phone.reset()
    with redis.Redis.from_url(running_redis.url) as client:
        for key in client.scan_iter(f"*{made.prefix}*"):
            client.delete(key)


def test_what_needs_an_operator_is_told_and_what_sends_the_texts(installation: Installation) -> None:
    installation.environ["TWILIO_MESSAGING_SERVICE_SID"] = service = "MG" + "0" * 32
    store = Store(Connections(installation.environ["HANDOFF_REDIS_URL"]), Keyspace(installation.prefix))
    told = opt_outs.no_more_texts("ada", "Ada", ADA, service, Stopped.TEXT, now_ms())
    store.commit(Plan(notices=[told]), now_ms())
    found = [(one.mark, one.what) for one in installation.findings()]
    needs = "Ada must text START to the number that our texts come from before …0123 can be texted again."
    assert ("??", needs) in found
    assert ("ok", f"texts are sent by the Messaging Service {service}; calls by the number") in found


def test_where_all_is_well_every_line_says_so(installation: Installation) -> None:
    installation.beat("clock", "worker")
    found = installation.findings()
    [asked] = [one.what for one in found if one.mark != "ok"]
    assert "HANDOFF_TO_NUMBER agreed to be called" in asked, "the environment can't say so"
    told = "\n".join(one.what for one in found)
    for words in (
        "a clock was seen",
        "a worker was seen",
        "accepts the credentials",
        "can call and text",
        "goes with Twilio's",
    ):
        assert words in told
    assert ADA not in told and TOKEN not in told


@pytest.mark.parametrize("there, missing", [("clock", "worker"), ("worker", "clock")])
def test_a_process_that_was_not_seen_lately_is_named_with_its_command(
    installation: Installation, there: str, missing: str
) -> None:
    installation.beat(there)
    installation.beat(missing, ago_s=60)
    assert installation.wrong() == [f"no {missing} was seen lately: start one with `handoff {missing}`"]
    told = [one.what for one in installation.findings() if one.mark == "ok"]
    assert any(f"a {there} was seen" in line for line in told)
    assert not any(f"a {missing} was seen" in line for line in told)


@pytest.mark.parametrize("fast_by_s, words", [(20, "ahead of"), (-20, "behind")])
def test_a_clock_that_does_not_go_with_twilios_is_a_problem(
    installation: Installation, fast_by_s: float, words: str
) -> None:
    installation.beat("clock", "worker", ago_s=-fast_by_s)
    [problem] = installation.wrong(fast_by_s=fast_by_s)
    assert words in problem
    assert "NTP" in problem
    assert "19 s" in problem or "20 s" in problem


def test_a_number_that_is_not_the_accounts_is_a_problem(installation: Installation) -> None:
    installation.beat("clock", "worker")
    installation.environ["TWILIO_FROM_NUMBER"] = "+12125550199"
    [problem] = installation.wrong()
    assert problem.startswith("TWILIO_FROM_NUMBER: …0199 is no number of this account")


def test_credentials_that_twilio_refuses_are_a_problem_and_say_nothing_about_clocks(
    installation: Installation,
) -> None:
    installation.beat("clock", "worker")
    installation.environ["TWILIO_AUTH_TOKEN"] = "not the token of this account"
    assert installation.wrong() == ["Twilio: Twilio error 20003: the account SID or the auth token is wrong"]
    assert not any("clock goes" in one.what for one in installation.findings())


def test_a_twilio_that_can_not_be_reached_is_a_problem(installation: Installation) -> None:
    installation.beat("clock", "worker")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        installation.environ["TWILIO_API_URL"] = f"http://127.0.0.1:{taken.getsockname()[1]}"
    [problem] = installation.wrong()
    assert problem.startswith("Twilio: Twilio could not be connected to")


def test_offline_nobody_is_asked(installation: Installation) -> None:
    installation.environ |= {
        "HANDOFF_REDIS_URL": "redis://127.0.0.1:1/0",
        "TWILIO_API_URL": "http://127.0.0.1:1",
    }
    assert [one for one in installation.findings(offline=True) if one.wrong] == []


def with_people(installation: Installation, text: str) -> Path:
    """The set-up has a people file instead; a process of it has started."""
    file = installation.folder / "people.toml"
    file.write_text(text)
    installation.environ |= {"HANDOFF_TO_NUMBER": "", "HANDOFF_PEOPLE": str(file)}
    installation.beat("clock", "worker")
    bootstrap.build(config.from_environment(installation.environ), clock=now_ms).handoffs.rules()
    return file


def test_the_people_who_are_reached_are_those_of_the_file_here(installation: Installation) -> None:
    with_people(installation, ADAS + BENS)
    found = installation.findings()
    assert {one.mark for one in found} == {"ok"}
    told = "\n".join(one.what for one in found)
    assert (
        "of the people file is in use" in told
        and "policy default rings Ada (…0123) for 25 s, then Ben" in told
    )


def test_a_file_that_nothing_has_taken_yet_is_worth_a_look(installation: Installation) -> None:
    file = with_people(installation, ADAS + BENS)
    with redis.Redis.from_url(installation.environ["HANDOFF_REDIS_URL"]) as client:
        client.delete(Keyspace(installation.prefix).people)
    assert file.exists() and not installation.wrong()
    [look] = [one.what for one in installation.findings() if one.mark == "??"]
    assert look.startswith("no people are in use yet")


def test_a_file_here_that_is_not_the_one_in_use_is_a_problem_and_who_is_reached_is_told(
    installation: Installation,
) -> None:
    file = with_people(installation, ADAS + BENS)
    file.write_text(ADAS)
    os.utime(file, (1_000_000_000, 1_000_000_000))
    [problem] = installation.wrong()
    assert problem.startswith("HANDOFF_PEOPLE: people.toml is not the one in use (version ")
    told = [one.what for one in installation.findings()]
    [used] = [at for at, line in enumerate(told) if line.startswith("in use is version ")]
    assert told[used + 1] == "policy default rings Ada (…0123) for 25 s, then Ben (…0124) for 25 s"
    bootstrap.build(config.from_environment(installation.environ), clock=now_ms).handoffs.rules()
    assert installation.wrong() == [problem], "what a process here says of it is not said twice"


def test_what_is_wrong_at_another_machine_is_told_with_its_place(installation: Installation) -> None:
    file = with_people(installation, ADAS + BENS)
    other = file.with_name("other.toml")
    other.write_text(ADAS.replace("numbers", "number"))
    environ = installation.environ | {"HANDOFF_PEOPLE": str(other)}
    bootstrap.build(config.from_environment(environ), clock=now_ms).handoffs.rules()
    problems = installation.wrong()
    assert len(problems) == 2 and f"{other}: other.toml, line 3, contacts.ada.number: is not a" in problems[1]
    hours_later = installation.wrong(fast_by_s=2 * 3600)
    assert not [one for one in hours_later if "other.toml" in one], "nothing says it any more"


def test_a_broken_file_here_is_told_once_with_who_is_reached_instead(installation: Installation) -> None:
    file = with_people(installation, ADAS + BENS)
    file.write_text(ADAS + 'phone = "+12125550199"\n')
    bootstrap.build(config.from_environment(installation.environ), clock=now_ms).handoffs.rules()
    [problem] = installation.wrong()
    assert problem.startswith("HANDOFF_PEOPLE: people.toml, line 5, contacts.ada.phone: is not a key")
    assert any(one.what.startswith("policy default rings Ada") for one in installation.findings())


def test_settings_that_can_not_work_are_all_named(installation: Installation) -> None:
    installation.environ |= {"TWILIO_ACCOUNT_SID": "mine", "HANDOFF_TO_NUMBER": ""}
    problems = installation.wrong()
    assert [one.partition(":")[0] for one in problems] == ["HANDOFF_TO_NUMBER", "TWILIO_ACCOUNT_SID"]


def test_the_people_file_is_read_although_settings_are_missing(installation: Installation) -> None:
    with_people(installation, ADAS)
    (installation.folder / "people.toml").write_text("[contacts.ada]\nnames = 1\n")
    installation.environ["TWILIO_ACCOUNT_SID"] = ""
    problems = installation.wrong()
    assert problems[0].startswith("TWILIO_ACCOUNT_SID: ")
    assert all(one.startswith("HANDOFF_PEOPLE: people.toml, line ") for one in problems[1:]) and problems[1:]


def test_a_proof_that_nobody_in_a_policy_can_give_is_a_problem(installation: Installation) -> None:
    steps = '[[policies.{0}.steps]]\ncontacts = ["ada"]\n'
    ada = ADAS.replace("[contacts.ada]", "[contacts.ada]\nscreen = false", 1)
    policies = "".join(
        f'[policies.{name}]\nproof = "{name}"\n' + steps.format(name) for name in ("pin", "link", "code")
    )
    with_people(installation, f"{ada}\n{policies}")
    assert [one.what for one in installation.findings(offline=True) if one.wrong] == [
        "policy pin asks for a PIN, and nobody in it has one (`pin`)",
        "policy link asks for the page, and nobody in it can see a screen",
    ]


def test_who_vouches_for_each_contact_is_asked_for_and_a_number_that_looks_wrong_is_named(
    installation: Installation,
) -> None:
    with_people(installation, ADAS + BENS.replace(BEN, "+15550000006").replace(CONSENT, ""))
    doubts = [one.what for one in installation.findings(offline=True) if one.mark == "??"]
    assert [line.partition(":")[0] for line in doubts] == ["Ben (ben) has no `consent`", "Ben"]
    assert "…0006 is in no range" in doubts[1]


def test_a_number_that_leads_elsewhere_is_told_and_given_up_only_when_asked(
    installation: Installation, running_phone: DevPhone
) -> None:
    def astray() -> list[str]:
        return [one.what for one in installation.findings() if "does not lead here" in one.what]

    line = running_phone.line(OURS).sends_calls_to("https://elsewhere.example/calls")
    [told] = astray()
    assert "calls go to https://elsewhere.example/calls" in told and "handoff connect" in told
    services = bootstrap.build(config.from_environment(installation.environ))
    with pytest.raises(connecting.Foreign, match="--force"):
        list(connecting.connect(services))
    assert "before: calls go to https://elsewhere.example/calls" in connecting.connect(services, force=True)
    list(connecting.connect(services, force=True))
    line.sends_texts_to("")
    assert len(astray()) == 1, "texts go nowhere"
    list(connecting.connect(services))
    assert not astray()
    assert any(one.what == "calls and texts to …0100 come here" for one in installation.findings())
    assert list(connecting.connect(services)) == ["…0100 leads here already"]
