"""The person's link and the form nonce behind it: made again, recognised, and not to be forged."""

from __future__ import annotations

import re
import string

import pytest

from handoff import links

KEY, OLD = "k" * 32, "o" * 32
HANDOFF, CONTACT = "ho_" + "a" * 22, "ada"


def test_a_job_can_make_the_same_link_again() -> None:
    assert links.make(KEY, HANDOFF, CONTACT) == links.make(KEY, HANDOFF, CONTACT)


def test_another_key_handoff_or_contact_gives_another_link() -> None:
    made = {
        links.make(key, handoff, contact)
        for key in (KEY, OLD)
        for handoff in (HANDOFF, HANDOFF[:-1] + "b")
        for contact in (CONTACT, "ben")
    }
    assert len(made) == 8


def test_a_link_is_22_letters_and_digits_so_that_phones_underline_all_of_it() -> None:
    for number in range(200):
        assert re.fullmatch(r"[0-9A-Za-z]{22}", links.make(KEY, HANDOFF, f"c{number}"))


def test_links_spread_over_their_whole_range() -> None:
    """128 bits: the first letter is 0 to 7 (62**22 is larger), the others are anything."""
    made = [links.make(KEY, HANDOFF, f"contact-{number}") for number in range(2_000)]
    assert len(set(made)) == 2_000
    assert set("".join(one[1:] for one in made)) == set(string.digits + string.ascii_letters)


@pytest.mark.parametrize("glued", [".", ",", ")", "]", ">", ";", ":", "!", "?", "'", '"', ").", ")."])
def test_what_a_phone_glues_to_the_end_of_a_link_is_taken_off(glued: str) -> None:
    link = links.make(KEY, HANDOFF, CONTACT)
    assert links.tidy(link + glued) == link


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "a" * 21,
        "a" * 23,
        "a" * 21 + "é",
        "a" * 22 + "/x",
        "a" * 11 + "." + "a" * 10,
        "a" * 22 + "\n",
    ],
)
def test_what_can_not_be_a_link_is_not_looked_up(text: str) -> None:
    assert links.tidy(text) is None


def test_a_nonce_is_good_for_its_own_link_only() -> None:
    mine, other = links.make(KEY, HANDOFF, "ada"), links.make(KEY, HANDOFF, "ben")
    nonce = links.make_nonce(KEY, mine)
    assert links.check_nonce([KEY], mine, nonce)
    assert not links.check_nonce([KEY], other, nonce)


def test_every_loaded_page_has_a_nonce_of_its_own() -> None:
    link = links.make(KEY, HANDOFF, CONTACT)
    assert len({links.make_nonce(KEY, link) for _ in range(100)}) == 100


def test_a_nonce_from_before_a_key_rotation_is_still_good_and_a_strangers_is_not() -> None:
    link = links.make(KEY, HANDOFF, CONTACT)
    nonce = links.make_nonce(OLD, link)
    assert links.check_nonce([KEY, OLD], link, nonce)
    assert not links.check_nonce([KEY], link, nonce)
    assert not links.check_nonce([], link, nonce)


@pytest.mark.parametrize(
    "nonce", ["", ".", "x", "a.b", "." * 50, "é.ü", "a" * 24 + "." + "0" * 32, "x" * 100_000]
)
def test_a_made_up_nonce_is_refused_without_an_error(nonce: str) -> None:
    assert not links.check_nonce([KEY], links.make(KEY, HANDOFF, CONTACT), nonce)


@pytest.mark.parametrize("place", [0, 5, 24, 25, 40, -1])
def test_a_nonce_with_one_character_changed_is_refused(place: int) -> None:
    link = links.make(KEY, HANDOFF, CONTACT)
    nonce = links.make_nonce(KEY, link)
    changed = "f" if nonce[place] != "f" else "e"
    forged = nonce[:place] + changed + (nonce[place + 1 :] if place != -1 else "")
    assert forged != nonce
    assert not links.check_nonce([KEY], link, forged)


def test_a_link_is_no_nonce_and_a_nonce_tells_no_link() -> None:
    """Both come from one key; the purposes are part of what is signed."""
    link = links.make(KEY, HANDOFF, CONTACT)
    assert link not in links.make_nonce(KEY, link)
    assert not links.check_nonce([KEY], link, f"{HANDOFF}|{CONTACT}.{link}")
