// Watch: follows one run. Events are collected as they come and folded between pictures, so that ten thousand at once do
// not stop the page; whoever shows the run is told when there is something new, and not more often than can be seen.

import { apply, emptyRun } from './fold.js';

/** Events are folded for so long, then a picture is due. */
const FOLD_MS_MAX = 10;
const EVENTS_AT_ONCE = 100;
const DRAW_MS_MIN = 120;
const HIDDEN_MS = 250;

/**
 * Gives `{run, events, link, later, stop}`; the first three change as events come. `onDraw()` is called when they have
 * changed, `onRefused(error)` when the server will not show the run.
 */
export function watchRun({ origin, id, onDraw, onRefused }) {
  const watch = { run: emptyRun(), events: [], link: 'connecting' };
  const queue = [];
  const timers = new Set();
  let [isScheduled, isStopped, drawnAtMs] = [false, false, 0];
  watch.later = (work, ms) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!isStopped) work();
    }, ms);
    timers.add(timer);
  };
  const draw = () => {
    drawnAtMs = performance.now();
    onDraw();
  };
  const pump = () => {
    isScheduled = false;
    if (isStopped) return;
    foldSome(watch, queue);
    const isDue = performance.now() - drawnAtMs >= DRAW_MS_MIN || (queue.length === 0 && watch.run.outcome);
    if (isDue) draw();
    if (queue.length > 0) schedule();
    else if (!isDue) watch.later(draw, DRAW_MS_MIN);
  };
  const schedule = () => {
    if (isScheduled) return;
    isScheduled = true;
    // A page in the background is given no pictures.
    if (document.hidden) watch.later(pump, HIDDEN_MS);
    else requestAnimationFrame(pump);
  };
  const unfollow = origin.watch(id, 0, {
    onEvents: (events) => {
      for (const event of events) queue.push(event);
      schedule();
    },
    onLink: (word, error) => {
      watch.link = word;
      if (word === 'refused') onRefused(error);
      schedule();
    },
  });
  watch.stop = () => {
    isStopped = true;
    unfollow();
    for (const timer of timers) clearTimeout(timer);
  };
  return watch;
}

/** Folds what has come in, as far as there is time before the next picture. */
function foldSome(watch, queue) {
  const began = performance.now();
  let n = 0;
  while (n < queue.length && (n % EVENTS_AT_ONCE !== 0 || performance.now() - began < FOLD_MS_MAX)) {
    const seqBefore = watch.run.seqLast;
    apply(watch.run, queue[n]);
    if (watch.run.seqLast > seqBefore) watch.events.push(queue[n]);
    n += 1;
  }
  queue.splice(0, n);
}
