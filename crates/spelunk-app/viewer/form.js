// Form: starts a new run. The page validates what it can, the server the rest. Each error is shown at the field that it
// concerns.

import { announce, button, el, fill, plain } from './dom.js';
import { bytes, count, dollars, tokens, whole } from './units.js';
import { treemap } from './treemap.js';

const STRATEGIES = ['auto', 'direct', 'repl', 'search', 'map', 'hybrid', 'agent'];
const TYPING_MS = 150;
const FOCUSES = ['general', 'security', 'architecture', 'performance', 'data'];
/** The limits that people set most; the server accepts others too. */
const LIMITS = [
  { name: 'calls_max', label: 'Maximum calls', unit: 1 },
  { name: 'cost_microusd_max', label: 'Maximum cost, in dollars', unit: 1000000 },
  { name: 'tokens_max', label: 'Maximum tokens', unit: 1 },
  { name: 'run_ms_max', label: 'Maximum minutes', unit: 60000 },
];

/** The page. */
export function newRun({ origin, go }) {
  const fields = makeFields();
  const trouble = el('p', { class: 'failure', role: 'alert', hidden: true });
  const remark = el('p', { class: 'hint' });
  const send = el('button', { type: 'submit', class: 'primary' }, 'Start the run');
  const preview = button('Show the plan first', () => showPlan());
  const planned = el('div', { 'aria-live': 'polite' });
  const map = treemap({});
  const all = Object.values(fields);
  const element = el(
    'section',
    { class: 'narrow', 'aria-labelledby': 'new-title' },
    el('h1', { id: 'new-title' }, 'New run'),
    remark,
    el(
      'form',
      {
        class: 'new-run',
        novalidate: true,
        on: {
          submit: (event) => {
            event.preventDefault();
            start();
          },
        },
      },
      fields.question.element,
      fields.paths.element,
      completion(origin, fields.paths.input),
      fields.files.element,
      fields.text.element,
      el('div', { class: 'pair' }, fields.strategy.element, fields.focus.element),
      el(
        'details',
        {},
        el('summary', {}, 'Limits and filters'),
        el(
          'div',
          { class: 'pair' },
          LIMITS.map(({ name }) => fields[`limits.${name}`].element),
        ),
        el('div', { class: 'pair' }, fields.include.element, fields.exclude.element),
      ),
      trouble,
      el('div', { class: 'tools' }, send, preview),
    ),
    planned,
  );

  const complain = (error) => {
    const left = [];
    const problems =
      error.errors?.length > 0
        ? error.errors
        : [
            {
              field: fieldOf(error),
              detail: error.hint ? `${error.message}. ${capitalised(error.hint)}.` : error.message,
            },
          ];
    for (const { field, detail } of problems) {
      const own = Object.hasOwn(fields, field ?? '') ? fields[field] : null;
      if (own) own.complain(detail);
      else left.push(detail);
    }
    if (left.length > 0) {
      trouble.hidden = false;
      trouble.textContent = plain(left.join('. '));
    }
    all.find((field) => field.isWrong())?.focus();
  };
  const submit = async (work) => {
    trouble.hidden = true;
    for (const field of all) field.complain('');
    const wrong = check(fields);
    if (wrong.length > 0) return complain({ errors: wrong });
    send.disabled = preview.disabled = true;
    try {
      return await work(request(fields));
    } catch (error) {
      return complain(error);
    } finally {
      send.disabled = preview.disabled = false;
    }
  };
  const start = () =>
    submit(async (wanted) => {
      const made = await origin.create(wanted, Array.from(fields.files.input.files));
      go(`#/run/${encodeURIComponent(made.run)}`);
    });
  const showPlan = () =>
    submit(async (wanted) => {
      const plan = await origin.planOf({
        question: wanted.question,
        paths: wanted.paths ?? [],
        include: wanted.include,
        exclude: wanted.exclude,
        strategy: wanted.strategy,
      });
      fill(planned, el('h2', {}, 'Plan'), planLine(plan), map.element);
      map.show({ documents: documentsOf(plan) });
    });
  origin
    .server()
    .then((server) => {
      remark.textContent = plain(about(server));
      fields.strategy.options(server.strategies?.length > 0 ? unique(['auto', ...server.strategies]) : STRATEGIES);
      for (const { name, unit } of LIMITS) {
        const value = server.limits_default?.[name];
        if (value) fields[`limits.${name}`].input.placeholder = String(value / unit);
      }
    })
    .catch((error) => {
      remark.textContent = plain(error.message);
    });
  return { element, title: 'New run', dispose: () => {}, focus: () => fields.question.focus() };
}

/** Paths that start with the line at the cursor, as buttons below the field; choosing one completes the line. */
function completion(origin, input) {
  const completions = el('div', { class: 'chips offered', role: 'group', 'aria-label': 'Completions' });
  let [typing, nRequests] = [0, 0];
  const line = () => {
    const from = input.value.lastIndexOf('\n', input.selectionStart - 1) + 1;
    const to = input.value.indexOf('\n', from);
    return [from, to < 0 ? input.value.length : to];
  };
  const take = (path) => {
    input.setRangeText(path, ...line(), 'end');
    input.focus();
    offer();
  };
  const offer = async () => {
    const requestIdx = (nRequests += 1);
    const typed = input.value.slice(...line()).trim();
    const paths = await origin.complete(typed).catch(() => []);
    if (requestIdx !== nRequests) return;
    const others = paths.filter((path) => path !== typed);
    fill(completions, others.map((path) => button(path, () => take(path), { class: 'chip' })));
    if (others.length > 0) announce(`${count(others.length, 'path')} offered`);
  };
  for (const event of ['input', 'focus'])
    input.addEventListener(event, () => {
      clearTimeout(typing);
      typing = setTimeout(offer, TYPING_MS);
    });
  return completions;
}

/** A summary of what the server can do. */
function about(server) {
  if (server.has_model === false) return 'No model is configured on the server: runs are refused until one is.';
  const models = (server.model_names ?? []).join(', ') || 'the configured model';
  const roots = server.roots ?? [];
  const paths =
    roots.length > 0 ? `Paths are relative to ${roots.join(', ')}.` : 'No paths are available: upload files or paste text.';
  return `Asks ${models}. ${paths}`;
}

function unique(words) {
  return Array.from(new Set(words));
}

function makeFields() {
  const fields = {
    question: field(
      'question',
      'Question',
      el('textarea', { rows: '3', required: true, maxlength: '20000' }),
      'What do you want to know?',
    ),
    paths: field(
      'paths',
      'Paths',
      el('textarea', { rows: '2', spellcheck: 'false' }),
      'Files or directories on the server, one per line.',
    ),
    files: field('files', 'Or upload files', el('input', { type: 'file', multiple: true }), ''),
    text: field('text', 'Or paste text', el('textarea', { rows: '3' }), ''),
    strategy: field('strategy', 'Strategy', el('select'), 'Auto chooses based on the question and the text.'),
    focus: field('focus', 'Focus', el('select'), 'What an analysis focuses on.'),
    include: field(
      'include',
      'Include files',
      el('input', { type: 'text', spellcheck: 'false' }),
      'Globs, separated by commas.',
    ),
    exclude: field(
      'exclude',
      'Exclude files',
      el('input', { type: 'text', spellcheck: 'false' }),
      'Globs, separated by commas.',
    ),
  };
  fields.strategy.options(STRATEGIES);
  fields.focus.options(FOCUSES);
  for (const { name, label } of LIMITS)
    fields[`limits.${name}`] = field(
      `limits.${name}`,
      label,
      el('input', { type: 'number', min: '0', step: 'any', inputmode: 'decimal' }),
      '',
    );
  return fields;
}

/** A field with its label, hint and error message. */
function field(name, label, input, hint) {
  const id = `field-${name.replace('.', '-')}`;
  const fault = el('span', { class: 'fault', id: `${id}-fault`, role: 'alert' });
  const note = hint ? el('span', { class: 'hint', id: `${id}-hint` }, hint) : null;
  input.id = id;
  input.name = name;
  input.setAttribute('aria-describedby', `${hint ? `${id}-hint ` : ''}${id}-fault`);
  return {
    input,
    element: el('div', { class: 'field' }, el('label', { for: id }, label), input, note, fault),
    isWrong: () => fault.textContent !== '',
    focus: () => {
      input.closest('details')?.setAttribute('open', '');
      input.focus();
    },
    options: (names) =>
      fill(
        input,
        names.map((word) => el('option', { value: word }, word)),
      ),
    complain(text) {
      fault.textContent = plain(text);
      if (text) input.setAttribute('aria-invalid', 'true');
      else input.removeAttribute('aria-invalid');
    },
  };
}

function check(fields) {
  const wrong = [];
  if (fields.question.input.value.trim() === '')
    wrong.push({ field: 'question', detail: 'Enter a question.' });
  const hasText =
    ['paths', 'text'].some((name) => fields[name].input.value.trim() !== '') || fields.files.input.files.length > 0;
  if (!hasText)
    wrong.push({
      field: 'paths',
      detail: 'Enter a path, upload a file or paste a text.',
    });
  for (const { name, unit } of LIMITS) {
    const { value, validity } = fields[`limits.${name}`].input;
    const isNumber =
      value === '' ? !validity.badInput : Number.isSafeInteger(Math.round(Number(value) * unit)) && Number(value) > 0;
    if (!isNumber) wrong.push({ field: `limits.${name}`, detail: 'Enter a positive number, or leave it empty.' });
  }
  return wrong;
}

/** The request, with only the fields that were filled in. */
function request(fields) {
  const value = (name) => fields[name].input.value.trim();
  const split = (text, by) =>
    text
      .split(by)
      .map((part) => part.trim())
      .filter(Boolean);
  const wanted = { question: value('question') };
  if (value('paths')) wanted.paths = split(value('paths'), '\n');
  if (value('text')) wanted.text = fields.text.input.value;
  if (value('strategy') !== 'auto') wanted.strategy = value('strategy');
  if (value('focus') !== 'general') wanted.focus = value('focus');
  for (const name of ['include', 'exclude']) if (value(name)) wanted[name] = split(value(name), ',');
  const limits = LIMITS.filter(({ name }) => value(`limits.${name}`) !== '').map(({ name, unit }) => [
    name,
    Math.round(Number(value(`limits.${name}`)) * unit),
  ]);
  if (limits.length > 0) wanted.limits = Object.fromEntries(limits);
  return wanted;
}

/** The field that a problem concerns, found by the limit or argument that its message names, or by its code. */
function fieldOf({ message, code }) {
  const limit = LIMITS.find(({ name }) => message.includes(name));
  if (limit) return `limits.${limit.name}`;
  const named = /argument `([\w.]+)`/u.exec(message);
  return named ? named[1] : String(code ?? '').startsWith('source-') ? 'paths' : '';
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function planLine(plan) {
  const files = plan.manifest ?? [];
  const [least, most] = [plan.usage_at_least ?? {}, plan.usage_at_most ?? {}];
  const size = files.reduce((sum, file) => sum + whole(file.bytes), 0);
  const costs = Object.entries(plan.cost_microusd_at_most ?? {}).map(
    ([model, cost]) => `${model} ${dollars(whole(plan.cost_microusd_at_least?.[model]))} to ${dollars(whole(cost))}`,
  );
  return [
    el(
      'p',
      {},
      [
        count(files.length, 'document'),
        bytes(size),
        count((plan.tasks ?? []).length, 'task'),
        `${whole(plan.calls_at_least)} to ${count(whole(plan.calls_at_most), 'call')}`,
        `${tokens(whole(least.input_tokens))} to ${tokens(whole(most.input_tokens))} input tokens`,
      ].join(' · '),
    ),
    costs.length > 0 ? el('p', { class: 'hint' }, `Cost: ${costs.join(', ')}`) : null,
    (plan.warnings ?? []).map((warning) => el('p', { class: 'warning' }, warning)),
  ];
}

/** The documents of a plan, each with its number of tasks. */
function documentsOf(plan) {
  const nTasks = new Map();
  for (const { work } of plan.tasks ?? []) {
    for (const file of work?.files ?? [work?.file]) nTasks.set(file, (nTasks.get(file) ?? 0) + 1);
  }
  return (plan.manifest ?? []).map(({ file, bytes: size, type, custom_type: own }) => ({
    path: file,
    bytes: size,
    type: own ?? type,
    tasks: nTasks.get(file) ?? 0,
    state: 'waiting',
  }));
}
