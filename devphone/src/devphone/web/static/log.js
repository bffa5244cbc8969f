// One phone's calls that are over, newest first, each with what was said on it.

import { clockTime, make } from "./dom.js";
import { saidBy } from "./transcript.js";

/** How a call ended, in a person's words. */
function endOf(call) {
  const took = `${call.duration_s} s`;
  const mine = call.direction === "inbound";
  if (call.status === "completed" && call.at === "voicemail") return `voicemail, ${took}`;
  if (call.status === "completed" && call.at === "screener") return `screened, ${took}`;
  if (call.status === "completed") return took;
  if (call.status === "no-answer" && call.sip_code === 603) return "declined";
  if (call.status === "no-answer") return mine ? "not answered" : "missed";
  if (call.status === "failed") return call.sip_code ? `failed, ${call.sip_code}` : "failed";
  return call.status;
}

/** Fills a card's log. */
export function makeLog(parts) {
  const items = new Map();
  return {
    update(calls) {
      const sids = new Set(calls.map((call) => call.sid));
      for (const [sid, item] of items) if (!sids.has(sid)) { item.remove(); items.delete(sid); }
      for (const call of calls) {
        if (items.has(call.sid)) continue;
        const item = makeItem(call);
        items.set(call.sid, item);
        parts.calls.prepend(item);
      }
      parts.nocalls.hidden = calls.length > 0;
    },
  };
}

function makeItem(call) {
  const who = call.direction === "inbound" ? `To ${call.to}` : `From ${call.from}`;
  const facts = [clockTime(call.created), call.status];
  if (call.answered_by) facts.push(call.answered_by);
  const summary = make("summary", {}, make("span", { textContent: `${who}: ${endOf(call)}` }));
  summary.append(make("small", { textContent: facts.join(", ") }));
  const said = call.transcript.length ? call.transcript.map(saidBy) : [make("li", { textContent: "Nothing was said." })];
  return make("li", {}, make("details", {}, summary, make("ol", { className: "transcript" }, ...said)));
}
