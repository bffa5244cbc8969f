// One phone's texts: those that arrived and those that the person sent, newest first, and a box to write one.

import { clockTime, linked, make, setOptions, setText } from "./dom.js";

/** Wires a card's texts. `isOpen()` says whether they are in sight; what comes while not is counted. */
export function makeTexts(parts, card, number, act, isOpen) {
  const { inbox, thread, reply, words, recipient, unread, notexts } = parts;
  const items = new Map();
  let unseen = 0;
  let first = true;
  let lastFrom = "";
  inbox.setAttribute("aria-label", `Texts of ${number}`);

  function seen() {
    if (isOpen() || items.size === 0) unseen = 0;
    setText(unread, unseen ? ` ${unseen} new` : "");
  }
  card.addEventListener("tabchosen", seen);

  reply.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await act("POST", `phones/${number}/text`, { to: recipient.value, body: words.value })) words.value = "";
  });

  return {
    update(texts, numbers) {
      setOptions(recipient, numbers);
      recipient.hidden = numbers.length < 2;
      const sids = new Set(texts.map((text) => text.sid));
      for (const [sid, item] of items) if (!sids.has(sid)) { item.remove(); items.delete(sid); }
      for (const text of texts) {
        let item = items.get(text.sid);
        if (!item) {
          item = makeItem(text);
          items.set(text.sid, item);
          thread.prepend(item);
          if (text.direction !== "inbound") {
            if (!first && !isOpen()) unseen += 1;
            if (text.from !== lastFrom && numbers.includes(text.from)) recipient.value = lastFrom = text.from;
          }
        }
        setText(item.lastElementChild, factsOf(text));
      }
      notexts.hidden = texts.length > 0;
      inbox.hidden = texts.length === 0;
      first = false;
      seen();
    },
  };
}

function makeItem(text) {
  const mine = text.direction === "inbound";
  const item = make("li", { className: mine ? "mine" : "theirs" });
  item.append(make("span", { className: "unseen", textContent: mine ? `To ${text.to}: ` : `From ${text.from}: ` }));
  item.append(make("p", {}, ...linked(text.body)));
  for (const url of text.media ?? []) item.append(make("p", {}, "Media: ", ...linked(url)));
  item.append(make("small"));
  return item;
}

function factsOf(text) {
  const facts = [clockTime(text.created), text.status];
  if (text.error_code) facts.push(`error ${text.error_code}`);
  if (text.segments > 1) facts.push(`${text.segments} segments`);
  return facts.join(", ");
}
