// The phone on the page: shows what /_devphone/state says, and sends what a person does.
// Every happening is a reason to look again; the page decides nothing.
import { ringTone, say, hush, wake, setSound, soundIsOn } from "./sound.js";

const $ = (id) => document.getElementById(id);
const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "0", "#"];
const KEY_NAMES = { "*": "star", "#": "pound" };
const OVER = new Set(["completed", "busy", "no-answer", "failed", "canceled"]);
const LINK = /https?:\/\/[^\s<>"]+[^\s<>".,;:!?)]/g;

let state = null;
let chosen = new URLSearchParams(location.search).get("phone");
let shownCall = null;
let looking = null;
let lookAgain = false;

async function send(method, path, body) {
  const response = await fetch(`/_devphone${path}`, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return response.json();
}

// One look at a time; a happening during a look causes one more. Resolves when what is shown is up to date.
function look() {
  lookAgain = true;
  looking ??= lookUntilQuiet().finally(() => { looking = null; });
  return looking;
}

async function lookUntilQuiet() {
  try {
    while (lookAgain) {
      lookAgain = false;
      const [newState, log] = await Promise.all([send("GET", "/state"), send("GET", "/debugger")]);
      state = newState;
      $("offline").hidden = true;
      show(log.entries);
    }
  } catch {
    $("offline").hidden = false;
  }
}

const callsOf = (number) => state.calls.filter((call) => call.to === number);
const textsOf = (number) => state.messages.filter((text) => text.to === number && text.arrived);
const liveCall = (number) => callsOf(number).findLast((call) => !OVER.has(call.status));

function show(warnings) {
  const numbers = state.phones.map((phone) => phone.number);
  const ringing = numbers.filter((number) => liveCall(number)?.status === "ringing");
  const busy = chosen && liveCall(chosen);
  if (!numbers.includes(chosen) || (ringing.length && !busy)) chosen = ringing[0] ?? numbers.at(-1) ?? null;
  $("empty").hidden = Boolean(chosen);
  $("phone").hidden = !chosen;
  $("clock").hidden = state.clock !== "manual";
  showPhones(numbers, ringing);
  showWarnings(warnings);
  if (chosen) {
    showCall(liveCall(chosen) ?? callsOf(chosen).at(-1));
    showTexts(textsOf(chosen));
  }
  ringTone(ringing.length > 0);
  document.title = ringing.length ? "Ringing: dev phone (simulated)" : "Dev phone (simulated)";
}

function showPhones(numbers, ringing) {
  const nav = $("phones");
  for (const number of numbers) {
    let button = nav.querySelector(`[data-number="${number}"]`);
    if (!button) {
      button = document.createElement("button");
      button.type = "button";
      button.dataset.number = number;
      button.addEventListener("click", () => { chosen = number; hush(); look(); });
      nav.append(button);
    }
    const texts = textsOf(number).length;
    const facts = [ringing.includes(number) ? "ringing" : "", texts ? `${texts} text${texts > 1 ? "s" : ""}` : ""];
    setText(button, [number, ...facts.filter(Boolean)].join(", "));
    button.setAttribute("aria-pressed", String(number === chosen));
    button.classList.toggle("ringing", ringing.includes(number));
  }
  for (const button of [...nav.children]) if (!numbers.includes(button.dataset.number)) button.remove();
}

function showCall(call) {
  const rings = call?.status === "ringing";
  const talks = call?.status === "in-progress";
  setText($("number"), chosen);
  setText($("status"), statusLine(call));
  $("screen").classList.toggle("ringing", rings);
  $("answer").hidden = $("decline").hidden = !rings;
  $("hangup").hidden = $("keypad").hidden = !talks;
  const list = $("transcript");
  const lines = call?.transcript ?? [];
  if (shownCall !== call?.sid) {
    shownCall = call?.sid;
    list.replaceChildren();
    hush();
  }
  list.hidden = lines.length === 0;
  for (const line of lines.slice(list.children.length)) {
    const item = document.createElement("li");
    item.className = line.who;
    item.textContent = line.who === "person" ? `pressed ${line.text}` : line.text;
    list.append(item);
    list.scrollTop = list.scrollHeight;
    if (line.who === "person") hush();
    else if (talks) say(line.text);
  }
  if (!talks && soundIsOn() && call && OVER.has(call.status)) hush();
}

function statusLine(call) {
  if (!call) return "Idle";
  if (call.status === "ringing") return `${call.from} is calling`;
  if (call.status === "in-progress") return call.listening ? "On the line. Keys count now." : "On the line";
  if (OVER.has(call.status)) return `Last call: ${call.status}, ${call.duration_s} s`;
  return "A call is on its way";
}

function showTexts(texts) {
  const list = $("inbox");
  $("no-texts").hidden = texts.length > 0;
  const known = new Set([...list.children].map((item) => item.dataset.sid));
  for (const item of [...list.children]) if (!texts.some((text) => text.sid === item.dataset.sid)) item.remove();
  for (const text of texts) {
    if (known.has(text.sid)) continue;
    const item = document.createElement("li");
    item.dataset.sid = text.sid;
    const head = document.createElement("small");
    const at = new Date(text.created * 1000).toLocaleTimeString();
    head.textContent = `From ${text.from}, ${at}, ${text.segments} segment${text.segments > 1 ? "s" : ""}`;
    item.append(head, ...linked(text.body));
    list.prepend(item);
  }
}

function linked(body) {
  const parts = [];
  let end = 0;
  for (const match of body.matchAll(LINK)) {
    const link = document.createElement("a");
    link.href = link.textContent = match[0];
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    parts.push(body.slice(end, match.index), link);
    end = match.index + match[0].length;
  }
  return [...parts, body.slice(end)];
}

function showWarnings(entries) {
  $("debugger").hidden = entries.length === 0;
  setText($("debugger-title"), `Debugger: ${entries.length}`);
  const list = $("warnings");
  if (entries.length < list.children.length) list.replaceChildren();
  for (const entry of entries.slice(list.children.length)) {
    const item = document.createElement("li");
    item.textContent = `${entry.code}: ${entry.text}`;
    list.append(item);
  }
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

async function act(deed, body) {
  const call = chosen && liveCall(chosen);
  if (!call) return;
  await send("POST", `/calls/${call.sid}/${deed}`, body);
  await look();
}

const press = (key) => { hush(); return act("press", { digits: key }); };

for (const key of KEYS) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = key;
  if (KEY_NAMES[key]) button.setAttribute("aria-label", KEY_NAMES[key]);
  button.addEventListener("click", () => press(key));
  $("keypad").append(button);
}
$("answer").addEventListener("click", async () => { await act("answer"); $("keypad").firstChild.focus(); });
$("decline").addEventListener("click", () => act("decline"));
$("hangup").addEventListener("click", () => { hush(); return act("hangup"); });
$("sound").addEventListener("click", () => {
  setSound(!soundIsOn());
  $("sound").setAttribute("aria-pressed", String(soundIsOn()));
});
$("clock").addEventListener("submit", async (event) => {
  event.preventDefault();
  await send("POST", "/clock/advance", { seconds: Number($("seconds").value) });
  await look();
});
document.addEventListener("pointerdown", wake);
document.addEventListener("keydown", (event) => {
  wake();
  const typing = event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey;
  if (!typing && KEYS.includes(event.key) && !$("keypad").hidden) press(event.key);
});

const happenings = new EventSource("/_devphone/events");
happenings.addEventListener("happened", look);
happenings.addEventListener("open", look);
happenings.addEventListener("error", () => { $("offline").hidden = false; ringTone(false); });
