"""Where a phone number is from, as Twilio's webhooks say it: city, state, ZIP code and country.

A small table for North America, made to be believable and not to be right: Twilio looks the place up by area
code and exchange. Elsewhere the country is known and the rest is empty. All fields are always sent, empty
when unknown, as in requests that others have published.
https://www.twilio.com/docs/voice/twiml#request-parameters
https://elevenlabs.io/docs/eleven-agents/workflows/post-call-webhooks (Twilio metadata example)
"""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """As on the wire: city in capitals, state or province in two letters, country in ISO 3166."""

    city: str = ""
    state: str = ""
    zip_code: str = ""
    country: str = ""


_AREAS = {
    "201": Place("JERSEY CITY", "NJ", "07302", "US"),
    "202": Place("WASHINGTON", "DC", "20001", "US"),
    "206": Place("SEATTLE", "WA", "98101", "US"),
    "212": Place("NEW YORK", "NY", "10001", "US"),
    "213": Place("LOS ANGELES", "CA", "90012", "US"),
    "214": Place("DALLAS", "TX", "75201", "US"),
    "215": Place("PHILADELPHIA", "PA", "19103", "US"),
    "303": Place("DENVER", "CO", "80202", "US"),
    "305": Place("MIAMI", "FL", "33130", "US"),
    "312": Place("CHICAGO", "IL", "60602", "US"),
    "404": Place("ATLANTA", "GA", "30303", "US"),
    "415": Place("SAN FRANCISCO", "CA", "94103", "US"),
    "416": Place("TORONTO", "ON", "", "CA"),
    "503": Place("PORTLAND", "OR", "97204", "US"),
    "510": Place("OAKLAND", "CA", "94612", "US"),
    "512": Place("AUSTIN", "TX", "78701", "US"),
    "514": Place("MONTREAL", "QC", "", "CA"),
    "602": Place("PHOENIX", "AZ", "85004", "US"),
    "604": Place("VANCOUVER", "BC", "", "CA"),
    "612": Place("MINNEAPOLIS", "MN", "55401", "US"),
    "613": Place("OTTAWA", "ON", "", "CA"),
    "617": Place("BOSTON", "MA", "02108", "US"),
    "646": Place("NEW YORK", "NY", "10004", "US"),
    "650": Place("", "CA", "", "US"),
    "702": Place("LAS VEGAS", "NV", "89101", "US"),
    "713": Place("HOUSTON", "TX", "77002", "US"),
    "718": Place("BROOKLYN", "NY", "11201", "US"),
    "919": Place("RALEIGH", "NC", "27601", "US"),
}
"""By area code; `650` is a place without a city, as they come."""

_COUNTRIES = {
    "20": "EG", "27": "ZA", "30": "GR", "31": "NL", "32": "BE", "33": "FR", "34": "ES", "351": "PT",
    "352": "LU", "353": "IE", "358": "FI", "36": "HU", "39": "IT", "40": "RO", "41": "CH", "420": "CZ",
    "43": "AT", "44": "GB", "45": "DK", "46": "SE", "47": "NO", "48": "PL", "49": "DE", "52": "MX",
    "54": "AR", "55": "BR", "56": "CL", "57": "CO", "60": "MY", "61": "AU", "62": "ID", "63": "PH",
    "64": "NZ", "65": "SG", "66": "TH", "81": "JP", "82": "KR", "84": "VN", "852": "HK", "886": "TW",
    "90": "TR", "91": "IN", "971": "AE", "972": "IL",
}  # fmt: skip
"""By country calling code (ITU-T E.164), without those of North America."""


def place(number: str) -> Place:
    """Where a number (E.164) is from; unknown parts are empty."""
    digits = number.removeprefix("+")
    if digits.startswith("1"):
        return _AREAS.get(digits[1:4], Place(country="US"))
    codes = (digits[:length] for length in (3, 2))
    return Place(country=next((_COUNTRIES[code] for code in codes if code in _COUNTRIES), ""))


def geography(number: str, prefix: str) -> dict[str, str]:
    """The four fields of one number (E.164), such as `FromCity` for the prefix `From`."""
    found = place(number)
    return {
        f"{prefix}City": found.city,
        f"{prefix}State": found.state,
        f"{prefix}Zip": found.zip_code,
        f"{prefix}Country": found.country,
    }
