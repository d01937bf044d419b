// Looks at the page in a browser. One task comes in as a line of JSON; a line goes out for each thing that was looked
// at, `{name, differences, seconds}`, and `done` at the end.
import { chromium } from 'playwright-core';
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';

const [line] = await new Promise((resolve) => createInterface({ input: process.stdin }).once('line', (...l) => resolve(l)));
const task = JSON.parse(line);
const TOOL = {
  type: 'object', properties: { code: { type: 'string' } }, required: ['code'], additionalProperties: false,
};

async function chat(says, { session, policy = 'auto', model = 'gpt-4o', tools = [] } = {}) {
  const headers = { 'content-type': 'application/json', 'x-callwright-policy': policy, authorization: 'Bearer sk-secret-of-the-client' };
  if (session) headers['x-callwright-session'] = session;
  const names = ['run_code', ...tools];
  const body = {
    model, messages: [{ role: 'user', content: says }],
    tools: names.map((name) => ({ type: 'function', function: { name, description: 'Runs code.', parameters: TOOL } })),
  };
  const answer = await fetch(`${task.url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
  await answer.text();
  return answer.status;
}

// What was said is kept a moment later: asked again until it is there.
async function sessions(isThere) {
  const end = Date.now() + 30_000;
  for (;;) {
    const page = await (await fetch(`${task.url}/api/sessions?limit=200`)).json();
    if (isThere(page.sessions) || end < Date.now()) return page.sessions;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const browser = await chromium.launch({
  executablePath: task.browser,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// Everything that must not happen on any page.
let breaches = [];
async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`securitypolicyviolation ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on('dialog', (dialog) => { breaches.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('pageerror', (error) => breaches.push(`an error: ${error}`));
  page.on('console', (message) => {
    if (/securitypolicyviolation|Content Security Policy/i.test(message.text())) breaches.push(message.text());
  });
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(task.url) || /^http:\/\/127\.0\.0\.1:|^file:|^data:,$/.test(request.url());
    if (!isOwn) breaches.push(`a request to ${request.url()}`);
  });
  return page;
}

const at = (id, more = '') => `${task.url}/session?id=${encodeURIComponent(id)}${more}`;
const shot = (page, name) => page.screenshot({ path: `${task.screenshots}/${name}.png`, fullPage: true });
const isWide = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function look(name, work) {
  const [start, differences] = [performance.now(), []];
  breaches = [];
  const same = (what, found, expected) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) differences.push(`${what}: ${a} instead of ${b}`);
  };
  const holds = (what, found, part) => { if (!String(found).includes(part)) differences.push(`${what}: no ${part} in ${found}`); };
  try {
    await work(same, holds);
  } catch (error) {
    differences.push(String(error.message ?? error).split('\n').slice(0, 4).join(' '));
  }
  differences.push(...breaches);
  console.log(JSON.stringify({ name, differences, seconds: (performance.now() - start) / 1000 }));
}

await chat('Heal this, please.', { session: 'repaired-one' });
await chat('Feed this back.', { session: 'fed-one', policy: 'feedback' });
await chat('Refuse this.', { session: 'refused-one', policy: 'heal' });
await chat('Doubt this.', { session: 'doubted-one', policy: 'heal' });
await chat('Right at first.', { session: 'right-one' });
await sessions((all) => 5 <= all.length);
const page = await open();

await look('list', async (same, holds) => {
  await page.goto(task.url);
  same('rows', await page.locator('#sessions a.session').count(), 5);
  const row = page.locator('.rows tbody tr', { hasText: 'Heal this' });
  same('outcome', await row.locator('.badge').textContent(), 'repaired');
  same('model', await row.locator('td.model').textContent(), 'gpt-4o');
  same('requests', await row.locator('td.turns').textContent(), '1');
  same('repairs', await row.locator('td.repairs').textContent(), '2');
  holds('time', await row.locator('time').textContent(), /just now/.test(await row.locator('time').textContent()) ? 'just now' : ' ago');
  holds('moment', await row.locator('time').getAttribute('title'), ' UTC');
  // The whole row is the link.
  const { x, y, width, height } = await row.locator('td.tokens').boundingBox();
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.locator('#nodes').waitFor();
  holds('opened', await page.locator('#facts h1').textContent(), 'Heal this');
});

// The sums above are those of the rows, whatever is chosen.
await look('totals', async (same) => {
  for (const query of ['', '?outcome=repaired', '?text=this', '?error=invalid', '?text=nowhere']) {
    await page.goto(`${task.url}/sessions${query}`);
    const rows = page.locator('.rows tbody tr');
    for (const sum of ['turns', 'repairs', 'refusals', 'tokens']) {
      const of = await rows.evaluateAll((rows, name) => rows.reduce((n, row) => n + Number(row.dataset[name]), 0), sum);
      same(`${sum} of ${query}`, (await page.locator(`[data-sum=${sum}]`).textContent()).replaceAll(',', ''), String(of));
    }
    same(`sessions of ${query}`, await page.locator('[data-sum=sessions]').textContent(), String(await rows.count()));
  }
});

// Each head orders the table, again the other way round; what is shown goes by it.
await look('sort', async (same) => {
  await page.goto(task.url);
  const before = await page.locator('a.session').allTextContents();
  for (const [word, of, first] of [['Repairs', 'repairs', 'descending'], ['Tokens', 'tokens', 'descending'], ['Refused', 'refusals', 'descending'], ['Requests', 'turns', 'descending']]) {
    for (const way of [first, 'ascending']) {
      await page.locator('.rows thead a', { hasText: word }).click();
      await page.locator(`.rows thead th[aria-sort=${way}]`, { hasText: word }).waitFor();
      const values = await page.locator('.rows tbody tr').evaluateAll((rows, name) => rows.map((row) => Number(row.dataset[name])), of);
      same(`${word} ${way}`, values, values.toSorted((a, b) => (way === 'ascending' ? a - b : b - a)));
    }
  }
  await page.locator('.rows thead a', { hasText: 'Outcome' }).click();
  const outcomes = await page.locator('.rows td.ended').allTextContents();
  // Those of one sort stand together.
  const sorts = [...new Set(outcomes)];
  same('sorts', 1 < sorts.length, true);
  same('outcomes', outcomes, sorts.flatMap((sort) => outcomes.filter((outcome) => outcome === sort)));
  same('another order', JSON.stringify(await page.locator('a.session').allTextContents()) !== JSON.stringify(before), true);
  // The order stays with whoever opens a session and comes back.
  await page.locator('a.session').first().click();
  await page.getByRole('link', { name: 'All sessions' }).click();
  same('after coming back', await page.locator('.rows td.ended').allTextContents(), outcomes);
});

await look('filter', async (same) => {
  await page.goto(task.url);
  // What a chip counts is what it leads to.
  const chips = await page.locator('.chips .chip:has(.n)').allTextContents();
  same('chips', 1 < chips.length, true);
  for (const chip of chips) {
    const [name, n] = chip.split(' ');
    await page.goto(task.url);
    await page.locator('.chips .chip', { hasText: name }).click();
    same(`rows of ${name}`, await page.locator('a.session').count(), Number(n));
    same(`${name} is chosen`, (await page.locator('.chips [aria-current]').textContent()).split(' ')[0], name);
    same(`chips beside ${name}`, await page.locator('.chips .chip:has(.n)').allTextContents(), chips);
  }
  await page.goto(task.url);
  await page.locator('.chips .chip', { hasText: 'retried' }).click();
  same('rows', await page.locator('a.session').allTextContents(), ['Feed this back.']);
  // A second time it is taken away.
  await page.locator('.chips .chip', { hasText: 'retried' }).click();
  same('rows', await page.locator('a.session').count(), 5);
  await page.keyboard.press('/');
  await page.keyboard.type('refuse model:gpt-4o error:truncated');
  await page.keyboard.press('Enter');
  await page.locator('.chosen').waitFor();
  same('rows', await page.locator('a.session').allTextContents(), []);
  await page.locator('.chosen .chip', { hasText: 'error' }).click();
  same('rows', await page.locator('a.session').allTextContents(), ['Refuse this.']);
  await page.goto(`${task.url}/sessions?text=refuse`);
  same('rows', await page.locator('a.session').allTextContents(), ['Refuse this.']);
});

// S2-24, S4-41: what the client never sees has a node of its own, with a sign and a word.
await look('open', async (same, holds) => {
  await page.goto(task.url);
  await page.locator('a.session', { hasText: 'Feed this back' }).click();
  const kinds = await page.locator('#nodes .kind').allTextContents();
  same('kinds', kinds, ['●user', '✦model turn', '⚠validation error', '✦model turn', '✓tool call']);
  await page.locator('#nodes a', { hasText: 'validation error' }).click();
  same('violation', await page.locator('.node-view td code').allTextContents(), ['/code']);
  same('keyword', await page.locator('.node-view td[title]').getAttribute('title'), 'type');
  // A native call is told in the timeline as it was written.
  holds('native call', await page.locator('#nodes .told').nth(1).textContent(), 'run_code({"code": {"a": 1}})');
});

await look('spans', async (same) => {
  await page.goto(at('repaired-one', '&node=2'));
  const raw = page.locator('pre.raw');
  same('text', await raw.textContent(), "I will run it.\n<tool_call>{\"name\": \"run_code\", \"arguments\": {\"code\": \"print('hello')\",}}}</tool_call>");
  same('struck', await raw.locator('del').allTextContents(), [',', '}']);
  same('how', await raw.locator('del').first().evaluate((del) => getComputedStyle(del).textDecorationLine), 'line-through');
  same('kept', await raw.evaluate((pre) => pre.firstChild.nodeType === 3 && pre.firstChild.data), 'I will run it.\n');
  // S4-47: why each byte was struck, in words; its stable name is there for whoever looks for it.
  const edits = page.locator('.edits li');
  same('reasons', (await edits.allTextContents()).map((text) => text.slice(1)), ['a comma too many', 'a closing bracket too many']);
  same('name', (await edits.first().getAttribute('title')).includes('drop-comma'), true);
  await page.goto(at('repaired-one', '&node=2&tab=diff'));
  same('after', await page.locator('pre.after').textContent(), "<tool_call>{\"name\": \"run_code\", \"arguments\": {\"code\": \"print('hello')\"}}</tool_call>");
  await page.goto(at('refused-one', '&node=2'));
  same('carets', await page.locator('pre.raw .caret').count(), 1);
  await page.goto(at('doubted-one', '&node=2'));
  same('why', await page.locator('.verdicts .badge').textContent(), 'ambiguous');
  same('readings', 0 < await page.locator('.readings pre').count(), true);
});

await look('tabs', async (same, holds) => {
  await page.goto(at('fed-one', '&node=2'));
  await page.getByRole('link', { name: 'Feedback' }).click();
  holds('feedback', await page.locator('.node-view pre').textContent(), 'code must be a string');
  await page.getByRole('link', { name: 'curl' }).click();
  const curl = await page.locator('.node-view pre').textContent();
  holds('curl', curl, '"authorization: Bearer $UPSTREAM_KEY"');
  if (/sk-secret/.test(await page.content())) throw new Error('a key is on the page');
  await page.getByRole('link', { name: 'Test case' }).click();
  holds('case', await page.locator('.node-view pre').first().textContent(), 'refused = "invalid"');
  for (const tab of ['Arguments', 'Messages', 'Changes', 'As written']) {
    await page.getByRole('link', { name: tab }).click();
    same(`the tab ${tab}`, await page.locator('.tabs [aria-current]').textContent(), tab);
  }
});

await look('what-if', async (same, holds) => {
  await page.goto(at('repaired-one', '&node=2&tab=what-if'));
  holds('before', await page.locator('#gist').textContent(), 'The same');
  await page.selectOption('select[name=as_policy]', 'strict');
  await page.getByRole('button', { name: 'Read again' }).click();
  holds('after', await page.locator('#gist').textContent(), 'another outcome');
  same('refused', await page.locator('.verdicts .badge.refused').count(), 1);
});

let dumped;
// S4-46, S4-51
await look('dump', async (same) => {
  await page.goto(at('repaired-one', '&node=2'));
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download dump' }).click()]);
  dumped = `${task.kept}/dumped.json`;
  await file.saveAs(dumped);
  const dump = JSON.parse(await readFile(dumped, 'utf8'));
  same('dump', [dump.session_id, dump.entry_count], ['repaired-one', 3]);
});

await look('view', async (same) => {
  const viewer = spawn(task.callwright, ['view', dumped, '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [first] = await new Promise((resolve) => createInterface({ input: viewer.stdout }).once('line', (...l) => resolve(l)));
    await page.goto(`${first.match(/http:\S+/)[0]}/?node=2`);
    same('struck', await page.locator('pre.raw del').allTextContents(), [',', '}']);
    same('no dump of a dump', await page.getByRole('link', { name: 'Download dump' }).count(), 0);
    await page.goto(`${first.match(/http:\S+/)[0]}/session?node=2&tab=what-if&as_policy=strict`);
    same('refused', await page.locator('.verdicts .badge.refused').count(), 1);
  } finally {
    viewer.kill('SIGKILL');
  }
});

await look('share', async (same) => {
  const html = await (await fetch(`${task.url}/session/share?id=repaired-one`)).text();
  const alone = await open();
  const seen = [];
  alone.on('request', (request) => seen.push(request.url()));
  await alone.setContent(html);
  same('struck', await alone.locator('pre.raw').first().locator('del').allTextContents(), [',', '}']);
  same('is styled', await alone.locator('del').first().evaluate((del) => getComputedStyle(del).textDecorationLine), 'line-through');
  same('scripts', await alone.locator('script').count(), 0);
  same('requests', seen, []);
  await alone.context().close();
});

await look('live', async (same) => {
  await page.goto(task.url);
  await page.locator('.live', { hasText: 'live' }).waitFor();
  await page.evaluate(() => { globalThis.isSamePage = true; });
  await chat('Heal this while I look.', { session: 'live-one' });
  await page.locator('.rows a.session', { hasText: 'while I look' }).waitFor();
  same('page', await page.evaluate(() => globalThis.isSamePage), true);
  // Statistics follow as well.
  await page.goto(`${task.url}/statistics`);
  await page.locator('.live', { hasText: 'live' }).waitFor();
  await page.evaluate(() => { globalThis.isSamePage = true; });
  const healed = async () => (await page.locator('.tiles .repaired dd').textContent()).split(' ')[0];
  const before = Number(await healed());
  await chat('Heal this while I count.', { session: 'counted-one' });
  await page.waitForFunction((n) => document.querySelector('.tiles .repaired dd').textContent.startsWith(`${n} `), before + 1);
  same('page of statistics', await page.evaluate(() => globalThis.isSamePage), true);
});

await look('statistics', async (same) => {
  await page.goto(`${task.url}/statistics`);
  const tiles = await page.locator('.tiles dd').allTextContents();
  // Right at first, healed, right after feedback, refused.
  same('tiles', tiles.map((text) => text.split(' ')[0]), ['1', '3', '1', '2']);
  same('columns', 0 < await page.locator('svg.columns rect').count(), true);
  same('colours', await page.locator('.colours li').allTextContents(), ['passed', 'repaired', 'retried', 'refused']);
  same('axes', [await page.locator('.plot .y span').count() >= 2, await page.locator('.plot .x time').count()], [true, 3]);
  // How long it took, by model; the middle is never above what 19 of 20 keep to.
  const times = await page.locator('table.latency tbody tr').first().locator('td').allTextContents();
  same('models', await page.locator('table.latency tbody th').allTextContents(), ['gpt-4o']);
  same('requests', times[0], '7');
  const us = (text) => Number(text.split(' ')[0]) * { 'µs': 1, ms: 1e3, s: 1e6 }[text.split(' ')[1]];
  same('p50 ≤ p95', us(times[3]) <= us(times[4]), true);
  same('first byte ≤ last', us(times[1]) <= us(times[3]), true);
  // Errors have words, and lead to where they are.
  await page.locator('a', { hasText: 'a comma too many' }).click();
  same('rows', 0 < await page.locator('a.session').count(), true);
});

await look('keyboard', async (same) => {
  await page.goto(at('repaired-one'));
  await page.keyboard.press('Tab');
  same('first', await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  await page.keyboard.press('Tab');
  same('second', await page.evaluate(() => document.activeElement.textContent), 'Callwright');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  same('second node', await page.evaluate(() => document.activeElement.textContent.includes('model turn')), true);
  await page.keyboard.press('Enter');
  await page.locator('pre.raw').waitFor();
});

await look('dark', async (same) => {
  const light = async () => (await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).match(/\d+/g).map(Number)[0];
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(at('repaired-one', '&node=2'));
  same('light', 200 < await light(), true);
  await page.emulateMedia({ colorScheme: 'dark' });
  same('dark', await light() < 60, true);
  await page.emulateMedia({ colorScheme: 'light' });
});

await look('narrow', async (same) => {
  const narrow = await open({ viewport: { width: 400, height: 800 } });
  for (const [name, url] of [['list', task.url], ['node', at('repaired-one', '&node=2')], ['feedback', at('fed-one', '&node=3')],
    ['arguments', at('fed-one', '&node=2&tab=arguments')], ['upstream', at('fed-one', '&node=2&tab=upstream')],
    ['what-if', at('repaired-one', '&node=2&tab=what-if')], ['case', at('repaired-one', '&node=2&tab=case')],
    ['statistics', `${task.url}/statistics`]]) {
    await narrow.goto(url);
    same(`${name} is too wide by`, await isWide(narrow), 0);
  }
  await narrow.context().close();
});

// A session that is longer than the window: its columns scroll by themselves, and what was chosen stays in sight.
await look('columns', async (same, holds) => {
  for (let n = 0; n < 12; n += 1) await chat(`Heal this, part ${n}.`, { session: 'long-one' });
  await sessions((all) => all.some((one) => one.id === 'long-one' && one.turns === 12));
  const isSeen = (locator) => locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight && document.elementFromPoint(element.getBoundingClientRect().left + 8, (top + bottom) / 2) !== null
      && element.contains(document.elementFromPoint(element.getBoundingClientRect().left + 8, (top + bottom) / 2));
  });
  const chosen = page.locator('#nodes a[aria-current]');
  await page.goto(at('long-one'));
  const count = await page.locator('#nodes a').count();
  same('nodes', count, 36);
  for (const n of [count - 1, 17, 18, 0]) {
    await page.locator('#nodes a').nth(n).click();
    await page.locator('.node-view h2').waitFor();
    same(`node ${n + 1} is chosen`, await page.locator('#nodes a').nth(n).getAttribute('aria-current'), 'true');
    same(`node ${n + 1} is in sight`, await isSeen(chosen), true);
    same('the page has not moved', await page.evaluate(() => [scrollY, document.documentElement.scrollHeight <= innerHeight]), [0, true]);
    same('the bar is in sight', await isSeen(page.locator('.top .brand')), true);
    same('the heading is in sight', await isSeen(page.locator('.node-view h2')), true);
  }
  // A column stays where it was while another node is chosen in it.
  await page.goto(at('long-one', '&node=36'));
  const scrolled = () => page.locator('.timeline').evaluate((column) => column.scrollTop);
  const before = await scrolled();
  same('is scrolled', 0 < before, true);
  await page.locator('#nodes a').nth(34).click();
  await page.locator('#nodes a[aria-current]', { hasText: 'model turn' }).waitFor();
  same('stays', await scrolled(), before);
  // By an address alone it is in sight as well.
  const fresh = await open({ viewport: { width: 1024, height: 700 } });
  await fresh.goto(at('long-one', '&node=30'));
  same('by its address', await isSeen(fresh.locator('#nodes a[aria-current]')), true);
  await fresh.context().close();
});

// A conversation is shown as one, not as JSON.
await look('messages', async (same, holds) => {
  await page.goto(at('fed-one', '&node=4&tab=upstream'));
  const messages = page.locator('.messages').first().locator('.message');
  same('roles', await messages.locator('.role').first().textContent(), 'user');
  holds('words', await messages.first().textContent(), 'Feed this back.');
  holds('call', await page.locator('.messages .call').first().textContent(), 'calls run_code');
  holds('tools', await page.locator('details.tools > summary').textContent(), 'Tools on offer: 1');
  same('the raw request is closed', await page.locator('pre', { hasText: '"messages"' }).first().isVisible(), false);
  await page.getByText('The request as it was sent').click();
  same('and can be opened', await page.locator('pre', { hasText: '"messages"' }).first().isVisible(), true);
});

// Every page at three widths, light and dark: nothing is wider than the window, what is read has contrast. The pictures
// stay beside what is built.
const PAGES = [
  ['list', task.url], ['search', `${task.url}/sessions?text=this&error=drop-comma&sort=tokens`], ['none', `${task.url}/sessions?text=nowhere`],
  ['session', at('long-one')], ['written', at('repaired-one', '&node=2')], ['changes', at('repaired-one', '&node=2&tab=diff')],
  ['arguments', at('fed-one', '&node=2&tab=arguments')], ['messages', at('fed-one', '&node=4&tab=upstream')],
  ['feedback', at('fed-one', '&node=3')], ['refused', at('refused-one', '&node=2')], ['ambiguous', at('doubted-one', '&node=2')],
  ['what-if', at('repaired-one', '&node=2&tab=what-if')], ['case', at('repaired-one', '&node=2&tab=case')],
  ['long', at('long-one', '&node=30')], ['statistics', `${task.url}/statistics`], ['try', `${task.url}/try`],
];

// The least contrast of the page's texts with what they stand on, by WCAG.
const contrast = (page) => page.evaluate(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  const rgb = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((n) => n / 255).map((n) => (n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let worst = [21, ''];
  for (const element of document.body.querySelectorAll('*')) {
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!isText || !element.checkVisibility() || element.closest('.hidden, .skip, svg')) continue;
    const grounds = [];
    for (let at = element; at; at = at.parentElement) grounds.unshift(getComputedStyle(at).backgroundColor);
    const [a, b] = [light(rgb(grounds)), light(rgb([...grounds, getComputedStyle(element).color]))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, `${element.tagName}.${element.className}: ${element.textContent.slice(0, 30)}`];
  }
  return worst;
});

for (const width of [1440, 1024, 400]) {
  for (const colorScheme of ['light', 'dark']) {
    await look(`views-${width}-${colorScheme}`, async (same) => {
      const view = await open({ viewport: { width, height: width === 400 ? 800 : 900 }, colorScheme });
      for (const [name, url] of PAGES) {
        await view.goto(url);
        same(`${name} is too wide by`, await isWide(view), 0);
        const [ratio, where] = await contrast(view);
        if (ratio < 4.5) same(`contrast of ${name}`, `${ratio.toFixed(2)} at ${where}`, 'at least 4.5');
        const unnamed = await view.evaluate(() => [...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea')]
          .filter((control) => !(control.textContent.trim() || control.labels?.length || control.getAttribute('aria-label')))
          .map((control) => control.outerHTML.slice(0, 60)));
        same(`controls of ${name} without a name`, unnamed, []);
        await shot(view, `${name}-${width}-${colorScheme}`);
      }
      await view.context().close();
    });
  }
}

await look('no-script', async (same, holds) => {
  const plain = await open({ javaScriptEnabled: false });
  await plain.goto(task.url);
  await plain.locator('input[name=text]').fill('refuse');
  await plain.getByRole('button', { name: 'Search' }).click();
  await plain.locator('.chips .chip', { hasText: 'refused' }).click();
  await plain.locator('.rows thead a', { hasText: 'Tokens' }).click();
  await plain.locator('a.session').click();
  await plain.locator('#nodes a', { hasText: 'model turn' }).click();
  await plain.getByRole('link', { name: 'What if' }).click();
  await plain.selectOption('select[name=as_policy]', 'strict');
  await plain.getByRole('button', { name: 'Read again' }).click();
  holds('gist', await plain.locator('#gist').textContent(), 'refused');
  await plain.context().close();
});

// Another process writes to the same store: a session at a terminal, whose user says yes.
async function agent(says, session) {
  // Its tools stand in the words of its requests.
  const config = `${task.kept}/agent.toml`;
  await writeFile(config, '[[models]]\npattern = "scripted"\nmode = "prompt"\n');
  const args = ['chat', '--config', config, '--upstream', `${task.upstream}/v1`, '--model', 'scripted', '--policy', 'feedback',
    '--session', session, '--store', task.store, '--workspace', task.workspace];
  const env = { ...process.env, XDG_STATE_HOME: `${task.kept}/state` };
  const running = spawn(task.callwright, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  running.stdout.on('data', (piece) => { said += piece; });
  running.stdin.end(`${says}\ny\n`);
  const code = await new Promise((resolve) => running.once('close', resolve));
  if (code !== 0) throw new Error(`the agent ended with ${code}: ${said}`);
}

// What an agent did: its calls, who allowed them, what came of them.
await look('agent', async (same, holds) => {
  await agent('Let the agent write.', 'agent-one');
  await page.goto(at('agent-one'));
  holds('facts', await page.locator('#facts').textContent(), 'agent');
  const kinds = await page.locator('#nodes .kind').allTextContents();
  same('kinds', kinds, ['⚙system', '✎note', '●user', '✦model turn', '⚠validation error', '✦model turn', '✓tool call',
    '✎note', '◇intent', '◈effect', '↩tool result', '✦model turn', '✓tool call', '◇intent', '◈effect', '↩tool result',
    '✦model turn', '✎note']);
  const told = await page.locator('#nodes .told').allTextContents();
  same('each says something', told.filter((text) => text.trim() === ''), []);
  holds('approval', told[7], 'approved: fsWrite {"path": "a.txt"');
  same('intent', told[8], '{"path": "a.txt", "content": "<b>x</b>"}');
  holds('effect', told[9], 'done after');
  holds('failed effect', told[14], 'failed after');
  const view = async (number) => {
    await page.goto(at('agent-one', `&node=${number}`));
    same(`empty boxes of node ${number}`, (await page.locator('.node-view pre').allTextContents()).filter((text) => !text.trim()), []);
    return page.locator('.node-view').textContent();
  };
  holds('settings', await view(2), '"max_turns": 50');
  holds('told', await view(5), 'This went to the model as its next turn:');
  holds('intent', await view(9), '"content": "<b>x</b>"');
  holds('result', await view(11), '"written": "a.txt"');
  holds('error', await view(16), 'error');
  same('is marked', await page.locator('.node-view .badge.refused').textContent(), 'error');
  await page.goto(at('agent-one', '&node=4&tab=feedback'));
  holds('feedback', await page.locator('.node-view pre').textContent(), 'Tool Call JSON Error');
  await page.goto(at('agent-one', '&node=6&tab=arguments'));
  holds('definition', await page.locator('.node-view').textContent(), 'The tools stand in the words of the request.');
  // S4-50
  await page.goto(`${task.url}/statistics`);
  const row = page.locator('table.fixed tr', { hasText: 'scripted, feedback' });
  same('put right', await row.locator('td').allTextContents(), ['1', '100.0 %', '100.0 %', '100.0 %', '100.0 %', '100.0 %']);
  const narrow = await open({ viewport: { width: 400, height: 800 } });
  for (const url of [at('agent-one', '&node=9'), at('agent-one', '&node=11'), `${task.url}/statistics`]) {
    await narrow.goto(url);
    same(`${url} is too wide by`, await isWide(narrow), 0);
  }
  await narrow.context().close();
});

for (const hostile of task.hostile) {
  await look(`hostile-${hostile.name}`, async (same) => {
    const mark = (text) => text?.replaceAll('RAN', 'globalThis.ran=1');
    const session = mark(hostile.session) ?? `hostile ${hostile.name}`;
    const status = await chat(`case ${hostile.name} <script>globalThis.ran=1</script>"'>`, {
      session, policy: hostile.policy, model: mark(hostile.model), tools: hostile.tools?.map(mark),
    });
    await sessions((all) => all.some((one) => one.id === session));
    const { nodes } = await (await fetch(`${task.url}/api/sessions?limit=1`)).json().then(({ sessions: [one] }) => one);
    const tabs = ['raw', 'diff', 'arguments', 'feedback', 'upstream', 'what-if', 'curl', 'case'];
    const urls = [task.url, `${task.url}/statistics`, at(session)];
    for (let node = 1; node <= nodes; node += 1) {
      urls.push(at(session, `&node=${node}`));
      if (node === 2) urls.push(...tabs.map((tab) => at(session, `&node=2&tab=${tab}`)));
    }
    same('status', status < 500, true);
    for (const url of urls) {
      await page.goto(url);
      const found = await page.evaluate(() => ({
        ran: globalThis.ran ?? 0,
        scripts: document.scripts.length,
        foreign: document.querySelectorAll('img, iframe, object, embed, base, math, svg:not(.bar, .columns, .swatch), a[href^="javascript:"], a[href^="data:"]').length,
        handlers: [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => /^on|^style$/.test(a.name))).length,
        hidden: /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/.test(document.body.textContent),
      }));
      same(url, found, { ran: 0, scripts: 1, foreign: 0, handlers: 0, hidden: false });
      // The names that a stranger gave are links that lead where they should.
      same(`${url} stays`, new URL(page.url()).origin, task.url);
    }
    const shared = await open();
    await shared.setContent(await (await fetch(`${task.url}/session/share?id=${encodeURIComponent(session)}`)).text());
    same('shared', await shared.evaluate(() => [globalThis.ran ?? 0, document.scripts.length, document.images.length]), [0, 0, 0]);
    await shared.context().close();
  });
}

// The page to try it: from the gateway, without a script; and as files, with WebAssembly. Both show the same.
async function tried(base, same, holds, shots) {
  const own = await open();
  await own.goto(base);
  same('first', await own.locator('#read h2').textContent(), '1 call, 3 repairs');
  same('struck', await own.locator('#read pre.raw').first().locator('del').allTextContents(), ['"', '"', ',']);
  await own.getByRole('link', { name: 'A call cut short' }).click();
  await own.locator('#read .badge[title=truncated]', { hasText: 'cut off' }).waitFor();
  same('ending', await own.locator('select[name=finish]').inputValue(), 'length');
  holds('feedback', await own.locator('#read').textContent(), 'What the model is told');
  await own.getByRole('link', { name: 'Quotes in code' }).click();
  await own.locator('#read h2', { hasText: '1 call' }).waitFor();
  await own.selectOption('select[name=policy]', 'strict');
  await own.getByRole('button', { name: 'Read' }).click();
  await own.locator('#read h2', { hasText: '1 refused' }).waitFor();
  // A link opens just what is seen, elsewhere.
  const link = await own.locator('#link').getAttribute('href');
  const other = await open({ viewport: { width: 400, height: 800 }, colorScheme: 'dark' });
  await other.goto(new URL(link, base).href);
  await other.locator('#read h2').waitFor();
  same('read', await other.locator('#read').innerHTML(), await own.locator('#read').innerHTML());
  same('policy', await other.locator('select[name=policy]').inputValue(), 'strict');
  same('too wide by', await isWide(other), 0);
  await shot(other, `${shots}-narrow-dark`);
  await other.context().close();
  const texts = new Set(task.hostile.map((one) => one.text ?? JSON.stringify(one.tool_calls)));
  for (const text of [...texts].map((one) => one.replaceAll('RAN', 'globalThis.ran=1'))) {
    await own.fill('textarea[name=answer]', text);
    await own.fill('textarea[name=tools]', `[{"name": "run_code", "description": ${JSON.stringify(text)}}]`);
    const before = own.url();
    await own.getByRole('button', { name: 'Read' }).click();
    await own.waitForURL((url) => url.href !== before);
    await own.locator('#read').waitFor();
    same('hostile', await own.evaluate(() => [globalThis.ran ?? 0, document.scripts.length, document.querySelectorAll('img, iframe, object, embed, base').length]), [0, 1, 0]);
  }
  await own.goto(base);
  await own.locator('#read h2').waitFor();
  await shot(own, `${shots}-wide-light`);
  // The gateway's own script puts buttons in.
  const markup = await own.locator('#read').evaluate((read) => {
    for (const button of read.querySelectorAll('.copy')) button.remove();
    return read.innerHTML;
  });
  await own.context().close();
  return markup;
}

let served;
await look('try', async (same, holds) => {
  const still = await open({ javaScriptEnabled: false });
  await still.goto(`${task.url}/try`);
  await still.getByRole('link', { name: 'A tool that does not exist' }).click();
  holds('without a script', await still.locator('#read').textContent(), 'unknown');
  await still.context().close();
  served = await tried(`${task.url}/try`, same, holds, 'try');
});

if (existsSync(task.site)) {
  const kinds = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml', '.wasm': 'application/wasm' };
  const files = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname.replace(/\/$/, '/index.html');
    const isPackage = path.startsWith('/package/');
    const body = await readFile(isPackage ? join(task.package, path.slice(8)) : join(task.site, path)).catch(() => undefined);
    response.writeHead(body ? 200 : 404, { 'content-type': kinds[extname(path)] ?? 'text/plain' }).end(body);
  });
  await new Promise((resolve) => files.listen(0, '127.0.0.1', resolve));
  await look('site', async (same, holds) => {
    const markup = await tried(`http://127.0.0.1:${files.address().port}/`, same, holds, 'site');
    same('the same page', markup, served);
  });
  // The npm package, as a page has it that no bundler made: an import map stands for the conditions of package.json.
  if (existsSync(task.package)) await look('package', async (same) => {
    const own = await open();
    await own.route('**/own.html', (route) => route.fulfill({
      contentType: 'text/html',
      body: '<script type="importmap">{"imports": {"callwright": "/package/index.js", "#callwright.wasm": "/package/load/web-callwright.js"}}</script>',
    }));
    await own.goto(`http://127.0.0.1:${files.address().port}/own.html`);
    same('value', await own.evaluate(async () => {
      const { loads, parse } = await import('callwright');
      const { calls: [call] } = parse("Sure. <tool_call>{'name': 'ping'}</tool_call>", [{ name: 'ping' }]);
      return [loads("{'city': 'Paris', days: 3,}"), call.name];
    }), [{ city: 'Paris', days: 3 }, 'ping']);
    await own.context().close();
  });
  files.close();
}

await browser.close();
console.log('done');
process.exit(0);
