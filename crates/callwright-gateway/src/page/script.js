// Keeps the page fresh, and adds what only a script can do. Without it everything else works.
'use strict';

(() => {
  const status = document.querySelector('.live');

  // What may have changed, by id: replaced by the same part of a page that is fetched anew. The node that is being
  // read stays as it is.
  const PARTS = ['sessions', 'facts', 'timeline', 'counted'];
  // Where much happens, a list is fetched so often, and counts less often.
  const PAUSE = document.getElementById('counted') ? 2000 : 200;
  let timer = 0;

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

  for (const text of document.querySelectorAll('pre[data-copy]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = 'Copied';
      } catch {
        // Not allowed: then it is chosen, to be copied by hand.
        getSelection().selectAllChildren(text);
      }
    });
    text.before(button);
  }

  // j and k go through the nodes, or where none are, the sessions.
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !['j', 'k'].includes(event.key)) return;
    if (event.target.closest('input, select, textarea')) return;
    const links = [...document.querySelectorAll(document.getElementById('nodes') ? '#nodes a' : '#sessions a.session')];
    if (links.length === 0) return;
    let at = links.indexOf(document.activeElement);
    if (at < 0) at = links.findIndex((link) => link.hasAttribute('aria-current'));
    at = event.key === 'j' ? Math.min(at + 1, links.length - 1) : Math.max(at - 1, 0);
    links[at].focus();
  });
})();
