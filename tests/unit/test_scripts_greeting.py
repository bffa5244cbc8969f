"""What a person hears before any key: who calls, why, the menu, and again after silence or a wrong key.

What is answered to a key is in test_scripts_replies.py.
"""

from __future__ import annotations

from handoff import outcomes
from handoff.states import Kind, Trigger
from voice import scripts
from voice.keypad import keys_for

from .spoken import AGAIN_URL, KEY_URL, gather_in, greet, handoff, heard, held, reply, verbs


def test_a_cut_reason_says_where_the_rest_is() -> None:
    long = handoff(reason="checkout " * 200)
    assert "The link in the text shows the rest." in heard(greet(long))
    assert "The link shows the rest." in heard(greet(long, text_sent=False))


def test_who_calls_and_why_is_over_in_five_seconds() -> None:
    # Some 14 characters a second; the reason of the first example in the docs.
    opening = gather_in(greet(handoff(reason="A verification checkbox blocks checkout")))[0].text or ""
    assert opening == "Handoff for shopper. A verification checkbox blocks checkout."
    assert len(opening) <= 5 * 14


def test_the_menu_that_is_read_is_the_menu_that_acts() -> None:
    for kind in Kind:
        for has_next in (True, False):
            about = handoff(kind)
            said = heard(greet(about, has_next=has_next, every_key=True))
            keys = keys_for(about, has_next=has_next)
            assert said.count("Press ") == len(keys)
            for key in keys:
                assert f"Press {key.spoken} {key.words}." in said


def test_the_first_menu_is_over_in_eleven_seconds_and_star_has_the_rest() -> None:
    for kind in Kind:
        about = handoff(kind)
        keys = keys_for(about, has_next=True, calls_back=True)
        first = heard(greet(about, keys=keys))
        menu = first[first.index("Press ") :]
        assert len(menu) <= 11 * 14 and menu.endswith("Press star for more choices.")
        assert "9" not in menu and "8" not in menu
        assert heard(greet(about, keys=keys, turn=2)).endswith("Press 8 to stop calls to this number.")
    only = keys_for(handoff(), has_next=True, inbound=True)
    assert heard(greet(handoff(), keys=only)).endswith("Press star to hear this again."), (
        "nothing is left out"
    )


def test_a_page_without_a_text_is_one_way_more_or_the_only_one() -> None:
    page = "Open handoff dot example slash c, and enter 4 8 2, 1 3 4."
    assert "Open" not in heard(greet(handoff(), text_sent=False, page=page)), "keys do, and the menu is short"
    assert heard(greet(handoff(), text_sent=False, page=page, every_key=True)).endswith(f"Or o{page[1:]}")
    for turn in (1, 2):
        said = heard(greet(handoff(Kind.ASK), turn, text_sent=False, page=page))
        assert f"{page} Press 3" in said, "it is said again, since nothing else does"


def test_a_question_is_asked_as_one_and_sends_people_to_the_link() -> None:
    about = handoff(Kind.ASK, reason="Which address should I ship to?")
    opening = "Handoff for shopper. It asks: Which address should I ship to? "
    assert heard(greet(about)).startswith(f"{opening}Answer by the link in the text. Press 3")
    assert heard(greet(about, text_sent=False)).startswith(
        f"{opening}It is answered by link, and no text went out"
    )


def test_a_text_that_was_not_sent_is_never_mentioned_as_sent() -> None:
    for kind in Kind:
        about = held("Ada", kind)
        documents = [greet(handoff(kind), turn, text_sent=False) for turn in (1, 2, 3, 4)]
        documents.append(reply(outcomes.won(Trigger.ACKNOWLEDGE, about), about, text_sent=False))
        for document in documents:
            assert "the text" not in heard(document).lower().replace("no text", "")


def test_silence_is_asked_about_twice_and_then_decides_nothing() -> None:
    # Telephony case 30.
    second, third = heard(greet(handoff(), turn=2)), heard(greet(handoff(), turn=3))
    assert second == third
    assert second.startswith(
        "I did not hear a key. This is for shopper. A checkbox is blocking checkout. Press 1 when it is done."
    ), "whoever came in the middle hears what it is about"
    long = heard(greet(handoff(reason="The cart is locked. Then there was more to say."), turn=2))
    assert "The cart is locked. Press 1" in long
    assert len(second) < len(heard(greet(handoff(), every_key=True)))
    last = greet(handoff(), turn=4)
    assert last == scripts.goodbye_no_input(text_sent=True)
    assert heard(last) == "Nothing is decided. The link in the text still works. Goodbye."
    assert verbs(last)[-1].tag == "Hangup"


def test_a_wrong_key_is_named_as_such_and_the_menu_read_again_but_not_for_ever() -> None:
    # Telephony case 33.
    about = handoff()
    keys = keys_for(about, has_next=True)
    urls = {"key_url": KEY_URL, "again_url": AGAIN_URL}
    said = heard(scripts.unknown_key(about, keys, turn=2, text_sent=True, **urls))
    assert said.startswith("That key does nothing here.")
    assert "Press 1 when it is done." in said
    end = scripts.unknown_key(about, keys, turn=4, text_sent=True, **urls)
    assert end == scripts.goodbye_no_input(text_sent=True)
