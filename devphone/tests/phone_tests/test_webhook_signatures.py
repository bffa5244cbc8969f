"""How webhooks are signed: the published vectors, another port, another key, and wrongly when asked."""

from __future__ import annotations

from typing import Any

import pytest
from twilio.request_validator import RequestValidator
from twilio.rest import Client
from werkzeug.datastructures import MultiDict

from devphone.faults import NO_FAULTS, FaultPlan
from devphone.testing import DevPhone
from devphone.webhooks import signature_headers

from . import shared_files
from .calling import HELLO, answered
from .conftest import TOKEN
from .stub_application import Application


def vectors() -> list[dict[str, Any]]:
    """All signature vectors, published ones first."""
    found = shared_files.read("signature-vectors.json")
    return [*found["published_vectors"], *found["own_vectors"]]


def test_the_signer_agrees_with_every_published_vector() -> None:
    plans = [
        NO_FAULTS,
        FaultPlan({"signed_with_port": {}}),
        FaultPlan({"signed_without_port": {}}),
    ]
    checked, wrong = 0, []
    for vector in vectors():
        plan_for = plans
        if vector["algorithm"] == "HMAC_SHA256":
            plan_for = [FaultPlan({"sha256_signature": {"secret": vector["auth_token"]}})]
        # JSON is signed by its URL, which holds the body's hash; the two that make Twilio's validator raise
        # TypeError have no signature that could be right, so none of ours may be theirs.
        fields = MultiDict([(name, value) for name, value in vector["params"] or []])
        signatures = [
            signature_headers(vector["auth_token"], vector["url_seen_by_app"], fields, plan)[
                "X-Twilio-Signature"
            ]
            for plan in plan_for
        ]
        expected = vector["expect_valid"] or vector["id"] == "json-body-tampered"
        checked += 1
        if (vector["x_twilio_signature"] in signatures) is not expected:
            wrong.append(vector["id"])
    assert wrong == []
    assert checked == 41


def test_a_shared_key_signs_with_sha256_and_says_so(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"sha256_signature": {"secret": "shared by both"}})
    answered(phone, client, application.answers("/voice", HELLO)).hears("Hello").hang_up()
    (hook,) = application.at("/voice")
    assert not hook.signed
    settings = hook.headers["x-twilio-webhooks-signature-settings"]
    assert settings.startswith("key=")
    assert settings.endswith(",algorithm=HMAC_SHA256")
    assert RequestValidator("shared by both").validate(
        hook.url, hook.fields, hook.headers["x-twilio-signature"], "HMAC_SHA256"
    )


def test_the_port_can_be_left_out_of_the_signature(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"signed_without_port": 1})
    answered(phone, client, application.answers("/voice", HELLO)).hears("Hello").hang_up()
    (hook,) = application.at("/voice")
    right = RequestValidator(TOKEN).compute_signature("http://127.0.0.1/voice", hook.fields)
    assert hook.headers["x-twilio-signature"] == right
    assert hook.signed


@pytest.mark.parametrize("fault", ["bad_signature", "wrong_token"])
def test_every_request_of_one_call_is_signed_wrongly_and_of_the_next_one_rightly(
    phone: DevPhone, client: Client, application: Application, fault: str
) -> None:
    phone.faults({fault: 1})
    url, status = application.answers("/voice", HELLO), f"{application.url}/status"
    for signed in (False, True):
        answered(phone, client, url, status_callback=status).hears("Hello").hang_up()
        phone.settle()
        assert {hook.path for hook in application.webhooks} == {"/voice", "/status"}
        assert {hook.signed for hook in application.webhooks} == {signed}
        application.webhooks.clear()


def test_fields_that_nobody_has_seen_before_are_signed_with_the_others(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.answers("/voice", HELLO)
    answered(phone, client, url).hears("Hello").hang_up()
    known = set(application.at("/voice")[0].fields)
    phone.faults({"extra_fields": 1})
    answered(phone, client, url, method="GET").hears("Hello").hang_up()
    hook = application.at("/voice")[1]
    assert len(set(hook.fields) - known) >= 3
    assert known <= set(hook.fields)
    assert hook.signed
