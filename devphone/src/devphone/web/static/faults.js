// Faults as switches, made of the catalogue that the dev phone hands out. Above them is what they are for: the
// next so many calls or texts. A switch that is on says how often it is still to come; off takes it back.

import { make, setOptions, setText } from "./dom.js";

const TIMES = { name: "times", kind: "whole", least: 1, most: 1000, default: 1 };

/** Fills the panel `root`; `act` sends. */
export function makeFaults(root, act) {
  const list = root.querySelector("ul");
  const count = root.querySelector(".count");
  const times = makeInput(TIMES);
  const kinds = make("select");
  root.querySelector(".values").append(labelled("How often", times), labelled("With the next", kinds));
  kinds.addEventListener("change", show);
  let rows = [];
  let armed = [];

  function show() {
    for (const row of rows) row.show(kinds.value, armed.filter((fault) => fault.name === row.name));
  }

  return {
    /** `names` is the catalogue, `faults` what is still to come. */
    update({ names, faults }) {
      armed = faults;
      if (rows.map((row) => row.name).join() !== names.map((fault) => fault.name).join()) {
        setOptions(kinds, [...new Set(names.flatMap((fault) => fault.on))]);
        for (const option of kinds.options) option.textContent = option.value.replaceAll("_", " ");
        rows = names.map((fault) => makeRow(fault, times, kinds, act));
        list.replaceChildren(...rows.map((row) => row.element));
      }
      show();
      setText(count, faults.length ? ` ${faults.length} armed` : "");
    },
  };
}

function makeRow({ name, on, needs, says }, times, kinds, act) {
  const id = `fault-${name}`;
  const button = make("button", { type: "button", className: "switch" });
  button.setAttribute("role", "switch");
  button.append(make("span", { textContent: name.replaceAll("_", " ") }));
  const left = make("small", { id: `${id}-left`, className: "left" });
  const words = make("p", { id: `${id}-says`, className: "quiet", textContent: says });
  button.setAttribute("aria-describedby", `${words.id} ${left.id}`);
  const inputs = needs.map((need) => [need, makeInput(need)]);
  const values = make("div", { className: "values" }, ...inputs.map(([need, input]) => labelled(need.name, input)));
  for (const [need, input] of inputs) input.setAttribute("aria-label", `${need.name} of ${name.replaceAll("_", " ")}`);
  let isOn = false;

  button.addEventListener("click", () => {
    if (isOn) return act("POST", "faults", { [name]: { times: 0, on: kinds.value } });
    if (![times, ...inputs.map(([, input]) => input)].every((input) => input.reportValidity())) return null;
    const needed = inputs.map(([need, input]) => [need.name, need.kind === "text" ? input.value : Number(input.value)]);
    const wanted = { times: Number(times.value), on: kinds.value, ...Object.fromEntries(needed) };
    return act("POST", "faults", { [name]: wanted });
  });

  const element = make("li", { className: "fault" }, button, left, words, values);
  return {
    name,
    element,
    show(kind, armed) {
      isOn = armed.some((fault) => fault.on === kind);
      element.hidden = !on.includes(kind) && armed.length === 0;
      button.disabled = !on.includes(kind);
      button.setAttribute("aria-checked", String(isOn));
      setText(left, armed.map(stillToCome).join(", "));
    },
  };
}

function stillToCome({ times, chance, on }) {
  const often = times === null ? "always" : `${times} to come`;
  const maybe = chance === null ? "" : ` with a chance of ${chance}`;
  return `${often}${maybe} on ${on.replaceAll("_", " ")}`;
}

/** A field for one value of a fault; what has no default begins with a sensible number. */
function makeInput(need) {
  const text = need.kind === "text";
  const value = need.default ?? (text ? "" : need.name === "seconds" ? 5 : need.least);
  const input = make("input", { type: text ? "text" : "number", value: String(value), required: true });
  if (!text) Object.assign(input, { min: need.least, max: need.most, step: need.kind === "whole" ? 1 : "any" });
  input.setAttribute("autocomplete", "off");
  return input;
}

function labelled(words, input) {
  return make("label", {}, words, input);
}
