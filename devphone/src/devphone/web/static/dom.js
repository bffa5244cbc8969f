// Small help with elements. Text goes in as text only, never as HTML.

/** A new element. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Sets a text only when it is another one, so that nothing is announced twice. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The elements below `root` that have a data-part, by its name. */
export function partsOf(root) {
  return Object.fromEntries([...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
}

/** Makes the options of a select those of `values`; a choice that is still there stays. */
export function setOptions(select, values) {
  const shown = [...select.options].map((option) => option.value);
  if (shown.join() === values.join()) return;
  const before = select.value;
  select.replaceChildren(...values.map((value) => make("option", { value, textContent: value })));
  if (values.includes(before)) select.value = before;
}

const LINK = /https?:\/\/[^\s<>"]+[^\s<>".,;:!?)]/g;

/** A text with its web addresses as links, as parts for `append`. */
export function linked(body) {
  const parts = [];
  let end = 0;
  for (const match of body.matchAll(LINK)) {
    parts.push(body.slice(end, match.index), outwards(match[0], match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, body.slice(end)];
}

/** A link that leaves the page in a tab of its own and tells nobody where it came from. */
export function outwards(href, textContent) {
  return make("a", { href, textContent, target: "_blank", rel: "noopener noreferrer" });
}

/** Hours, minutes and seconds of a Unix time, here. */
export function clockTime(unix_s) {
  return new Date(unix_s * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}
