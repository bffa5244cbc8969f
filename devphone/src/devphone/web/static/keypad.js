// The keypad of one phone: twelve keys with their tones, and the same keys on the keyboard.

import { make } from "./dom.js";
import { keyTone } from "./sound.js";

const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "0", "#"];
const NAMES = { "*": "star", "#": "pound" };

/** Fills `group`; `press(key)` is called for each key. `card` is where the keyboard counts. */
export function makeKeypad(group, card, press) {
  const keys = KEYS.map((key) => {
    const button = make("button", { type: "button", textContent: key, disabled: true });
    if (NAMES[key]) button.setAttribute("aria-label", NAMES[key]);
    button.addEventListener("click", () => pressed(key));
    return button;
  });
  group.append(...keys);

  function pressed(key) {
    keyTone(key);
    press(key);
  }

  // Only while the focus is in this card: WCAG 2.1.4, and two phones may be on the line.
  card.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (KEYS.includes(event.key) && !keys[0].disabled) pressed(event.key);
  });

  return {
    focus() {
      keys[0].focus({ preventScroll: true });
      group.scrollIntoView({ block: "nearest" });
    },
    enable(wanted) {
      if (keys[0].disabled === wanted) for (const key of keys) key.disabled = !wanted;
    },
  };
}
