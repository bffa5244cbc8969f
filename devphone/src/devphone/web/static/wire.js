// The control API as the page uses it: one request, and the stream of happenings. Nothing is shown here.

/** What the dev phone refused; `message` is its own sentence. */
export class Refusal extends Error {}

/** One request. Resolves to the answer; throws Refusal, or TypeError when nobody answers. */
export async function ask(method, path, body) {
  const response = await fetch(`/_devphone/${path}`, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Refusal(answer.error ?? `${method} ${path}: ${response.status}`);
  return answer;
}

/** Calls `happened` when something may have changed, `gone` when the line to the dev phone breaks. */
export function listen(happened, gone) {
  const happenings = new EventSource("/_devphone/events");
  happenings.addEventListener("happened", happened);
  happenings.addEventListener("open", happened);
  happenings.addEventListener("error", gone);
}
