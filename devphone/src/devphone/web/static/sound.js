// What the phone sounds like: ringing and key tones by Web Audio, the voice by the browser's own speech.
// Browsers stay silent until the first tap or key; `wake` is called on each.

const RING_EVERY_MS = 4000;
const RING_S = 1.2;
const KEY_S = 0.15;
// Row and column of a key in hertz: ITU-T Q.23, https://www.itu.int/rec/T-REC-Q.23
const ROWS = [697, 770, 852, 941];
const COLUMNS = [1209, 1336, 1477];
const PAD = "123456789*0#";

let on = true;
let audio = null;
let ringing = false;
let timer = null;

export const soundIsOn = () => on;

/** Whether the browser would let us be heard now. */
export const isAwake = () => audio?.state === "running";

export function setSound(wanted) {
  on = wanted;
  if (!on) { hush(); stopRinging(); } else if (ringing) startRinging();
}

/** To be called on a tap or a key. Resolves when there may be sound. */
export async function wake() {
  if (isAwake()) return;
  audio ??= new AudioContext();
  await audio.resume();
  if (timer !== null) ringOnce();
}

export function say(text) {
  if (on && "speechSynthesis" in window) speechSynthesis.speak(new SpeechSynthesisUtterance(text));
}

export function hush() {
  if ("speechSynthesis" in window) speechSynthesis.cancel();
}

/** Rings until told otherwise. */
export function ring(wanted) {
  if (wanted === ringing) return;
  ringing = wanted;
  if (ringing && on) startRinging(); else stopRinging();
}

/** The two tones of a key. */
export function keyTone(key) {
  const at = PAD.indexOf(key);
  if (on && at >= 0) tones([ROWS[Math.floor(at / 3)], COLUMNS[at % 3]], KEY_S);
}

function startRinging() {
  if (timer !== null) return;
  ringOnce();
  timer = setInterval(ringOnce, RING_EVERY_MS);
}

function stopRinging() {
  clearInterval(timer);
  timer = null;
}

// 440 and 480 Hz together: the North American ring-back tone, a little shorter.
function ringOnce() {
  tones([440, 480], RING_S);
}

function tones(hertz, seconds) {
  if (!isAwake()) return;
  const volume = audio.createGain();
  const end = audio.currentTime + seconds;
  // A short fade, since a tone that is cut clicks.
  volume.gain.setValueAtTime(0.08, end - 0.02);
  volume.gain.linearRampToValueAtTime(0, end);
  volume.connect(audio.destination);
  for (const frequency of hertz) {
    const tone = new OscillatorNode(audio, { frequency });
    tone.connect(volume);
    tone.start();
    tone.stop(end);
  }
}
