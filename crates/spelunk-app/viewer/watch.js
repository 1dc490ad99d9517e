// Watch: follows one run. Events are queued as they arrive and folded between animation frames, so that ten thousand at
// once do not block the page. Redraws happen only after changes, and at a limited rate.

import { apply, emptyRun } from './fold.js';

/** How long events are folded before the next animation frame. */
const FOLD_MS_MAX = 10;
const EVENTS_AT_ONCE = 100;
const DRAW_MS_MIN = 120;
const HIDDEN_MS = 250;

/**
 * Returns `{run, events, link, later, stop}`; the first three change as events arrive. `onDraw()` is called after they
 * change, `onRefused(error)` if the server refuses access to the run.
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
    // A page in the background gets no animation frames.
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

/** Folds queued events, as many as there is time for before the next animation frame. */
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
