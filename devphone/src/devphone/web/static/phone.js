// The page: which phones are in sight, what is asked of the dev phone and when, what is announced.
// Every happening is a reason to look again; the page decides nothing.

import { makeAccount, makeDebugger, makeNumbers } from "./account.js";
import { liveCall, makeCard, rings, statusOf } from "./card.js";
import { clockTime, make, setText } from "./dom.js";
import { makeFaults } from "./faults.js";
import { hush, isAwake, ring, setSound, soundIsOn, wake } from "./sound.js";
import { ask, listen, Refusal } from "./wire.js";

const $ = (id) => document.getElementById(id);
const ALL = "";
const NOTICE_MS = 6000;

const wide = matchMedia("(min-width: 48rem)");
const cards = new Map();
const ringingNow = new Set();
const textsNow = new Set();
let chosen = (new URLSearchParams(location.search).get("phone") ?? ALL).replace(/^ /, "+");
let followed = null;
let state = null;
let looking = null;
let lookAgain = false;
let noticeTimer = 0;

// One look at a time; a happening during a look causes one more. Resolves when what is shown is up to date.
function look() {
  lookAgain = true;
  looking ??= lookUntilQuiet().finally(() => { looking = null; });
  return looking;
}

async function lookUntilQuiet() {
  while (lookAgain) {
    lookAgain = false;
    const seen = await everything();
    $("offline").hidden = seen !== null;
    if (seen === null) return;
    const [newState, log, armed, limits, lines] = seen;
    show(newState);
    warnings.update(log.entries);
    faults.update(armed);
    if (limits) account.update(limits);
    if (lines) numbers.update(lines.numbers);
  }
}

/** All that is in sight; null when the dev phone does not answer. */
async function everything() {
  const paths = ["state", "debugger", "faults", $("account").open && "account", $("numbers").open && "numbers"];
  try {
    return await Promise.all(paths.map((path) => path && ask("GET", path)));
  } catch {
    return null;
  }
}

/** Sends what a person did, then looks. Resolves to whether it was done; a refusal is shown. */
async function act(method, path, body) {
  let done = true;
  try {
    await ask(method, path, body);
  } catch (error) {
    done = false;
    if (error instanceof Refusal) notify(error.message);
  }
  await look();
  return done;
}

function notify(sentence) {
  clearTimeout(noticeTimer);
  setText($("notice"), sentence);
  $("notice").hidden = false;
  noticeTimer = setTimeout(() => { $("notice").hidden = true; }, NOTICE_MS);
}

function concerning(number) {
  return {
    phone: state.phones.find((phone) => phone.number === number),
    calls: state.calls.filter((call) => call.person === number),
    texts: state.messages.filter((text) => text.person === number && (text.arrived || text.direction === "inbound")),
  };
}

function show(seen) {
  const firstLook = state === null;
  state = seen;
  const phones = state.phones.map((phone) => ({ number: phone.number, ...concerning(phone.number) }));
  for (const phone of phones) phone.call = liveCall(phone.calls);
  const ringing = phones.filter((phone) => rings(phone.call));
  $("empty").hidden = phones.length > 0;
  $("clock").hidden = state.clock !== "manual";
  showCards(phones, heard(phones));
  showSwitcher(phones);
  announce(phones, ringing, firstLook);
  ring(ringing.length > 0);
  document.title = ringing.length ? "Ringing: dev phone (simulated)" : "Dev phone (simulated)";
}

/** The one phone whose voice is heard: that with the focus, else the first on the line. */
function heard(phones) {
  const talking = phones.filter((phone) => phone.call?.status === "in-progress" && inSight(phones).includes(phone));
  return (talking.find((phone) => cards.get(phone.number)?.hasFocus()) ?? talking[0])?.number;
}

/** The phones in sight: the chosen one; else all on a wide screen, and on a small one that which rings. */
function inSight(phones) {
  const own = phones.filter((phone) => phone.number === chosen);
  if (own.length) return own;
  if (wide.matches) return phones;
  const ringing = phones.filter((phone) => rings(phone.call));
  const staying = phones.filter((phone) => phone.number === followed);
  const one = staying.find((phone) => phone.call) ?? ringing[0] ?? staying[0] ?? phones.at(-1);
  followed = one?.number ?? null;
  return one ? [one] : [];
}

function showCards(phones, audible) {
  const shown = inSight(phones);
  for (const [number, card] of cards) {
    if (!phones.some((phone) => phone.number === number)) { card.element.remove(); cards.delete(number); }
  }
  for (const phone of phones) {
    if (!cards.has(phone.number)) {
      const card = makeCard($("card"), phone.number, act);
      cards.set(phone.number, card);
      const after = [...cards.keys()].filter((number) => number > phone.number).sort()[0];
      $("cards").insertBefore(card.element, after ? cards.get(after).element : null);
    }
    const card = cards.get(phone.number);
    card.element.hidden = !shown.includes(phone);
    card.update(phone, state.numbers, phone.number === audible);
  }
}

function showSwitcher(phones) {
  const nav = $("phones");
  nav.hidden = phones.length < 2;
  const shown = inSight(phones);
  const wanted = [ALL, ...phones.map((phone) => phone.number)];
  for (const button of [...nav.children]) if (!wanted.includes(button.dataset.number)) button.remove();
  wanted.forEach((number, at) => {
    let button = nav.children[at];
    if (button?.dataset.number !== number) {
      button = make("button", { type: "button" });
      button.dataset.number = number;
      button.addEventListener("click", () => choose(number));
      nav.insertBefore(button, nav.children[at] ?? null);
    }
    const phone = phones.find((one) => one.number === number);
    const rung = rings(phone?.call);
    setText(button, phone ? number : "All phones");
    button.ariaLabel = rung ? `${number}, ringing` : null;
    button.classList.toggle("all", number === ALL);
    button.classList.toggle("ringing", rung);
    const one = number === ALL ? shown.length === phones.length : shown.length === 1 && shown[0] === phone;
    button.setAttribute("aria-pressed", String(one));
  });
}

function choose(number) {
  chosen = number;
  const query = number === ALL ? "" : `?phone=${encodeURIComponent(number)}`;
  history.replaceState(null, "", location.pathname + query);
  hush();
  look();
}

/** Says what is new, once, and gives a phone that begins to ring the focus when nothing else has it. */
function announce(phones, ringing, firstLook) {
  const news = [];
  for (const { number, call } of ringing) {
    if (ringingNow.has(call.sid)) continue;
    news.push(`${number} rings: ${statusOf(call)}, ${clockTime(call.created)}`);
    if (document.activeElement === document.body && !cards.get(number).element.hidden) cards.get(number).focus();
  }
  ringingNow.clear();
  for (const { call } of ringing) ringingNow.add(call.sid);
  for (const { number, texts } of phones) {
    for (const text of texts) {
      if (textsNow.has(text.sid)) continue;
      textsNow.add(text.sid);
      if (!firstLook && text.direction !== "inbound") news.push(`${number} has a new text, ${clockTime(text.created)}`);
    }
  }
  // The times make two news different that would else be the same, and not be said.
  if (news.length) setText($("news"), news.join(". "));
}

function showSound() {
  $("silent").classList.toggle("gone", !soundIsOn() || isAwake());
}

async function awake() {
  await wake();
  showSound();
}

const faults = makeFaults($("faults"), act);
const account = makeAccount($("account"), act);
const numbers = makeNumbers($("numbers"), act);
const warnings = makeDebugger($("debugger"));

$("sound").addEventListener("click", () => {
  setSound(!soundIsOn());
  $("sound").setAttribute("aria-pressed", String(soundIsOn()));
  showSound();
});
$("clock").addEventListener("submit", (event) => {
  event.preventDefault();
  act("POST", "clock/advance", { seconds: Number($("seconds").value) });
});
$("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const number = $("add-number").value;
  if (!(await act("PUT", `phones/${number}`, {}))) return;
  $("add-number").value = "";
  if (chosen !== ALL || !wide.matches) choose(number);
});
for (const panel of [$("account"), $("numbers")]) panel.addEventListener("toggle", () => panel.open && look());
document.addEventListener("pointerup", awake);
document.addEventListener("keydown", awake);
wide.addEventListener("change", () => state && show(state));
showSound();
listen(look, () => { $("offline").hidden = false; ring(false); });
