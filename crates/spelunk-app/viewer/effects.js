// Effects: calls of the user's own tools, as the events of a run tell them. A call that may change something waits for the
// user first; a run that is resumed asks again.

import { whole } from './units.js';

/** What each event changes. `addTwig` and `activeMs` are those of the fold. */
export function effectSteps({ addTwig, activeMs }) {
  const begin = (run, event, consent) => {
    const id = event.effect;
    const [name, effect] = [String(event.tool ?? ''), String(event.class ?? '')];
    const begun = { name, effect, arguments: event.arguments, consent, outcome: null, tookMs: 0, startedActiveMs: activeMs(run) };
    addTwig(run, event.frame, { kind: 'effect', id, seq: event.seq }, run.effects.has(id));
    run.effects.set(id, begun);
  };
  return {
    'effect.asked': (run, event) => begin(run, event, 'asked'),
    'effect.decided': (run, event) => {
      const effect = run.effects.get(event.effect);
      if (effect) effect.consent = event.allowed === true ? 'allowed' : 'denied';
    },
    'effect.started': (run, event) => begin(run, event, run.effects.get(event.effect)?.consent ?? ''),
    'effect.settled': (run, event) => {
      const effect = run.effects.get(event.effect);
      if (effect) Object.assign(effect, { outcome: event.outcome ?? null, tookMs: whole(event.took_ms) });
    },
  };
}

/** Another process has to ask again. */
export function forgetAsked(run) {
  for (const [id, effect] of run.effects) {
    if (effect.consent !== 'asked') continue;
    run.effects.delete(id);
    const frame = id.slice(0, id.lastIndexOf('!'));
    const own = run.children.get(frame) ?? [];
    run.children.set(frame, own.filter((twig) => twig.kind !== 'effect' || twig.id !== id));
  }
}

/** Calls that wait for the user, by id. */
export function pendingEffects(run) {
  if (run.outcome) return [];
  return Array.from(run.effects).filter(([, effect]) => effect.consent === 'asked');
}

/** How a call of one of the user's own tools stands, in a word or two. */
export function effectState({ outcome, consent }) {
  if (outcome) return [outcome.is, outcome.kind].filter(Boolean).join(': ');
  return consent === 'asked' ? 'waits for consent' : 'open';
}
