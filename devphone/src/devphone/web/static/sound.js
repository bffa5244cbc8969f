// What the phone sounds like: a ringing tone by Web Audio, and the voice by the browser's own speech.
// Browsers stay silent until the first tap or key; `wake` is called on each.

let on = true;
let audio = null;
let ringing = false;
let timer = null;

export const soundIsOn = () => on;

export function setSound(wanted) {
  on = wanted;
  if (!on) { hush(); stopTone(); } else if (ringing) startTone();
}

export function wake() {
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
}

export function say(text) {
  if (on && "speechSynthesis" in window) speechSynthesis.speak(new SpeechSynthesisUtterance(text));
}

export function hush() {
  if ("speechSynthesis" in window) speechSynthesis.cancel();
}

export function ringTone(wanted) {
  if (wanted === ringing) return;
  ringing = wanted;
  if (ringing && on) startTone(); else stopTone();
}

function startTone() {
  if (timer !== null) return;
  burst();
  timer = setInterval(burst, 4000);
}

function stopTone() {
  clearInterval(timer);
  timer = null;
}

// 440 and 480 Hz together, two seconds: the North American ring-back tone.
function burst() {
  if (!audio || audio.state !== "running") return;
  const volume = audio.createGain();
  volume.gain.value = 0.08;
  volume.connect(audio.destination);
  for (const hertz of [440, 480]) {
    const tone = audio.createOscillator();
    tone.frequency.value = hertz;
    tone.connect(volume);
    tone.start();
    tone.stop(audio.currentTime + 1.2);
  }
}
