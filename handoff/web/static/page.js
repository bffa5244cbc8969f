// The person's page, kept fresh: it counts down, notices what others did, and sends its forms so that nothing
// typed is lost. All of it is extra: without this script the forms work by themselves. No decision is ever
// sent but by a press.
"use strict";
(() => {
  const root = document.getElementById("person");
  const said = document.getElementById("said");
  if (!root || !window.fetch || !window.AbortController || !window.DOMParser) return;

  const SEND_MS = 20000, WAIT_S = 25, LONGEST_PAUSE_MS = 30000;
  const UNSURE = "No answer came, so perhaps it was not sent. Please press again: it counts only once.";
  const OFFLINE = "Not sent. You are offline: please press again later.";
  const STALE = "This page is no longer kept fresh. Please load it again.";
  const PAST = "The time that was known here is over. Please load this page again.";
  let typed = {};         // what was written and not sent, by the id of its box
  let sending = null;     // settles when the form on its way was answered
  let unsure = null;      // the form that got no answer: its action, and the nonce that keeps it the same command
  let deaf = false;       // news are not told to this page any more
  let seen = root.dataset.rev;
  let timer = 0, poll = null, wake = null;
  let skew = 0;           // the server's clock minus this phone's

  const find = (what, within = root) => within.querySelector(what);
  const all = (what, within = root) => [...within.querySelectorAll(what)];
  const read = (html) => new DOMParser().parseFromString(html, "text/html");
  const ours = (html) => find("#person", read(html));
  const made = (tag, name, text) => Object.assign(document.createElement(tag), { className: name, textContent: text });
  const over = () => !root.dataset.until;             // nothing can be sent any more
  const closed = () => !("open" in root.dataset);      // and nothing will change any more

  // The clock. The page was made when its answer began to arrive, however long this script took.

  const age = () => {
    const entry = performance.getEntriesByType && performance.getEntriesByType("navigation")[0];
    return entry && entry.responseStart ? Math.max(0, performance.now() - entry.responseStart) : 0;
  };
  const setClock = (ago) => { skew = Number(root.dataset.now) - (Date.now() - ago); };

  const words = (ms) => {
    const s = Math.ceil(ms / 1000), two = (n) => String(n).padStart(2, "0");
    const h = Math.floor(s / 3600), min = Math.floor(s / 60) % 60;
    if (h >= 48) return `${Math.floor(h / 24)} days left`;
    return h ? `${h} h ${two(min)} min left` : `${min}:${two(s % 60)} left`;
  };

  function tick() {
    clearTimeout(timer);
    const left = find("#left");
    if (over() || !left) return;
    const ms = Number(root.dataset.until) - (Date.now() + skew);
    if (ms <= 0 && !sending) return timeIsOver();
    left.textContent = words(Math.max(0, ms));
    left.classList.toggle("short", ms < 60000);
    timer = setTimeout(tick, ms <= 0 ? 500 : Math.min(ms % 1000 || 1000, ms));
  }

  function timeIsOver() {
    const left = find("#left"), counted = left.textContent;
    left.textContent = "";
    if (deaf || unsure) {  // there may be more time than is known here
      if (counted) tell(PAST);
    } else {
      remember();
      const ended = made("p", "note bad", "Time ran out. Nothing more can be sent from here.");
      ended.id = "notice";
      ended.setAttribute("role", "alert");
      find("#acts").replaceChildren(ended, ...leftovers());
    }
    seen = "-1";  // the server has the last word
    again();
  }

  // Moments, on this phone's own wall clock.

  function localise(tree) {
    if (!new Date().getTimezoneOffset()) return;
    for (const time of all("time", tree)) {
      const at = new Date(time.dateTime), today = at.toDateString() === new Date().toDateString();
      const clock = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
      const day = at.toLocaleDateString("en-GB", { day: "numeric", month: "long" });
      time.textContent = `${today ? "" : day + ", "}${clock} your time`;
    }
  }

  // What was typed.

  function remember() {
    for (const box of all("textarea")) typed[box.id] = box.value;
  }
  function leftovers() {
    const text = Object.values(typed).filter((one) => one.trim()).join("\n");
    if (!text) return [];
    return [made("p", "stands soft", "What you had written:"), made("p", "typed asked", text)];
  }

  // Showing a newer version: only what differs is touched.

  const key = (one) => one.nodeType === 1 && one.localName + (one.id || one.getAttribute("action") || one.className);

  function morph(old, fresh) {
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    }
    for (const { name, value } of [...fresh.attributes]) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    if (old.localName === "iframe" || old.localName === "textarea") return;
    let at = old.firstChild;
    for (const node of [...fresh.childNodes]) {
      let same = at;
      if (node.nodeType !== 1) same = at && at.nodeType === node.nodeType ? at : null;
      else while (same && key(same) !== key(node)) same = same.nextSibling;
      if (!same) { old.insertBefore(node, at); continue; }
      while (at !== same) { const gone = at; at = at.nextSibling; gone.remove(); }
      at = same.nextSibling;
      if (node.nodeType === 1) morph(same, node);
      else if (same.data !== node.data) same.data = node.data;
    }
    while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
  }

  // Whoever took longer than the pause still works in the browser: it stays, beside the offer to go on.
  function keepFrame(fresh) {
    const frame = find("#frame"), view = find("#view", fresh);
    if (!frame || !view || find("#frame", view)) return;
    find("#means", view)?.remove();
    find("button", view).textContent = "I’m still on it";
    view.append(find("#full").cloneNode(true), frame.cloneNode());
  }

  // As long as the form without an answer can be pressed again, every form keeps the nonce that it had.
  function keepCommand(fresh) {
    if (!unsure) return;
    if (!find(`form[action="${unsure.action}"]`, fresh)) { unsure = null; return; }
    for (const nonce of all("[name=nonce]", fresh)) nonce.setAttribute("value", unsure.nonce);
    const notice = find("#notice", fresh);
    if (!notice.textContent) notice.textContent = UNSURE;
  }

  function show(fresh) {
    remember();
    localise(fresh);
    keepFrame(fresh);
    keepCommand(fresh);
    const told = root.dataset.say, ended = !over() && !fresh.dataset.until;
    const focused = root.contains(document.activeElement) && document.activeElement;
    const anchor = focused && focused.localName === "textarea" ? focused : find("[action$=resolution] button");
    const top = anchor && anchor.getBoundingClientRect().top;
    morph(root, fresh);
    for (const box of all("textarea")) if (!box.value && typed[box.id]) box.value = typed[box.id];
    if (over() && !("yours" in root.dataset) && !find(".typed")) root.append(...leftovers());
    if (anchor && anchor.isConnected) scrollBy(0, anchor.getBoundingClientRect().top - top);
    seen = root.dataset.rev;
    setClock(0);
    tick();
    if (ended) scrollTo(0, 0);
    if (ended || (focused && !focused.isConnected)) find("#head").focus({ preventScroll: true });
    if (root.dataset.say !== told) say(root.dataset.say);
    if (deaf) { deaf = false; listen(); }  // it was a press that was answered, so that there may be news again
  }

  const say = (text) => { said.textContent = text; };
  function tell(text) {
    const notice = find("#notice");
    if (notice) notice.textContent = text; else say(text);
  }

  // Sending. Success is what the server confirmed: it is its page that is shown then. Whatever went wrong
  // after the form had left may have gone wrong on the way back, when the form had counted already.

  async function post(form) {
    const ends = new AbortController(), limit = setTimeout(() => ends.abort(), SEND_MS);
    try {
      const body = new URLSearchParams(new FormData(form));
      const answer = await fetch(form.getAttribute("action"), { method: "POST", body, signal: ends.signal });
      return [answer, await answer.text()];
    } finally {
      clearTimeout(limit);
    }
  }

  root.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (sending) return;  // a second tap of the same finger
    const form = event.target, button = find("button", form), label = button.textContent;
    const action = form.getAttribute("action"), nonce = find("[name=nonce]", form).value;
    const offline = !unsure && navigator.onLine === false;
    let done;
    sending = new Promise((resolve) => { done = resolve; });
    button.setAttribute("aria-disabled", "true");
    button.textContent = "Sending…";
    tell("");
    try {
      const [answer, html] = await post(form), page = ours(html);
      if (answer.status >= 500 || (!page && (answer.ok || answer.redirected))) throw answer;
      if (page && ![422, 429].includes(answer.status)) unsure = null;  // those two looked at no command
      if (answer.ok) { remember(); for (const box of all("textarea", form)) { box.value = ""; delete typed[box.id]; } }
      if (page) show(page);
      else tell(find("[role=alert]", read(html))?.textContent || (unsure ? STALE : `Not sent. ${STALE}`));
    } catch (error) {
      const kept = offline && navigator.onLine === false && error.name === "TypeError";  // it never left the phone
      if (!kept) unsure = { action, nonce };
      tell(kept ? OFFLINE : UNSURE);
    } finally {
      button.removeAttribute("aria-disabled");
      if (button.textContent === "Sending…") button.textContent = label;
      sending = null;
      done();
      tick();
    }
  });

  // Listening. A page that nobody looks at asks nothing.

  const pause = (ms) => new Promise((resolve) => {
    const after = setTimeout(resolve, ms);
    wake = () => { clearTimeout(after); resolve(); };
  });
  function again() {
    if (poll) poll.abort();
    if (wake) wake();
  }

  async function listen() {
    let failed = 0;
    while (!closed()) {
      if (document.hidden) { await pause(2 ** 30); continue; }
      poll = new AbortController();
      const limit = setTimeout(() => poll.abort(), (WAIT_S + 15) * 1000), began = Date.now();
      try {
        const answer = await fetch(`${root.dataset.news}?seen=${seen}&wait=${WAIT_S}`, { signal: poll.signal });
        if (answer.status === 200) {
          const { rev, html } = await answer.json();
          if (sending) await sending;
          else if (rev >= Number(root.dataset.rev)) show(ours(html));
          failed = 0;
        } else if (answer.status === 204) {
          failed = 0;
          if (Date.now() - began < 1000) await pause(5000);
        } else if ([403, 404].includes(answer.status)) {
          if (sending) await sending;
          deaf = true;
          return tell(STALE);
        } else throw answer;
      } catch (error) {
        if (error.name !== "AbortError") failed += 1;
        if (failed) await pause(Math.min(1000 * 2 ** failed, LONGEST_PAUSE_MS) * (0.75 + Math.random() / 2));
      } finally {
        clearTimeout(limit);
      }
    }
  }

  addEventListener("visibilitychange", again);
  addEventListener("online", again);
  addEventListener("pageshow", (event) => { if (event.persisted) { seen = "-1"; again(); } });

  setClock(age());
  localise(root);
  tick();
  listen();
})();
