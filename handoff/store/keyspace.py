"""The key catalogue: every key the service has in Redis, what it holds, who deletes it.

All keys of one installation share its prefix and, through the braces, one hash slot, so that one script
may touch several of them. RQ's own keys (`rq:*`) are RQ's; our queue there is named after the prefix.

    key                           type    holds                                             goes
    {p}:ho:<id>                   hash    `doc` the handoff, `rev`, `state`, and `idem`,    purge
                                          its idempotency key (`unnamed`: one of ours):
                                          THE AGENT'S PENDING KEY
    {p}:ho:<id>:events            list    the timeline; event `seq` is at `seq - 1`         purge
    {p}:ho:<id>:commands          hash    command id -> the outcome it had                  purge
    {p}:ho:<id>:links             set     hashes of the links that were sent                purge
    {p}:link:<sha256>             string  `<handoff>|<contact>`                             purge
    {p}:code:<hmac>               string  whose six-digit code it is, which one of its      its time,
                                          place, until when; and the command that used it   purge
    {p}:ho:<id>:codes             hash    place (an attempt) -> the number of its code      purge
    {p}:ho:<id>:codes:hashes      set     the codes that were made                          purge
    {p}:call:<id>                 hash    `doc` the call, `rev`                             purge
    {p}:lines                     hash    number -> the call that has it now                end of call
    {p}:idem:<key id>:<sha256>    string  `<handoff>|<sha256 of the body>`; after a purge   400 days
                                          `deleted|`, so that the key never rings again     after purge
    {p}:effects                   hash    effect id -> the effect: THE OUTBOX               when done
    {p}:effects:due               zset    effect id by due ms                               when done
    {p}:effects:leases            hash    effect id -> how often it was enqueued            when done
    {p}:effects:runs              hash    effect id -> when its run must be over, ms        when done
    {p}:index:all                 zset    `<created ms>:<id>`, scores 0, read by name       purge
    {p}:index:state:<state>       zset    the same, of the handoffs in that state           next state
    {p}:index:agent:<agent>       zset    the same, of that agent                           purge
    {p}:open-of:<contact>         zset    the same, of open ones that they were reached for close
    {p}:index:agent:<a>:<state>   zset    the same, of that agent in that state             next state
    {p}:wakes                     stream  every change: `h` handoff, `s` seq, `c` closed    10,000 kept
    {p}:keys                      hash    API key id -> its record                          never
    {p}:keys:hashes               hash    sha256 of the key -> API key id                   never
    {p}:seen                      hash    `clock`, `worker`, `web` -> when last seen, ms    never
    {p}:people                    hash    the people file: `text`, `version`, and `stamp`,  never
                                          when it was edited, ms
    {p}:people:problems           hash    `<machine>:<path>` of a file that is not the one  good again,
                                          in use -> `at`, when that was seen last, `problems` or an hour
    {p}:contacts                  hash    id -> the record of a contact enrolled at run time   removed
    {p}:contacts:numbers          hash    number -> the id of the enrolled contact who has it removed
    {p}:contacts:news             stream  every change of those: `c` contact                10,000 kept
    {p}:pace                      string  when the next call may begin, ms                  a day
    {p}:pace:waiting              zset    calls that wait for that, by urgency and time     their turn
    {p}:pace:asks                 zset    the same, by when each asks again, ms             their turn
    {p}:begun:<sha256>            zset    calls to one number by when they began, ms        its windows
    {p}:begun:<sha256>:<key id>   zset    those of one API key that has a share of them     its windows
    {p}:texted:<sha256>           zset    texts to one number by when they were sent, ms    its windows
    {p}:day:<date>                hash    `n` calls and `cents` of that day (UTC)           two days
    {p}:optout:<sha256>           hash    `doc` who wants no more calls or texts, and the     their word,
                                          `id` that operators see                           an operator
    {p}:optouts                   set     what is behind `optout:` in those                 the same
    {p}:warning:<sha256>          hash    `doc` what an operator must act on, its `id`,     proven wrong,
                                          `first` and `last` (ms), `count`                  dismissed
    {p}:warnings                  zset    what is behind `warning:` in those, by `last`     the same
    {p}:once:<sha256>             string  a text that came in was acted on (`1`), or is     its window
                                          the one that was answered (its id)
    {p}:rate:<what>               string  a counter                                         its window
"""

from __future__ import annotations

from handoff.states import State


class Keyspace:
    """Builds every key name, each in one place. `prefix` tells installations on one Redis apart."""

    def __init__(self, prefix: str):
        self.prefix = prefix
        self._tag = "{" + prefix + "}"
        self.lines = f"{self._tag}:lines"
        self.effects = f"{self._tag}:effects"
        self.due = f"{self._tag}:effects:due"
        self.leases = f"{self._tag}:effects:leases"
        self.runs = f"{self._tag}:effects:runs"
        self.wakes = f"{self._tag}:wakes"
        self.api_keys = f"{self._tag}:keys"
        self.api_key_hashes = f"{self._tag}:keys:hashes"
        self.seen = f"{self._tag}:seen"
        self.people = f"{self._tag}:people"
        self.people_problems = f"{self._tag}:people:problems"
        self.contacts = f"{self._tag}:contacts"
        self.contact_numbers = f"{self._tag}:contacts:numbers"
        self.contact_news = f"{self._tag}:contacts:news"
        self.pace = f"{self._tag}:pace"
        self.pace_waiting = f"{self._tag}:pace:waiting"
        self.pace_asks = f"{self._tag}:pace:asks"
        self.opt_outs = f"{self._tag}:optouts"
        self.warnings = f"{self._tag}:warnings"

    def handoff(self, handoff_id: str) -> str:
        return f"{self._tag}:ho:{handoff_id}"

    def events(self, handoff_id: str) -> str:
        return f"{self._tag}:ho:{handoff_id}:events"

    def commands(self, handoff_id: str) -> str:
        return f"{self._tag}:ho:{handoff_id}:commands"

    def links_of(self, handoff_id: str) -> str:
        return f"{self._tag}:ho:{handoff_id}:links"

    def link(self, link_hash: str) -> str:
        return f"{self._tag}:link:{link_hash}"

    def code(self, code_hash: str) -> str:
        return f"{self._tag}:code:{code_hash}"

    def codes_of(self, handoff_id: str) -> str:
        return f"{self._tag}:ho:{handoff_id}:codes"

    def code_hashes_of(self, handoff_id: str) -> str:
        return f"{self._tag}:ho:{handoff_id}:codes:hashes"

    def open_of(self, contact_id: str) -> str:
        return f"{self._tag}:open-of:{contact_id}"

    def call(self, call_id: str) -> str:
        return f"{self._tag}:call:{call_id}"

    def idempotency(self, api_key_id: str, key_hash: str) -> str:
        return f"{self._tag}:idem:{api_key_id}:{key_hash}"

    def beginnings(self, number_hash: str, api_key_id: str | None = None) -> str:
        return f"{self._tag}:begun:{number_hash}" + (f":{api_key_id}" if api_key_id else "")

    def texted(self, number_hash: str) -> str:
        return f"{self._tag}:texted:{number_hash}"

    def day(self, date: str) -> str:
        return f"{self._tag}:day:{date}"

    def opt_out(self, key: str) -> str:
        return f"{self._tag}:optout:{key}"

    def warning(self, key: str) -> str:
        return f"{self._tag}:warning:{key}"

    def once(self, what_hash: str) -> str:
        return f"{self._tag}:once:{what_hash}"

    def rate(self, what: str) -> str:
        return f"{self._tag}:rate:{what}"

    def index(self, *, agent: str | None = None, state: State | None = None) -> str:
        """The index behind a list with these filters."""
        if agent is None:
            return f"{self._tag}:index:all" if state is None else f"{self._tag}:index:state:{state}"
        return f"{self._tag}:index:agent:{agent}" + (f":{state}" if state else "")

    def indexes(self, agent: str, state: State) -> list[str]:
        """Every index that a handoff of this agent in this state belongs to."""
        return [
            self.index(),
            self.index(agent=agent),
            self.index(state=state),
            self.index(agent=agent, state=state),
        ]
