// Consent: tool calls that wait for the user's consent, each with its arguments and two buttons.

import { announce, button, el, fill } from './dom.js';
import { textOf } from './api.js';
import { pendingEffects } from './effects.js';
import { long } from './detail.js';

/** It has `element` and `show(run, link)`. A call is drawn once and removed when it is decided. */
export function consentPanel({ origin, id, onFail }) {
  const element = el('section', { class: 'consent', 'aria-label': 'Calls that wait for you', hidden: true });
  const cards = new Map();
  const decide = (card, call, decision) => {
    for (const one of card.querySelectorAll('.tools button')) one.disabled = true;
    origin.decide(id, call, decision).catch((error) => {
      for (const one of card.querySelectorAll('.tools button')) one.disabled = false;
      onFail(error);
    });
  };
  const card = (call, effect) => {
    const place = el('div', {});
    textOf(origin, id, effect.arguments)
      .then((text) => fill(place, long(readable(text))))
      .catch((error) => fill(place, el('p', { class: 'failure' }, error.message)));
    const made = el(
      'div',
      { class: 'card' },
      el('h2', {}, `May ${effect.name} be called?`),
      el('p', { class: 'hint' }, meaning(effect.effect)),
      place,
      el(
        'div',
        { class: 'tools' },
        button('Allow', () => decide(made, call, 'allow'), { class: 'primary' }),
        button('Deny', () => decide(made, call, 'deny')),
      ),
    );
    announce(`${effect.name} waits for you`);
    return made;
  };
  return {
    element,
    show(run, link) {
      const pending = origin.isExported || link === 'ended' ? [] : pendingEffects(run);
      for (const [call, made] of cards) {
        if (pending.some(([other]) => other === call)) continue;
        made.remove();
        cards.delete(call);
      }
      for (const [call, effect] of pending) {
        if (cards.has(call)) continue;
        cards.set(call, card(call, effect));
        element.append(cards.get(call));
      }
      element.hidden = cards.size === 0;
    },
  };
}

function meaning(effect) {
  return effect === 'once' ? 'It may change something, and must happen at most once.' : 'It may change something.';
}

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
