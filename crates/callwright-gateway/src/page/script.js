// Keeps the page fresh, and adds what only a script can do. Without it everything else works.
'use strict';

(() => {
  const status = document.querySelector('.live');

  // What may have changed, by id: replaced by the same part of a page that is fetched anew. The node that is being
  // read stays as it is.
  const PARTS = ['sessions', 'facts', 'timeline', 'counted'];
  // Where much happens, a list is fetched so often, and what is counted less often.
  const PAUSE = document.querySelector('#counted, .sums') ? 1000 : 200;
  let timer = 0;

  function offerCopies(within) {
    for (const text of within.querySelectorAll('[data-copy]')) {
      const button = document.createElement('button');
      const says = text.dataset.copy || 'Copy';
      button.type = 'button';
      button.className = 'copy';
      button.textContent = says;
      button.addEventListener('click', async () => {
        try {
          await navigator.clipboard.writeText(text.textContent);
          button.textContent = 'Copied';
          setTimeout(() => { button.textContent = says; }, 2000);
        } catch {
          // Not allowed: then it is chosen, to be copied by hand.
          getSelection().selectAllChildren(text);
        }
      });
      if (text.matches('pre')) text.before(button); else text.after(' ', button);
    }
  }
  offerCopies(document);

  // Each column scrolls by itself, and is where it was when the next page is the same session's.
  const COLUMNS = ['.list', '.timeline'];
  const places = (() => { try { return JSON.parse(sessionStorage.getItem('columns')) ?? {}; } catch { return {}; } })();
  for (const column of COLUMNS) {
    const element = document.querySelector(column);
    if (!element) continue;
    element.scrollTop = places[column] ?? 0;
    element.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }
  const timeline = document.getElementById('timeline');
  timeline?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  // What is brought into sight in a column must not move the page beside it.
  if (document.querySelector('main.columns') && !location.hash) scrollTo(0, 0);
  addEventListener('pagehide', () => {
    const now = COLUMNS.map((column) => [column, document.querySelector(column)?.scrollTop ?? 0]);
    try { sessionStorage.setItem('columns', JSON.stringify(Object.fromEntries(now))); } catch { /* It is forbidden here. */ }
  });

  async function refresh() {
    timer = 0;
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const id of PARTS) {
      const [now, then] = [fresh.getElementById(id), document.getElementById(id)];
      if (!now || !then || now.innerHTML === then.innerHTML) continue;
      const focused = then.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
      const top = then.scrollTop;
      then.replaceWith(now);
      now.scrollTop = top;
      offerCopies(now);
      if (focused) [...now.querySelectorAll('a')].find((a) => a.getAttribute('href') === focused)?.focus();
    }
  }

  function soon() {
    timer ||= setTimeout(() => refresh().catch(() => {}), PAUSE);
  }

  if (document.body.dataset.live && PARTS.some((id) => document.getElementById(id))) {
    const events = new EventSource('/api/events');
    events.onopen = () => { status.textContent = 'live'; soon(); };
    events.onerror = () => { status.textContent = ''; };
    events.onmessage = soon;
    events.addEventListener('missed', soon);
  }

  // The same steps as the server's.
  function since(ms) {
    const seconds = Math.floor(ms / 1000);
    const steps = [[31536000, 'years'], [2592000, 'months'], [86400, 'd'], [3600, 'h'], [60, 'min'], [10, 's']];
    const [length, unit] = steps.find(([least]) => least <= seconds) ?? [];
    return unit ? `${Math.floor(seconds / (unit === 's' ? 1 : length))} ${unit} ago` : 'just now';
  }
  setInterval(() => {
    for (const time of document.querySelectorAll('time.ago')) {
      const text = since(Date.now() - Date.parse(time.dateTime));
      if (time.textContent !== text) time.textContent = text;
    }
  }, 10_000);

  // j and k go through the nodes, or where none are, the sessions; / searches.
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !['j', 'k', '/'].includes(event.key)) return;
    if (event.target.closest('input, select, textarea')) return;
    if (event.key === '/') {
      const field = document.querySelector('.search input[type=search]');
      if (field) { event.preventDefault(); field.focus(); field.select(); }
      return;
    }
    const links = [...document.querySelectorAll(document.getElementById('nodes') ? '#nodes a' : '#sessions a.session')];
    if (links.length === 0) return;
    let at = links.indexOf(document.activeElement);
    if (at < 0) at = links.findIndex((link) => link.hasAttribute('aria-current'));
    at = event.key === 'j' ? Math.min(at + 1, links.length - 1) : Math.max(at - 1, 0);
    links[at].focus();
  });
})();
