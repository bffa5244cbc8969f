// One phone: what it shows about its call now, and what a person can do with it. Texts, past calls and setup
// are parts of their own. A card decides nothing; it shows what the state says.

import { makeKeypad } from "./keypad.js";
import { makeLog } from "./log.js";
import { makeSetup } from "./setup.js";
import { makeTabs } from "./tabs.js";
import { makeTexts } from "./texts.js";
import { makeTranscript } from "./transcript.js";
import { partsOf, setOptions, setText } from "./dom.js";
import { hush } from "./sound.js";

const OVER = new Set(["completed", "busy", "no-answer", "failed", "canceled"]);
const LONGEST_HEARD = 60;

const onTheLine = (call) => call?.status === "in-progress" && call.at === "person";

/** The call that this phone has now, of `calls` in the order they were made: the one talked on, else the newest. */
export function liveCall(calls) {
  const live = calls.filter((call) => !OVER.has(call.status));
  return live.findLast(onTheLine) ?? live.at(-1);
}

/** Whether a person could hear this phone ring. */
export const rings = (call) => Boolean(call?.rings_person);

/** What a listener would be told about a call: one line, also shown on the card. */
export function statusOf(call) {
  if (!call) return "Idle";
  const outwards = call.direction === "inbound";
  if (call.rings_person && call.at === "screener") {
    return `${call.from} is calling.\nA screener answered: ${shortened(call.screened)}`;
  }
  if (call.rings_person) return `${call.from} is calling`;
  if (call.status === "ringing") return outwards ? `Calling ${call.to}` : `${call.from} is calling, silently`;
  if (call.at === "screener") return `A screener talks to ${call.from}`;
  if (call.at === "voicemail") return `The mailbox talks to ${call.from}`;
  if (call.status !== "in-progress") return "A call is on its way";
  const counts = [call.takes_speech && "Speak", call.takes_keys && "press keys"].filter(Boolean).join(" or ");
  const turn = counts && `\n${counts[0].toUpperCase()}${counts.slice(1)} now`;
  return `On the line with ${outwards ? call.to : call.from}${turn}`;
}

function shortened(words) {
  if (!words) return "nothing was said";
  return words.length > LONGEST_HEARD ? `“${words.slice(0, LONGEST_HEARD)}…”` : `“${words}”`;
}

/** The card of `number`, made of the template. `act(path, body)` sends what the person does. */
export function makeCard(template, number, act) {
  const element = template.content.firstElementChild.cloneNode(true);
  const parts = partsOf(element);
  const deeds = Object.fromEntries([...element.querySelectorAll("[data-do]")].map((one) => [one.dataset.do, one]));
  const prefix = `phone-${number.slice(1)}`;
  const tabs = makeTabs(element, prefix);
  const texts = makeTexts(parts, element, number, act, () => tabs.chosen() === "texts");
  const log = makeLog(parts);
  const setup = makeSetup(parts.setup, number, act);
  const transcript = makeTranscript(parts.heard, parts.transcript);
  const keypad = makeKeypad(parts.keypad, element, (key) => { hush(); return onCall("press", { digits: key }); });
  let call;

  element.dataset.number = number;
  parts.number.id = prefix;
  element.setAttribute("aria-labelledby", prefix);
  setText(parts.number, number);

  const onCall = (deed, body) => call && act("POST", `calls/${call.sid}/${deed}`, body);
  for (const [deed, button] of Object.entries(deeds)) {
    button.addEventListener("click", async () => {
      hush();
      await onCall(deed);
      if (deed === "answer") keypad.focus();
    });
  }
  parts.dial.addEventListener("submit", (event) => {
    event.preventDefault();
    act("POST", `phones/${number}/call`, { to: parts.dialled.value });
  });
  parts.speech.addEventListener("submit", (event) => {
    event.preventDefault();
    hush();
    onCall("say", { text: parts.sentence.value });
    parts.sentence.value = "";
  });
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === element && !deeds.answer.hidden) deeds.answer.click();
  });

  function showButtons() {
    const ringing = call?.status === "ringing" && call.direction !== "inbound";
    deeds.answer.hidden = deeds.decline.hidden = !(ringing || rings(call));
    deeds.voicemail.hidden = deeds.busy.hidden = !ringing;
    deeds.hangup.hidden = !(call && (call.direction === "inbound" || call.at === "person"));
    parts.dial.hidden = Boolean(call) && (call.direction === "inbound" || ["ringing", "in-progress"].includes(call.status));
    parts.speech.hidden = !onTheLine(call);
    keypad.enable(onTheLine(call));
  }

  return {
    element,
    /** `seen` is what concerns this phone; `numbers` are the account's; only an `audible` card speaks. */
    update(seen, numbers, audible) {
      const before = call;
      call = liveCall(seen.calls);
      const other = seen.calls.findLast((one) => one !== call && rings(one));
      const focused = element.contains(document.activeElement) ? document.activeElement : null;
      setText(parts.status, other ? `${statusOf(call)}\nAnother call waits` : statusOf(call));
      element.classList.toggle("ringing", rings(call));
      setOptions(parts.dialled, numbers);
      parts.dialled.hidden = numbers.length < 2;
      setText(parts.call, numbers.length < 2 ? `Call ${numbers[0]}` : "Call");
      showButtons();
      transcript.update(call ?? seen.calls.at(-1), audible && Boolean(call));
      if (onTheLine(call) && before?.sid === call.sid && !onTheLine(before)) tabs.choose("call");
      texts.update(seen.texts, numbers);
      log.update(seen.calls.filter((one) => OVER.has(one.status)));
      setup.update(seen.phone);
      if (focused && (focused.disabled || !focused.checkVisibility())) element.focus({ preventScroll: true });
    },
    hasFocus: () => element.contains(document.activeElement),
    focus: () => element.focus({ preventScroll: true }),
  };
}
