"""Settings: read once, all problems told at once, each naming its variable; nonsense refuses to start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handoff import config, pins
from handoff.config import BadSettings, Settings

ROOT = Path(__file__).parents[2]
GOOD = {
    "HANDOFF_PUBLIC_URL": "https://handoff.example.com",
    "HANDOFF_SECRET_KEY": "s" * 32,
    "HANDOFF_TO_NUMBER": "Ada=+12125550123,Ben=+12125550124",
    "TWILIO_ACCOUNT_SID": "AC" + "0123456789abcdef" * 2,
    "TWILIO_AUTH_TOKEN": "t" * 32,
    "TWILIO_FROM_NUMBER": "+12125550100",
}


def read(**changes: str | None) -> Settings:
    """The settings with these variables changed; None takes one away."""
    environ = {**GOOD, **changes}
    return config.from_environment({name: text for name, text in environ.items() if text is not None})


def problems(**changes: str | None) -> list[str]:
    with pytest.raises(BadSettings) as refused:
        read(**changes)
    return refused.value.problems


def test_what_must_be_set_is_enough_and_the_rest_has_sensible_defaults() -> None:
    settings = read()
    assert (settings.redis_url, settings.prefix) == ("redis://127.0.0.1:6379/0", "handoff")
    assert (settings.ring_s, settings.rounds, settings.ack_s, settings.keep_closed_days) == (25, 1, 300, 30)
    assert [person.name for person in settings.contacts] == ["Ada", "Ben"]
    assert settings.api_keys == () and settings.twilio_api_url is None
    assert not settings.dev and not settings.allow_private_callbacks


@pytest.mark.parametrize("missing", GOOD)
@pytest.mark.parametrize("how", [None, "", "  \n "])
def test_a_missing_or_blank_setting_refuses_to_start_and_is_named(missing: str, how: str | None) -> None:
    assert problems(**{missing: how}) == [f"{missing}: is not set"]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(BadSettings) as refused:
        config.from_environment({"HANDOFF_ROUNDS": "many"})
    named = [problem.partition(":")[0] for problem in refused.value.problems]
    assert sorted(named) == sorted([*GOOD, "HANDOFF_ROUNDS"])


NONSENSE = {
    "HANDOFF_PUBLIC_URL": [
        "handoff.example.com",
        "ftp://handoff.example.com",
        "https://",
        "https:///h",
        "https://user@handoff.example.com",
        "https://:pw@handoff.example.com",
        "https://@handoff.example.com",
        "https://handoff.example.com?x=1",
        "https://handoff.example.com?",
        "https://handoff.example.com#top",
        "https://handoff.example.com#",
        "https://my_host.example.com",
        "https://handoff.example.com:0",
        "https://handoff.example.com:99999",
        "https://handoff.example.com:port",
        "https://[half",
        "https://handoff.exa mple.com",
        "https://handoff.example.com/a b",
        "https://handoff.example.com\\x",
        "http://handoff.example.com",
        "https://localhost",
        "https://app.localhost:8443",
        "https://127.0.0.1",
        "https://10.0.0.7",
        "https://192.168.1.4",
        "https://169.254.1.1",
        "https://0.0.0.0",
        "https://[::1]",
    ],
    "HANDOFF_REDIS_URL": ["127.0.0.1:6379", "http://127.0.0.1", "redis", "redis://host:port"],
    "HANDOFF_PREFIX": ["Upper", "a b", "a{b}", "a:b", "-a", "a" * 32, "é", "a\nb"],
    "HANDOFF_SECRET_KEY": ["short", "s" * 31, "s" * 32 + ",short", "s" * 32 + ","],
    "HANDOFF_API_KEYS": [
        "key-without-a-name-of-20-letters",
        "bot=short",
        "Bot=" + "k" * 20,
        "bot:admin=" + "k" * 20,
        "=" + "k" * 20,
        "bot=" + "k" * 19 + "é",
        "bot=" + "k" * 10 + " " + "k" * 10,
        "bot=",
    ],
    "HANDOFF_TO_NUMBER": [
        ",",
        "Ada",
        "Ada=",
        "Ada=12125550123",
        "Ada=+1212555",
        "Ada=+99912345678",
        "Ada=+12125550123,Ben=+12125550123",
        "A" * 41 + "=+12125550123",
        "Ada=+1212555012٣",
        "Ada=sip:ada@example.com",
    ],
    "HANDOFF_RING_SECONDS": ["0", "601", "25s", "-25", "2.5", "", "٢٥", "1e2", "9" * 400],
    "HANDOFF_ROUNDS": ["0", "11", "x"],
    "HANDOFF_ACK_SECONDS": ["29", "86401"],
    "HANDOFF_KEEP_CLOSED_DAYS": ["0", "3651"],
    "HANDOFF_WAITERS_PER_WORKER": ["0", "100001"],
    "TWILIO_ACCOUNT_SID": ["AC123", "SK" + "0" * 32, "AC" + "g" * 32, "AC" + "0" * 33],
    "TWILIO_AUTH_TOKEN": ["short"],
    "TWILIO_FROM_NUMBER": ["12125550100", "Handoff", "+12125550123"],
    "TWILIO_API_URL": ["127.0.0.1:8020", "http://127.0.0.1:8020", "ftp://x", "https://"],
    "HANDOFF_ALLOW_PRIVATE_CALLBACKS": ["maybe", "2", "on!"],
    "HANDOFF_DEV": ["dev"],
    "HANDOFF_PROXIES": ["-1", "6", "yes"],
    "HANDOFF_OPEN_CONSOLE": ["1", "open"],
    "HANDOFF_PINS": [
        "ada",
        "ada=",
        "ada=12345",
        "ada=1234567890123",
        "ada=48291٣",
        "cy=482913",
        "=482913",
        "Ada=482913",
        "ada=482913,ada=482914",
    ],
    "HANDOFF_LOG_FORMAT": ["xml", "JSON"],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in NONSENSE.items() for text in texts if text.strip()]
)
def test_nonsense_refuses_to_start_and_names_the_variable(name: str, text: str) -> None:
    told = problems(**{name: text})
    assert [problem.partition(":")[0] for problem in told] == [name]
    assert told[0].partition(":")[2].strip()


@pytest.mark.parametrize("name", ["HANDOFF_SECRET_KEY", "TWILIO_AUTH_TOKEN", "HANDOFF_API_KEYS"])
def test_a_problem_with_a_secret_does_not_print_the_secret(name: str) -> None:
    assert "hunter2" not in "".join(problems(**{name: "bot=hunter2" if "KEYS" in name else "hunter2"}))


def test_a_problem_with_a_number_does_not_print_the_whole_number() -> None:
    assert "2125550123" not in "".join(problems(HANDOFF_TO_NUMBER="Ada=+12125550123,Ben=+12125550123"))


def test_settings_never_show_their_secrets_when_printed() -> None:
    settings = read(HANDOFF_API_KEYS="bot=" + "k" * 30)
    assert not any(secret in f"{settings!r} {settings}" for secret in ("s" * 32, "t" * 32, "k" * 30))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://handoff.example.com/", "https://handoff.example.com"),
        ("https://example.com/handoff/", "https://example.com/handoff"),
        ("https://example.com:8443", "https://example.com:8443"),
        (" https://example.com ", "https://example.com"),
    ],
)
def test_the_public_url_may_have_a_port_and_a_path_and_loses_its_last_slash(given: str, kept: str) -> None:
    assert read(HANDOFF_PUBLIC_URL=given).public_url == kept


def test_only_for_development_the_public_url_may_be_this_machine() -> None:
    local = "http://127.0.0.1:8010"
    assert read(HANDOFF_PUBLIC_URL=local, HANDOFF_DEV="1", TWILIO_API_URL="http://127.0.0.1:8020").dev
    assert problems(HANDOFF_PUBLIC_URL=local)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8020", "http://[::1]:8020", "http://localhost:8020"])
def test_only_for_development_twilio_may_be_a_dev_phone_on_this_machine(url: str) -> None:
    assert read(HANDOFF_DEV="1", TWILIO_API_URL=url).twilio_api_url == url
    for elsewhere in ({}, {"HANDOFF_DEV": "0"}):
        [problem] = problems(TWILIO_API_URL=url, **elsewhere)
        assert problem.startswith("TWILIO_API_URL: must be https; only `handoff dev`")
    for far in ("http://api.twilio.example", "http://10.0.0.5:8020"):
        [problem] = problems(HANDOFF_DEV="1", TWILIO_API_URL=far)
        assert problem.startswith("TWILIO_API_URL: must be https")


def test_secret_keys_rotate_by_a_comma_newest_first() -> None:
    assert read(HANDOFF_SECRET_KEY="n" * 32 + ", " + "o" * 40).secret_keys == ("n" * 32, "o" * 40)


def test_the_twilio_token_rotates_by_a_second_variable() -> None:
    settings = read(TWILIO_AUTH_TOKEN_PREVIOUS="p" * 32)
    assert settings.twilio_auth_tokens == ("t" * 32, "p" * 32)
    assert read().twilio_auth_tokens == ("t" * 32,)


def test_api_keys_name_their_agent_and_operators_say_so() -> None:
    keys = read(HANDOFF_API_KEYS=f"checkout-bot={'k' * 20}, ops:operator={'=' * 25},").api_keys
    assert [(key.agent, key.operator, key.key) for key in keys] == [
        ("checkout-bot", False, "k" * 20),
        ("ops", True, "=" * 25),
    ]


def test_our_own_number_can_not_also_be_somebody_to_ring() -> None:
    (told,) = problems(TWILIO_FROM_NUMBER="+12125550124")
    assert told.startswith("TWILIO_FROM_NUMBER") and "HANDOFF_TO_NUMBER" in told


def test_a_process_with_bad_settings_ends_with_a_message_and_no_stack_trace() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "handoff", "clock"],
        env={"HANDOFF_ROUNDS": "many"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert ended.returncode == 1
    assert "HANDOFF_ROUNDS: must be a whole number from 1 to 10" in ended.stderr
    assert "HANDOFF_SECRET_KEY: is not set" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("name", ["TWILIO_EDGE", "TWILIO_REGION"])
def test_a_place_that_would_move_another_providers_host_refuses_to_start(name: str) -> None:
    with pytest.raises(BadSettings) as found:
        config.from_environment(GOOD | {"TWILIO_API_URL": "https://phone.example", name: "dublin"})
    assert [problem.partition(":")[0] for problem in found.value.problems] == [name]
    assert config.from_environment(GOOD | {name: "dublin"}).twilio_place == {name: "dublin"}


def test_a_pin_belongs_to_its_contact_and_is_in_no_text() -> None:
    settings = config.from_environment(GOOD | {"HANDOFF_PINS": "ada=482913"})
    ada, ben = settings.contacts
    assert pins.matches("482913", ada.pin) and not pins.matches("482914", ada.pin)
    assert ben.pin is None and not pins.matches("", ben.pin)
    assert "482913" not in f"{settings!r} {ada!r} {ada.model_dump_json()}"


def test_a_pin_that_is_no_good_is_not_repeated() -> None:
    assert "48291x" not in "".join(problems(HANDOFF_PINS="ada=48291x"))
