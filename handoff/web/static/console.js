// Keeps an operator's page fresh. It waits until what it shows has changed, asks for its own address again,
// and swaps what differs, keeping focus, scroll, open parts and text that is being typed.
"use strict";
(() => {
  const page = document.getElementById("page"), said = document.getElementById("said");
  if (!page) return;
  let skew = page.dataset.now - Date.now();
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  const visible = () => new Promise((done) => {
    if (!document.hidden) return done();
    document.addEventListener("visibilitychange", () => done(visible()), { once: true });
  });

  function span(ms) {
    const s = Math.max(0, Math.floor(ms / 1000));
    const units = [[86400, "d", 3600, "h"], [3600, "h", 60, "min"], [60, "min", 1, "s"]];
    for (const [large, unit, small, part] of units) {
      const rest = Math.floor((s % large) / small);
      if (s >= large) return `${Math.floor(s / large)} ${unit}${rest ? ` ${rest} ${part}` : ""}`;
    }
    return `${s} s`;
  }
  function tick() {
    for (const one of document.querySelectorAll("[data-since]")) {
      const text = span(Date.now() + skew - one.dataset.since);
      if (one.textContent !== text) one.textContent = text;
    }
  }
  function local() {
    for (const one of page.querySelectorAll("time:not([title])"))
      one.title = new Date(one.dateTime).toLocaleString();
  }

  // What a person has made of the old part goes on in the new one. Returns what to do once it is in place.
  function carry(old, fresh) {
    const reach = "a, button, summary, textarea";
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const at = [...old.querySelectorAll(reach)].indexOf(focused);
    for (const one of old.querySelectorAll("details[open]")) {
      const same = fresh.querySelector(`#${one.id}`);
      if (same) same.open = true;
    }
    for (const one of old.querySelectorAll("textarea")) {
      const same = fresh.querySelector(`#${one.id}`);
      if (same) same.value = one.value;
      else if (one.value.trim()) {
        const note = document.createElement("p");
        note.className = "note typed";
        note.textContent = `You had typed: ${one.value}`;
        fresh.append(note);
      }
    }
    return () => {
      if (!focused) return;
      const same = (focused.id && fresh.querySelector(`#${focused.id}`)) || fresh.querySelectorAll(reach)[at];
      const to = same && same.tagName === focused.tagName ? same : fresh.querySelector("h2") || fresh;
      if (!to.matches(reach)) to.tabIndex = -1;
      to.focus({ preventScroll: true });
      if (to.setSelectionRange) to.setSelectionRange(focused.selectionStart, focused.selectionEnd);
    };
  }
  function merge(old, fresh, told) {
    const had = new Map([...old.children].map((one) => [one.id, one]));
    let at = old.firstElementChild;
    for (const child of [...fresh.children]) {
      let mine = had.get(child.id);
      had.delete(child.id);
      if (!mine || mine.dataset.key !== child.dataset.key) {
        const settle = mine ? carry(mine, child) : () => {};
        if (mine === at && mine) at = child;
        if (mine) mine.replaceWith(child);
        else old.insertBefore(child, at);
        child.classList.add("fresh");
        settle();
        told.push(child);
        mine = child;
      }
      if (mine === at) at = at.nextElementSibling;
    }
    had.forEach((gone) => gone.remove());
  }
  function swap(fresh) {
    const told = [], lives = [...fresh.querySelectorAll("[data-live]")];
    if ("live" in fresh.dataset) lives.unshift(fresh);
    const top = (one) => one.getBoundingClientRect().top;
    const seen = [...page.querySelectorAll("tr[id], li[id], section")].find((one) => top(one) >= 0);
    const was = seen && scrollY > 0 ? top(seen) : null;
    for (const one of lives) merge(document.getElementById(one.id), one, told);
    Object.assign(page.dataset, { ...fresh.dataset });
    document.title = fresh.dataset.title || document.title;
    skew = fresh.dataset.now - Date.now();
    const still = was !== null && document.getElementById(seen.id);
    if (still) scrollBy(0, top(still) - was);
    const news = told.filter((one) => one.dataset.say || one.tagName === "LI");
    const text = news.slice(0, 3).map((one) => one.dataset.say || one.lastElementChild.textContent);
    if (news.length) said.textContent = text.join(". ") + (news.length > 3 ? `. And ${news.length - 3} more.` : "");
    local();
  }
  async function refresh() {
    const answer = await fetch(`${page.dataset.again}&fragment=1`, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.status);
    const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("page");
    if (found) swap(found);
    else location.reload(); // it led to the sign-in
  }
  async function watch() {
    for (let failed = 0; ; ) {
      await visible();
      try {
        const { news, seen } = page.dataset;
        const answer = await fetch(`${news}&seen=${encodeURIComponent(seen)}`, { cache: "no-store" });
        if (answer.status === 401 || answer.status === 404) return location.reload();
        if (answer.status === 200) await refresh();
        else if (answer.status !== 204) throw new Error(answer.status);
        await sleep((answer.headers.get("Retry-After") || 0.3) * 1000);
        failed = 0;
      } catch {
        failed += 1;
        await sleep(Math.min(30000, 500 * 2 ** failed) * (0.75 + Math.random() / 2));
      }
    }
  }
  local();
  setInterval(tick, 1000);
  watch();
})();
