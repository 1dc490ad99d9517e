// Runs: real runs of the real binary against the scripted model: a directory read by analysts, and a question explored
// with code. Their documents try to break the page that shows them.

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startModel } from './model.js';

export const BINARY = process.env.SPELUNK_BIN;
/** Words that would run if they became markup. */
export const HOSTILE = '</script><img src=x onerror="window.owned=1"><script>window.owned=1</script>';

const FILES = {
  'service/login.py':
    "import db\n\ndef login(name):\n    return db.run('select ' + name)\n\ndef logout(name):\n    return db.run('delete ' + name)\n",
  'service/report.py': 'def report(rows):\n    for row in rows:\n        print(row)\n',
  'service/api/orders.py': Array.from(
    { length: 120 },
    (_, n) => `def order_${n}(id):\n    return fetch("/orders/" + id)  # ${n}\n`,
  ).join('\n'),
  'service/api/users.py': Array.from(
    { length: 60 },
    (_, n) => `def user_${n}(id):\n    return fetch("/users/" + id)\n`,
  ).join('\n'),
  'service/settings.toml': 'debug = true\nsecret_key = "changeme"\n',
  'service/README.md': `# Service\n\nIt takes orders. ${HOSTILE}\n\n- fast\n- **careless**\n`,
  'service/data/orders.csv': `id,total,state\n${Array.from({ length: 400 }, (_, n) => `${n},${n * 3},${n % 7 === 0 ? 'failed' : 'paid'}`).join('\n')}\n`,
  'service/logs/gateway.log': Array.from(
    { length: 300 },
    (_, n) =>
      `2026-03-03T09:${String(n % 60).padStart(2, '0')}:11Z gateway ${n % 9 === 0 ? 'ERROR upstream billing refused: 401' : 'INFO request 200'}`,
  ).join('\n'),
};

const finding = (type, severity, summary, file, line, evidence, more = {}) => ({
  type,
  severity,
  summary,
  file,
  line,
  evidence,
  ...more,
});

/** The replies to analysts and to the synthesis. */
const REVIEW = [
  {
    when: 'final part of a report',
    reply:
      '## Summary\n\nTwo ways to inject SQL [F1] [F2], and debugging is on [F3].\n\n| where | what |\n|---|---|\n| login.py | SQL |\n\n## Recommendations\n\n1. Use parameters.\n2. Turn `debug` off.',
    paceMs: 4,
  },
  { when: 'put together', reply: '## Summary\n\nSee [F1] and [F2].', paceMs: 4 },
  {
    when: 'login.py',
    reply: JSON.stringify([
      finding('vulnerability', 'high', 'SQL is built from input', 'login.py', 4, "db.run('select ' + name)", {
        scope: 'function:login',
        confidence: 0.95,
      }),
      finding('vulnerability', 'high', 'Deletion without a check', 'login.py', 7, "db.run('delete ' + name)", {
        scope: 'function:logout',
      }),
      finding('vulnerability', 'medium', `A name is trusted ${HOSTILE}`, 'login.py', 3, 'def login(name):'),
    ]),
    paceMs: 6,
  },
  {
    when: 'debug = true',
    reply: JSON.stringify([finding('data', 'low', 'Debugging is on', 'settings.toml', 1, 'debug = true')]),
    paceMs: 6,
  },
  {
    when: 'gateway.log',
    reply: JSON.stringify([
      finding(
        'anomaly',
        'medium',
        'Billing refuses every ninth request',
        'logs/gateway.log',
        1,
        'ERROR upstream billing refused: 401',
      ),
    ]),
    paceMs: 12,
  },
  {
    when: 'orders.csv',
    reply: JSON.stringify([
      finding('outlier', 'low', 'Every seventh order failed', 'data/orders.csv', 2, '0,0,failed'),
    ]),
    paceMs: 9,
  },
  { when: /./u, reply: '[]', paceMs: 3 },
];

/** The replies to the recursive loop, turn by turn. */
const EXPLORE = [
  { when: 'SUB:', last: true, reply: (prompt) => `This part speaks of ${prompt.length} characters.`, paceMs: 8 },
  {
    when: /cell 3|undefined_name/u,
    last: true,
    reply:
      '```repl\nprint(len(said), "replies")\nFINAL("Orders go through `service/api/orders.py`, and billing refused them: see logs/gateway.log:1.", cite=hits[:3])\n```',
    paceMs: 5,
  },
  {
    when: 'replies so far',
    last: true,
    reply: '```repl\n# A mistake on purpose.\nprint(undefined_name)\n```',
    paceMs: 5,
  },
  {
    when: "'line':",
    last: true,
    reply:
      '```repl\nparts = chunk(chars=4000)\nsaid = llm_query_batched(["SUB: " + part["text"] for part in parts])\nprint("replies so far", len(said), said[0])\n```',
    paceMs: 5,
  },
  {
    when: /./u,
    reply: 'Let me look first.\n\n```repl\nhits = grep("billing")\nprint(len(context), hits[:2])\n```',
    paceMs: 5,
  },
];

/** A fresh workspace with documents in it. */
export function newScene() {
  const root = mkdtempSync(path.join(tmpdir(), 'viewer-'));
  mkdirSync(path.join(root, 'home'));
  const work = path.join(root, 'work');
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
    writeFileSync(path.join(work, name), text);
  }
  return {
    root,
    work,
    environment: (model) => ({
      HOME: path.join(root, 'home'),
      PATH: process.env.PATH,
      SPELUNK_MODEL_PROBE_LOCAL: 'false',
      ...(model ? { OPENAI_BASE_URL: model.baseUrl } : {}),
    }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Runs the binary to its end. The exit code is ignored, because partial answers have a non-zero one. */
export async function spelunk(scene, args, model) {
  try {
    const { stdout } = await promisify(execFile)(BINARY, args, {
      cwd: scene.work,
      env: scene.environment(model),
      maxBuffer: 1e8,
    });
    return stdout;
  } catch (error) {
    if (typeof error.code === 'number' && error.code === 3) return error.stdout;
    throw new Error(`spelunk ${args.join(' ')}: ${error.stderr ?? error.message}`);
  }
}

/** The id of the run that `work` creates. */
async function made(scene, work) {
  const runs = () =>
    existsSync(path.join(scene.work, '.spelunk/runs')) ? readdirSync(path.join(scene.work, '.spelunk/runs')) : [];
  const before = runs();
  await work();
  return runs().find((run) => !before.includes(run));
}

/** A review of the directory by analysts. */
export async function reviewRun(scene) {
  const model = await startModel(REVIEW);
  const run = await made(scene, () =>
    spelunk(
      scene,
      [
        'ask',
        'Review this service for security problems',
        'service',
        '--strategy',
        'map',
        '--focus',
        'security',
        '--set=limits.chunk_code_lines=60',
        '--set=limits.small_lines_max=100',
      ],
      model,
    ),
  );
  model.stop();
  return run;
}

/** A question that is explored with code and sub-calls. */
export async function exploringRun(scene) {
  const model = await startModel(EXPLORE);
  const run = await made(scene, () =>
    spelunk(
      scene,
      ['ask', 'Where do orders go, and why did billing refuse them?', 'service', '--strategy', 'repl'],
      model,
    ),
  );
  model.stop();
  return run;
}

/** The rules for any run: `EXPLORE` for prompts of a Python session, `REVIEW` for all others. */
export const rulesFor = (prompt) =>
  prompt.includes('The text is in a Python session') || prompt.startsWith('SUB:') ? EXPLORE : REVIEW;

/** The events of a run, from disk. */
export function journal(scene, run) {
  const text = readFileSync(path.join(scene.work, '.spelunk/runs', run, 'journal.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Exports the run as one page and returns its path. */
export async function exportPage(scene, run) {
  const file = path.join(scene.root, `${run}.html`);
  await spelunk(scene, ['run', 'export', run, '--html', file]);
  return file;
}
