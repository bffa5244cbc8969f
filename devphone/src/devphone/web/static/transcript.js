// What is said and done on a call: the list that grows while it goes on, and the voice that says it.

import { make } from "./dom.js";
import { hush, say, soundIsOn } from "./sound.js";

/** One line. A key takes no time, speech does. */
export function saidBy(line) {
  const pressed = line.who === "person" && line.lasts_s === 0;
  return make("li", { className: line.who, textContent: pressed ? `pressed ${line.text}` : line.text });
}

/** Fills `list` within `box`, which scrolls. */
export function makeTranscript(box, list) {
  let shown = null;
  return {
    /** `call` may be undefined. What comes while it goes on and is `audible` is also spoken. */
    update(call, audible) {
      // The voice speaks for itself; a screen reader that reads the same words would talk over it.
      box.setAttribute("aria-live", soundIsOn() && audible ? "off" : "polite");
      const isNew = shown !== (call?.sid ?? null);
      if (isNew) {
        shown = call?.sid ?? null;
        list.replaceChildren();
      }
      const fresh = (call?.transcript ?? []).slice(list.children.length);
      if (!fresh.length) return;
      list.append(...fresh.map(saidBy));
      box.scrollTop = box.scrollHeight;
      if (!audible || isNew) return;
      for (const line of fresh) if (line.who === "person") hush(); else say(line.text);
    },
  };
}
