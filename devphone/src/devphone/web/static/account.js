// The account's limits, its numbers, and the debugger.

import { clockTime, make, outwards, setText } from "./dom.js";

const LIMITS = [
  { name: "trial", label: "Trial account", type: "checkbox" },
  { name: "verified", label: "Verified numbers", type: "text" },
  { name: "calls_per_second", label: "Calls per second (0: no limit)", type: "number" },
  { name: "concurrent_requests", label: "Requests at once (0: no limit)", type: "number" },
];
const ADDRESSES = [
  { name: "voice_url", label: "Calls go to" },
  { name: "sms_url", label: "Texts go to" },
];

/** The limits, in the panel `root`. */
export function makeAccount(root, act) {
  return makeFields(root.querySelector("form"), "account", LIMITS, (change) => act("PUT", "account", change));
}

/** The account's numbers, each with its addresses, in the panel `root`. */
export function makeNumbers(root, act) {
  const list = root.querySelector(".lines");
  const forms = new Map();
  return {
    update(lines) {
      for (const line of lines) {
        if (!forms.has(line.number)) {
          const form = make("form", {}, make("h3", { textContent: line.number }));
          list.append(form);
          const send = (change) => act("PUT", `numbers/${line.number}`, change);
          forms.set(line.number, makeFields(form, `line-${line.number.slice(1)}`, ADDRESSES, send));
        }
        forms.get(line.number).update(line);
      }
    },
  };
}

/** The debugger's entries, oldest first, in the panel `root`. */
export function makeDebugger(root) {
  const list = root.querySelector("ol");
  return {
    update(entries) {
      if (entries.length < list.children.length) list.replaceChildren();
      for (const entry of entries.slice(list.children.length)) {
        const link = outwards(entry.more_info, String(entry.code));
        link.setAttribute("aria-label", `${entry.code}, in Twilio’s words`);
        const time = make("small", { textContent: clockTime(entry.at_ms / 1000) });
        list.append(make("li", {}, link, ` ${entry.text} `, time));
      }
      root.querySelector(".none").hidden = entries.length > 0;
      setText(root.querySelector(".count"), entries.length ? ` ${entries.length}` : "");
    },
  };
}

/** Labelled fields that send each change at once. */
function makeFields(form, prefix, fields, send) {
  const inputs = fields.map(({ name, label, type = "url" }) => {
    const id = `${prefix}-${name}`;
    const input = make("input", { id, type, autocomplete: "off" });
    if (type === "number") Object.assign(input, { min: 0, step: "any" });
    const classes = type === "checkbox" ? "field check" : "field";
    form.append(make("div", { className: classes }, make("label", { htmlFor: id, textContent: label }), input));
    input.addEventListener("change", () => {
      if (input.reportValidity()) send({ [name]: valueOf(name, input) });
    });
    return [name, input];
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  return {
    update(values) {
      for (const [name, input] of inputs) {
        if (input === document.activeElement) continue;
        if (input.type === "checkbox") input.checked = values[name];
        else input.value = name === "verified" ? values[name].join(", ") : String(values[name]);
      }
    },
  };
}

function valueOf(name, input) {
  if (input.type === "checkbox") return input.checked;
  if (input.type === "number") return Number(input.value);
  return name === "verified" ? input.value.split(/[\s,]+/).filter(Boolean) : input.value;
}
