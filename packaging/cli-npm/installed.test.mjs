// npm's packages of the command, installed without a registry. `CALLWRIGHT_PACKAGES` names their folder.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";

const packages = process.env.CALLWRIGHT_PACKAGES;
const tarballs = readdirSync(packages).filter((name) => name.endsWith(".tgz"));
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8"));
const finder = `callwright-cli-${version}.tgz`;

const folders = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** An empty folder with these packages in it, and the path of the command there. */
function installed(names, ...options) {
  const folder = mkdtempSync(join(tmpdir(), "callwright-installed-"));
  folders.push(folder);
  writeFileSync(join(folder, "package.json"), "{}");
  const paths = names.map((name) => join(packages, name));
  const install = ["install", "--offline", "--no-audit", "--no-fund", "--loglevel", "error", ...options, ...paths];
  execFileSync("npm", install, { cwd: folder });
  return join(folder, "node_modules/.bin/callwright");
}

const command = installed(tarballs);
const home = mkdtempSync(join(tmpdir(), "callwright-home-"));
folders.push(home);
const env = { PATH: process.env.PATH, HOME: home };

test("there is a package of this system, and one that finds it", () => {
  assert.deepEqual(tarballs.sort(), [finder, `callwright-cli-${process.platform}-${process.arch}-${version}.tgz`].sort());
});

test("each package has the licences, and runs nothing when it is installed", () => {
  for (const tarball of tarballs) {
    const path = join(packages, tarball);
    const names = execFileSync("tar", ["-tzf", path], { encoding: "utf8" });
    assert.match(names, /^package\/LICENSE-MIT$/m);
    assert.match(names, /^package\/LICENSE-APACHE$/m);
    const manifest = JSON.parse(execFileSync("tar", ["-xzOf", path, "package/package.json"], { encoding: "utf8" }));
    assert.equal(manifest.scripts, undefined);
    assert.equal(manifest.version, version);
  }
});

test("the packages of the systems are of one version", () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8"));
  assert.deepEqual([...new Set(Object.values(optionalDependencies))], [version]);
  assert.equal(version, JSON.parse(readFileSync(join(import.meta.dirname, "../../js/package.json"), "utf8")).version);
});

test("the command runs, with its streams and its exit code", () => {
  const run = (args, input) => spawnSync(command, args, { env, input, encoding: "utf8" });
  assert.equal(run(["--version"]).stdout, `callwright ${version}\n`);
  const { status, stdout } = run(["heal"], "{'n': 3,}");
  assert.deepEqual([status, JSON.parse(stdout)], [0, { n: 3 }]);
  assert.equal(run(["no-such-command"]).status, 2);
});

/** A gateway that listens, its address, and how it ends: its code, or the signal that killed it. */
async function serving() {
  const flags = ["--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:9/v1", "--store", "off"];
  const child = spawn(command, ["serve", ...flags], { env, stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith("listening on ")) {
      return { child, ended, url: line.slice("listening on ".length) };
    }
  }
  throw new Error("it does not listen");
}

for (const signal of ["SIGTERM", "SIGINT"]) {
  test(`${signal} reaches the command`, { timeout: 30_000 }, async () => {
    const { child, ended, url } = await serving();
    assert.equal((await fetch(`${url}/livez`, { headers: { connection: "close" } })).status, 200);
    child.kill(signal);
    // It ends in order: the code of one that was killed would be 128 and more.
    assert.equal(await ended, 0);
    await assert.rejects(fetch(`${url}/livez`));
  });
}

test("a command that is killed has the code that a shell gives", { timeout: 30_000 }, async () => {
  const { child, ended } = await serving();
  process.kill(Number(execFileSync("pgrep", ["-P", String(child.pid)], { encoding: "utf8" })), "SIGKILL");
  assert.equal(await ended, 128 + 9);
});

test("without the package of the system it says what is missing", () => {
  const { status, stderr } = spawnSync(installed([finder], "--omit=optional"), ["--version"], { env, encoding: "utf8" });
  assert.equal(status, 127);
  assert.match(stderr, new RegExp(`@callwright/cli-${process.platform}-${process.arch} is not installed`));
});
