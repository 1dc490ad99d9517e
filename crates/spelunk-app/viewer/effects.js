// Effects: calls of the user's own tools, folded from the events of a run. A call that may change something first waits for
// the user; a resumed run asks again.

import { whole } from './units.js';

/** The steps for each event. `addTwig` and `activeMs` come from the fold. */
export function effectSteps({ addTwig, activeMs }) {
  const begin = (run, event, consent) => {
    const id = event.effect;
    const [name, effect] = [String(event.tool ?? ''), String(event.class ?? '')];
    const started = { name, effect, arguments: event.arguments, consent, outcome: null, tookMs: 0, startedActiveMs: activeMs(run) };
    addTwig(run, event.frame, { kind: 'effect', id, seq: event.seq }, run.effects.has(id));
    run.effects.set(id, started);
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

/** Removes calls that wait for consent: a resumed run asks for it again. */
export function forgetPendingConsent(run) {
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

/** The state of a call of one of the user's own tools, in a few words. */
export function effectState({ outcome, consent }) {
  if (outcome) return [outcome.is, outcome.kind].filter(Boolean).join(': ');
  return consent === 'asked' ? 'waits for consent' : 'open';
}
