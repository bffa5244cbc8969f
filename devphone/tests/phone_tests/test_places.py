"""Where a phone is, as webhooks say it: city, state, zip and country of both numbers."""

from __future__ import annotations

import pytest
from twilio.rest import Client

from devphone.testing import DevPhone

from .calling import HELLO, answered, ring
from .conftest import ADA
from .stub_application import Application

PLACES = ("City", "State", "Zip", "Country")


def test_webhooks_say_where_both_numbers_are_from(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", "<Say>Hello.</Say>")
    ring(client, application)
    phone.device(ADA).expect_call(saying="Hello").hang_up()
    phone.settle()
    for hook in application.webhooks:
        places = {name: value for name, value in hook.fields.items() if name.endswith(PLACES)}
        assert len(places) == 16
        for prefix in ("From", "Caller", "To", "Called"):
            place = tuple(places[f"{prefix}{part}"] for part in PLACES)
            assert place == ("NEW YORK", "NY", "10001", "US")


@pytest.mark.parametrize(
    ("number", "place"),
    [
        ("+14165550123", ("TORONTO", "ON", "", "CA")),
        ("+18005550123", ("", "", "", "US")),
        ("+442079460123", ("", "", "", "GB")),
        ("+35312345678", ("", "", "", "IE")),
        ("+8801234567890", ("", "", "", "")),
    ],
)
def test_what_is_not_known_of_a_place_is_sent_empty(
    phone: DevPhone, client: Client, application: Application, number: str, place: tuple[str, ...]
) -> None:
    ring(client, application, to=number)
    phone.device(number).let_ring().decline()
    phone.settle()
    fields = application.at("/status")[-1].fields
    assert tuple(fields[f"Called{part}"] for part in PLACES) == place
    assert fields["CallerCity"] == "NEW YORK"


def test_the_place_of_a_phone_can_be_unknown(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.answers("/voice", HELLO)
    answered(phone, client, url).hears("Hello").hang_up()
    assert application.at("/voice")[0].fields["ToCountry"] == "US"
    phone.faults({"missing_geography": 1})
    answered(phone, client, url).hears("Hello").hang_up()
    fields = application.at("/voice")[1].fields
    assert [name for name in fields if name.endswith(("City", "State", "Zip", "Country"))] == []
    assert fields["To"] == ADA
