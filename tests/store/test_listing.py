"""Lists by cursor: newest first, every filter, no duplicate and no gap, the same cost at any size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handoff.changes import Change
from handoff.models import Handoff
from handoff.states import State
from handoff.store import Done, Store
from handoff.store.plan import Plan
from tests.unit.lives import NOW

from .records import Raw, at_once, declined, keep, opened, opening, resolved


def pages(
    store: Store, *, agent: str | None = None, state: State | None = None, limit: int = 7
) -> Iterator[list[Handoff]]:
    """Page after page until the last."""
    cursor: str | None = None
    for _ in range(1_000):
        found, cursor = store.page(agent=agent, state=state, before=cursor, limit=limit)
        yield found
        if cursor is None:
            return
    raise AssertionError("the list never ends")


def listed(
    store: Store, *, agent: str | None = None, state: State | None = None, limit: int = 7
) -> list[str]:
    return [one.id for page in pages(store, agent=agent, state=state, limit=limit) for one in page]


def newest_first(handoffs: list[Handoff]) -> list[str]:
    return [one.id for one in sorted(handoffs, key=lambda one: (one.created_at, one.id), reverse=True)]


@pytest.mark.parametrize("limit", [1, 2, 9, 10, 11, 200])
def test_every_page_size_gives_the_whole_list_newest_first(store: Store, limit: int) -> None:
    made = [opened(store, now=NOW + number * 10) for number in range(10)]
    assert listed(store, limit=limit) == newest_first(made)
    sizes = [len(page) for page in pages(store, limit=limit)]
    assert all(size == limit for size in sizes[:-1]) and sizes[-1] > 0, "no empty last page"


def test_of_one_millisecond_all_are_there_once(store: Store) -> None:
    made = [opened(store, now=NOW) for _ in range(40)]
    assert listed(store, limit=3) == newest_first(made)


def test_an_empty_list_is_one_empty_page(store: Store) -> None:
    assert list(pages(store)) == [[]]
    opened(store)
    assert list(pages(store, state=State.EXPIRED)) == [[]]
    assert list(pages(store, agent="nobody")) == [[]]


def test_each_filter_and_both_together_show_exactly_what_fits(store: Store) -> None:
    made = []
    for number in range(12):
        handoff = opened(store, agent=("shop", "mail", "shop-2")[number % 3], now=NOW + number)
        if number % 4 == 1:
            handoff = keep(store, resolved(handoff))
        elif number % 4 == 2:
            handoff = keep(store, declined(handoff))
        made.append(handoff)
    for agent in (None, "shop", "mail", "shop-2"):
        for state in (None, *State):
            fits = [
                one
                for one in made
                if (agent is None or one.agent == agent) and (state is None or one.state is state)
            ]
            assert listed(store, agent=agent, state=state, limit=2) == newest_first(fits), (agent, state)


def test_an_agent_named_like_a_state_mixes_nothing_up(store: Store) -> None:
    one = opened(store, agent="resolved")
    keep(store, resolved(opened(store, agent="shop")))
    assert listed(store, agent="resolved") == [one.id]


def test_a_handoff_is_in_the_index_of_its_present_state_only(store: Store) -> None:
    handoff = opened(store)
    closed = keep(store, resolved(handoff))
    for agent in (None, handoff.agent):
        found = {state for state in State if listed(store, agent=agent, state=state)}
        assert found == {closed.state}


def test_a_list_read_while_new_ones_arrive_has_no_duplicate_and_no_gap(store: Store) -> None:
    made = [opened(store, now=NOW + number) for number in range(60)]
    seen: list[str] = []
    for number, page in enumerate(pages(store, limit=5)):
        seen += [one.id for one in page]
        opened(store, now=NOW + 1_000 + number)
    assert seen == newest_first(made)


def test_a_list_read_while_states_change_has_no_duplicate(store: Store) -> None:
    made = {one.id: one for one in (opened(store, now=NOW + number) for number in range(30))}
    seen: list[str] = []
    for page in pages(store, state=State.ESCALATING, limit=4):
        seen += [one.id for one in page]
        for one in page:
            keep(store, resolved(made[one.id]))
    assert len(seen) == len(set(seen)) == 30
    assert listed(store, state=State.ESCALATING) == []


def test_one_that_is_purged_between_two_pages_is_left_out_and_the_rest_goes_on(
    store: Store, raw: Raw
) -> None:
    made = [opened(store, now=NOW + number) for number in range(6)]
    _, cursor = store.page(agent=None, state=None, before=None, limit=2)
    raw.delete(store.keys.handoff(made[2].id))
    found, _ = store.page(agent=None, state=None, before=cursor, limit=3)
    assert [one.id for one in found] == [made[3].id, made[1].id]


def test_a_cursor_of_something_long_gone_still_marks_the_place(store: Store) -> None:
    made = [opened(store, now=NOW + number) for number in range(4)]
    found, _ = store.page(agent=None, state=None, before=f"{NOW + 2:013d}:ho_{'0' * 22}", limit=10)
    assert [one.id for one in found] == [made[1].id, made[0].id]


def test_a_thousand_handoffs_opened_by_ten_at_once_are_all_listed_once(store: Store) -> None:
    def open_many(number: int) -> list[str]:
        batch: list[Change] = [opening(agent=f"a{number}", now=NOW + turn % 50) for turn in range(100)]
        for at in range(0, 100, 20):
            assert store.commit(Plan(changes=batch[at : at + 20]), NOW) == Done()
        return [change.handoff.id for change in batch]

    made = at_once(10, open_many)
    everything = listed(store, limit=200)
    assert len(everything) == 1_000 and set(everything) == {one for ids in made for one in ids}
    assert set(listed(store, agent="a3", limit=200)) == set(made[3])
    moments = [one.created_at for page in pages(store, limit=200) for one in page]
    assert moments == sorted(moments, reverse=True)


def test_a_page_asks_the_same_at_ten_and_at_a_thousand(store: Store, raw: Raw) -> None:
    """Counted at the server, not timed: one range and one read per handoff shown."""

    def asked() -> int:
        before = raw.info("commandstats")
        store.page(agent="checkout-bot", state=State.ESCALATING, before=None, limit=10)
        after = raw.info("commandstats")
        names = ("cmdstat_zrange", "cmdstat_hget")
        return sum(int(after[name]["calls"]) - int(before.get(name, {"calls": 0})["calls"]) for name in names)

    for number in range(11):
        opened(store, now=NOW + number)
    few = asked()
    for at in range(0, 1_000, 20):
        batch = [opening(now=NOW + 100 + at + number) for number in range(20)]
        assert store.commit(Plan(changes=batch), NOW) == Done()
    assert asked() == few == 11
