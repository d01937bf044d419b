#!/usr/bin/env node
// Packs what npm publishes of the command, here: packaging/cli-npm/pack.mjs [TARGET BINARY]
//
// With a binary it packs the package of that system, and without one `@callwright/cli`, which finds it.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const HERE = import.meta.dirname;
const ROOT = join(HERE, "../..");

// Node's words for the system and the processor of each target.
const SYSTEMS = {
  "x86_64-unknown-linux-musl": ["linux", "x64"],
  "x86_64-unknown-linux-gnu": ["linux", "x64"],
  "aarch64-unknown-linux-musl": ["linux", "arm64"],
  "aarch64-unknown-linux-gnu": ["linux", "arm64"],
  "x86_64-apple-darwin": ["darwin", "x64"],
  "aarch64-apple-darwin": ["darwin", "arm64"],
};

const [target, binary] = process.argv.slice(2);
if (target !== undefined && (binary === undefined || !(target in SYSTEMS))) {
  console.error(`usage: pack.mjs [TARGET BINARY], with a TARGET of ${Object.keys(SYSTEMS).join(", ")}`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "callwright-npm-"));
try {
  fill(folder);
  for (const license of ["LICENSE-MIT", "LICENSE-APACHE"]) {
    cpSync(join(ROOT, license), join(folder, license));
  }
  const packed = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", folder], { encoding: "utf8" });
  console.log(packed.trim());
} finally {
  rmSync(folder, { recursive: true });
}

function fill(folder) {
  mkdirSync(join(folder, "bin"));
  if (target === undefined) {
    for (const file of ["package.json", "README.md", "bin/callwright.js"]) {
      cpSync(join(HERE, file), join(folder, file));
    }
    return;
  }
  const [os, cpu] = SYSTEMS[target];
  const whole = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));
  const { version, license, repository } = whole;
  const manifest = {
    name: `@callwright/cli-${os}-${cpu}`,
    version,
    description: `The binary of @callwright/cli for ${os} on ${cpu}.`,
    license,
    repository,
    os: [os],
    cpu: [cpu],
    files: ["bin", "LICENSE-*"],
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, "README.md"), `# ${manifest.name}\n\n${manifest.description} Install \`@callwright/cli\`.\n`);
  cpSync(binary, join(folder, "bin/callwright"));
  chmodSync(join(folder, "bin/callwright"), 0o755);
}
