"""Which proof is enough for what, who can be asked for one, and the codes that are read out."""

from __future__ import annotations

import pytest

from handoff import lifecycle, pins, proofs
from handoff.changes import Rules
from handoff.errors import Forbidden, Invalid
from handoff.models import Actor, ActorKind, Channel, Decision, Proof, ProofAsked
from handoff.policy import EscalationPolicy, People, Step
from handoff.states import State
from tests.unit.lives import ADA, BEN, NOW, RULES, opened, rules, word
from voice import codes, scripts_confirm
from voice.scripts_confirm import Before

PIN = pins.kept("482913")
WITH_PIN = rules((ADA.model_copy(update={"pin": PIN}),), (BEN,))


@pytest.mark.parametrize(
    ("asked", "enough"),
    [
        (ProofAsked.ANY, {"keypress", "keypress+code", "keypress+pin", "speech", "sms", "link", "link+pin"}),
        (ProofAsked.CODE, {"keypress+code", "keypress+pin", "link", "link+pin"}),
        (ProofAsked.PIN, {"keypress+pin", "link+pin"}),
        (ProofAsked.LINK, {"link", "link+pin"}),
    ],
)
def test_what_is_enough(asked: ProofAsked, enough: set[str]) -> None:
    assert {one.value for one in Proof if proofs.enough(asked, one)} == enough


def test_a_decision_with_less_proof_is_refused_whoever_forgot_to_ask() -> None:
    handoff = opened(proof="code")
    for command in (lifecycle.resolve, lifecycle.decline):
        with pytest.raises(Forbidden):
            command(handoff, word(), RULES, NOW)
        assert command(handoff, word(proof=Proof.KEYPRESS_CODE), RULES, NOW).outcome.won
    assert lifecycle.acknowledge(handoff, word(), RULES, NOW).outcome.won, "which decides nothing"


def test_an_operator_satisfies_everything() -> None:
    operator = Actor(kind=ActorKind.OPERATOR, id="ak_2", name="ops")
    decision = Decision(by=operator, channel=Channel.CONSOLE, proof=Proof.CONSOLE, at=NOW)
    decided = lifecycle.resolve(opened(proof="link"), decision, RULES, NOW)
    assert decided.outcome.state is State.RESOLVED


@pytest.mark.parametrize(
    ("policy", "request_", "recorded"),
    [("any", "any", "any"), ("code", "any", "code"), ("any", "link", "link"), ("link", "code", "link")],
)
def test_the_stricter_of_policy_and_request_is_recorded(policy: str, request_: str, recorded: str) -> None:
    strict = RULES.people.default.model_copy(update={"proof": ProofAsked(policy)})
    by = Rules(people=RULES.people.model_copy(update={"policies": (strict,)}))
    assert opened(by=by, proof=request_).proof == recorded
    assert opened(by=by, proof=request_, contact="ada").proof == recorded


def test_a_pin_is_asked_for_only_where_somebody_has_one() -> None:
    with pytest.raises(Invalid):
        opened(proof="pin")
    assert opened(by=WITH_PIN, proof="pin").proof is ProofAsked.PIN
    with pytest.raises(Invalid):
        opened(by=WITH_PIN, proof="pin", contact="ben")
    nobody = EscalationPolicy(name="nobody", steps=WITH_PIN.people.default.steps[1:])
    people = WITH_PIN.people
    by = Rules(people=People(contacts=people.contacts, policies=(people.default, nobody)))
    with pytest.raises(Invalid):
        opened(by=by, proof="pin", policy="nobody")
    assert opened(by=by, proof="pin", policy="nobody", notify="none").proof is ProofAsked.PIN


def test_the_page_is_asked_for_only_where_somebody_can_see_it() -> None:
    blind = WITH_PIN.people.contacts[0].model_copy(update={"screen": False})
    policy = EscalationPolicy(name="default", steps=(Step(contacts=(blind,), ring_s=25),))
    with pytest.raises(Invalid):
        opened(by=Rules(people=People(contacts=(blind,), policies=(policy,))), proof="link")
    assert opened(proof="link").proof is ProofAsked.LINK


def test_a_code_is_two_digits_that_no_resting_thumb_presses() -> None:
    assert len(codes.CODES) == len(set(codes.CODES)) == 81
    assert all(len(one) == 2 and one[0] != "0" and one[0] != one[1] for one in codes.CODES)


def test_each_try_key_attempt_and_server_has_a_code_of_its_own() -> None:
    for start in range(50):
        three = [codes.code_for("k", "at_1", "1", turn=start + tries, tries=tries) for tries in (1, 2, 3)]
        assert len(set(three)) == 3
    again = [codes.code_for("k", "at_1", "1", turn=2, tries=1) for _ in range(2)]
    assert again[0] == again[1], "a repeated request reads the same code"
    drawn = {codes.code_for("k", f"at_{n}", "1", turn=2, tries=1) for n in range(500)}
    assert len(drawn) > 70


def test_what_was_typed_is_named_but_not_told() -> None:
    name = codes.mark("k", "at_1", 2, "482913")
    assert "482913" not in name and name == codes.mark("k", "at_1", 2, "482913")
    others = {
        codes.mark("other", "at_1", 2, "482913"),
        codes.mark("k", "at_2", 2, "482913"),
        codes.mark("k", "at_1", 3, "482913"),
        codes.mark("k", "at_1", 2, "482914"),
    }
    assert len(others | {name}) == 5


def test_the_voice_says_where_else_it_can_be_decided() -> None:
    def said(asked: ProofAsked, *, has_pin: bool = True, text_sent: bool = True) -> str:
        return scripts_confirm.elsewhere(asked, has_pin=has_pin, text_sent=text_sent)

    assert not said(ProofAsked.ANY, has_pin=False) and not said(ProofAsked.CODE, has_pin=False)
    assert not said(ProofAsked.PIN)
    assert said(ProofAsked.PIN, has_pin=False) == "This needs a PIN, and you have none here."
    assert "the text has the link" in said(ProofAsked.LINK)
    assert "no text went out to you" in said(ProofAsked.LINK, text_sent=False)
    blind = scripts_confirm.elsewhere(ProofAsked.LINK, has_pin=False, text_sent=False, screen=False)
    assert blind == "You can't decide this by phone."


def test_words_and_digits_are_taken_at_any_moment_and_something_follows() -> None:
    code = scripts_confirm.ask_code("47", url="https://a/c?turn=2", again_url="https://a/c?turn=3")
    assert 'numDigits="2"' in code and "To confirm, press 4 7." in code and "That was not it" not in code
    pin = scripts_confirm.ask_pin(Before.WRONG, url="https://a/c", again_url="https://a/d")
    assert 'finishOnKey="#"' in pin and "That PIN is not right." in pin
    for document in (code, pin):
        gather, rest = document.split("</Gather>")
        assert "<Say" not in rest and "<Redirect" in rest and "<Say" in gather


def test_silence_is_not_called_wrong() -> None:
    urls = {"url": "https://a/c", "again_url": "https://a/d"}
    for before in (Before.NOTHING, Before.SILENCE):
        for document in (
            scripts_confirm.ask_code("47", before, **urls),
            scripts_confirm.ask_pin(before, **urls),
            scripts_confirm.gave_up(ProofAsked.CODE, before, text_sent=True),
            scripts_confirm.gave_up(ProofAsked.PIN, before, text_sent=True),
        ):
            assert "not right" not in document and "not it" not in document
            assert ("I did not hear" in document) is (before is Before.SILENCE)
