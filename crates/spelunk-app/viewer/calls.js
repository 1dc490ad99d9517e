// Calls: all calls of a run as a list, the text alternative to the timeline for keyboards and screen readers.

import { el, plain } from './dom.js';
import { windowed } from './windowed.js';
import { dollars, head, time, tokens, whole } from './units.js';
import { callState } from './tree.js';

const ROW_PX = 28;

/** The list. `onOpen(id)` is called when a call is chosen. */
export function callList({ onOpen }) {
  const list = windowed({
    label: 'Calls',
    name: 'calls',
    rowPx: ROW_PX,
    key: (call) => call.id,
    open: (call) => onOpen(call.id),
    classOf: (call) => `call ${call.served === 'cache' ? 'cached' : call.state}`,
    row: (call) => [
      el('span', { class: 'dot', 'aria-hidden': 'true' }),
      el('span', { class: 'name' }, call.id),
      el('span', { class: 'state-word' }, callState(call)),
      el('span', { class: 'what' }, head(plain(call.streamed || call.reply?.text || call.message), 120)),
      el(
        'span',
        { class: 'figures' },
        call.usage ? `${tokens(whole(call.usage.input_tokens))} → ${tokens(whole(call.usage.output_tokens))}` : '',
      ),
      el('span', { class: 'figures' }, call.usage ? dollars(whole(call.usage.cost_microusd)) : ''),
      el(
        'span',
        { class: 'figures' },
        call.settledActiveMs === null ? '' : time(call.settledActiveMs - call.startedActiveMs),
      ),
    ],
  });
  return { element: list.element, show: (run) => list.show(Array.from(run.calls.values())), select: list.select };
}
