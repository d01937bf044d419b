// Shows what the engine makes of the address behind the `#`: the same page that the gateway has at /try, made in the browser.
import init, { try_it } from "./wasm/try.js";

await init({ module_or_path: new URL("./wasm/try_bg.wasm", import.meta.url) });

const page = document.getElementById("page");

/** Puts these parts of the page in anew, or all of it. What comes out of `try_it` holds no text as markup. */
function show(...parts) {
  const fresh = document.createElement("template");
  fresh.innerHTML = try_it(location.hash.slice(1));
  for (const id of parts) document.getElementById(id).replaceWith(fresh.content.getElementById(id));
  if (parts.length === 0) page.replaceChildren(fresh.content);
}

page.addEventListener("submit", (event) => {
  event.preventDefault();
  history.pushState(null, "", `#${new URLSearchParams(new FormData(event.target))}`);
  // What is being written stays as it is.
  show("read", "link");
});
addEventListener("popstate", () => show());
show();
