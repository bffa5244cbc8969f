"""Contacts in the API, `/v1/contacts`: operators' keys only. What may be said of one is contact_form.py's,
what becomes of it enrolments.py's.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from flask import Blueprint, Response, request
from pydantic import ValidationError

from handoff.contact_form import twice
from handoff.contact_messages import ContactList, ContactsQuery, ContactView, EnrolRequest
from handoff.errors import Invalid, NotFound
from handoff.messages import NAME, EmptyRequest
from handoff.web import context
from handoff.web.bodies import invalid, read_body, said
from handoff.web.openapi import answers, documented

bp = Blueprint("contacts", __name__, url_prefix="/v1/contacts")


@bp.post("")
@documented(
    json=EnrolRequest,
    resp=answers(_201=ContactView, _200=ContactView, _403=None, _409=None),
    tags=["contacts"],
)
def enrol() -> Response:
    """Enrol a contact: they are called now, and asked whether they may be called.

    Until they press `1` in that call they are called for nothing else. The same request once more finds the
    same contact (200) and rings nobody. An id or a number that somebody else has is refused (409).
    """
    key = context.operator()
    wanted = read_body(EnrolRequest, may_be_empty=False)
    if twice(wanted.numbers):
        raise Invalid.field("numbers", "names a number twice")
    record, new = context.services().enrolments.enrol(
        wanted.contact(wanted.id), wanted.pin, context.actor(key)
    )
    response = said(ContactView.enrolled(record), 201 if new else 200)
    response.headers["Location"] = f"{context.services().settings.public_url}/v1/contacts/{wanted.id}"
    return response


@bp.get("")
@documented(
    query=ContactsQuery, resp=answers(_200=ContactList, _401=None, _403=None, _422=None), tags=["contacts"]
)
def list_contacts() -> Response:
    """All contacts, by id: those of the people file and the environment, and those who were enrolled."""
    context.operator()
    query, at = _list_query(), context.services()
    people = at.handoffs.rules(fresh=True).people
    start = bisect_right(people.ids, query.cursor) if query.cursor else 0
    page = people.ids[start : start + query.limit]
    enrolled = at.enrolments.contacts.several([one for one in page if people.given(one) is None])
    views = [
        ContactView.of(given) if (given := people.given(one)) else ContactView.enrolled(enrolled[one])
        for one in page
        if people.given(one) or one in enrolled
    ]
    more = start + query.limit < len(people.ids)
    return said(ContactList(contacts=tuple(views), next_cursor=page[-1] if more else None))


@bp.get("/<contact_id>")
@documented(resp=answers(_200=ContactView, _401=None, _403=None, _404=None), tags=["contacts"])
def show(contact_id: str) -> Response:
    """A contact, and whether they may be called."""
    context.operator()
    return said(_view(contact_id))


@bp.delete("/<contact_id>")
@documented(resp=answers(_204=None, _401=None, _403=None, _404=None, _409=None), tags=["contacts"])
def remove(contact_id: str) -> Response:
    """Take out a contact who was enrolled: they are not called any more."""
    key = context.operator()
    context.services().enrolments.remove(_named(contact_id), context.actor(key))
    response = Response(status=204)
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.post("/<contact_id>/verification")
@documented(
    json=EmptyRequest,
    resp=answers(_200=ContactView, _401=None, _403=None, _404=None, _409=None, _429=None),
    tags=["contacts"],
)
def verify(contact_id: str) -> Response:
    """Ask them once more, by a call: they missed the last one, said no, or have a number left that was not
    asked. At most three times a day; while a call that asks is under way, it is that one."""
    key = context.operator()
    read_body(EmptyRequest)
    asked = context.services().enrolments.ask_again(_named(contact_id), context.actor(key))
    return said(ContactView.enrolled(asked))


@bp.post("/<contact_id>/card")
@documented(
    json=EmptyRequest,
    resp=answers(_202=ContactView, _401=None, _403=None, _404=None, _409=None, _429=None),
    tags=["contacts"],
)
def send_card(contact_id: str) -> Response:
    """Text them where our contact card is, so that our calls ring through. At most three times a day."""
    context.operator()
    read_body(EmptyRequest)
    context.services().enrolments.offer_card(_named(contact_id))
    return said(_view(contact_id), 202)


def _view(contact_id: str) -> ContactView:
    at = context.services()
    if given := at.handoffs.rules(fresh=True).people.given(_named(contact_id)):
        return ContactView.of(given)
    record = at.enrolments.contacts.read(contact_id)
    if record is None:
        raise NotFound(f"There is no contact {contact_id!r}.")
    return ContactView.enrolled(record)


def _named(contact_id: str) -> str:
    """Only what can be an id is looked up, and said back."""
    if not re.match(NAME, contact_id) or len(contact_id) > 40:
        raise NotFound("There is no such contact.")
    return contact_id


def _list_query() -> ContactsQuery:
    try:
        return ContactsQuery.model_validate_strings(request.args.to_dict())
    except ValidationError as error:
        raise invalid(error) from None
