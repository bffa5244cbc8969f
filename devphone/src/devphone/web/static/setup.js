// How one phone behaves by itself. Every change is sent at once; what the chosen behaviour does not ask for is
// not shown. An empty field is null: what such a phone usually does.

import { make } from "./dom.js";

const BEHAVIOURS = {
  rings: "Rings until somebody acts",
  answers: "Answers by itself",
  busy: "Is busy",
  unreachable: "Can’t be reached",
  voicemail: "Goes to voicemail",
  screening: "Screens the caller",
  do_not_disturb: "Do not disturb",
  bad_line: "Drops the call",
};
const TEXTS = { delivered: "Texts are delivered", undelivered: "Texts are not delivered", no_receipt: "Texts get no receipt" };
const VERDICTS = {
  "": "What the phone is",
  human: "human",
  machine_start: "machine_start",
  machine_end_beep: "machine_end_beep",
  machine_end_silence: "machine_end_silence",
  machine_end_other: "machine_end_other",
  fax: "fax",
  unknown: "unknown",
};
const BY_ITSELF = ["answers", "voicemail", "screening", "do_not_disturb"];

// kind: how it is read and shown; usual: may be left empty; when: the behaviours (or texts) that ask for it.
const FIELDS = [
  { name: "behaviour", label: "When it is called", kind: "choice", options: BEHAVIOURS },
  { name: "after_s", label: "After seconds", kind: "number", usual: true, when: BY_ITSELF },
  { name: "greeting", label: "Greeting", kind: "text", usual: true, when: ["voicemail", "screening", "do_not_disturb"] },
  { name: "records_s", label: "Records for seconds", kind: "number", when: ["voicemail", "do_not_disturb"] },
  { name: "listens_s", label: "Listens for seconds", kind: "number", when: ["screening"] },
  { name: "drops_after_s", label: "Drops after seconds", kind: "number", when: ["bad_line"] },
  { name: "lets_through", label: "Lets through", kind: "numbers", when: ["do_not_disturb"] },
  { name: "answered_by", label: "Machine detection says", kind: "choice", options: VERDICTS },
  { name: "verdict_after_s", label: "Verdict after seconds", kind: "number", usual: true },
  { name: "texts", label: "When it is texted", kind: "choice", options: TEXTS },
  { name: "error_code", label: "Error code", kind: "number", when: ["undelivered"] },
  { name: "previews", label: "Opens links for a preview", kind: "switch" },
];

/** Fills `form` for the phone `number`; `act` sends a change. */
export function makeSetup(form, number, act) {
  const rows = FIELDS.map((field) => ({ field, ...makeRow(field, number) }));
  form.append(...rows.map((row) => row.element));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const { field, input } of rows) {
    input.addEventListener("change", () => {
      if (input.reportValidity()) act("PUT", `phones/${number}`, { [field.name]: valueOf(field, input) });
    });
  }
  return {
    update(phone) {
      for (const { field, input, element } of rows) {
        element.hidden = field.when && ![phone.behaviour, phone.texts].some((value) => field.when.includes(value));
        if (input !== document.activeElement) put(field, input, phone[field.name]);
      }
    },
  };
}

function makeRow(field, number) {
  const id = `setup-${number.slice(1)}-${field.name}`;
  const input = make(field.kind === "choice" ? "select" : "input", { id });
  if (field.kind === "choice") {
    const options = Object.entries(field.options);
    input.append(...options.map(([value, textContent]) => make("option", { value, textContent })));
  }
  if (field.kind === "number") Object.assign(input, { type: "number", min: 0, step: "any", required: !field.usual });
  if (field.usual) input.placeholder = "as usual";
  if (field.kind === "numbers") input.placeholder = "+12125550100, …";
  if (field.kind === "switch") input.type = "checkbox";
  input.setAttribute("autocomplete", "off");
  const label = make("label", { htmlFor: id, textContent: field.label });
  const element = make("div", { className: field.kind === "switch" ? "field check" : "field" }, label, input);
  return { element, input };
}

function valueOf(field, input) {
  if (field.kind === "switch") return input.checked;
  if (field.kind === "numbers") return input.value.split(/[\s,]+/).filter(Boolean);
  if (field.kind === "number") return input.value === "" ? null : Number(input.value);
  return input.value || null;
}

function put(field, input, value) {
  if (field.kind === "switch") input.checked = Boolean(value);
  else {
    const text = field.kind === "numbers" ? (value ?? []).join(", ") : String(value ?? "");
    if (input.value !== text) input.value = text;
  }
}
