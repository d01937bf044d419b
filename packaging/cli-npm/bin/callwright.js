#!/usr/bin/env node
// Runs the binary of this system. What it is told and how it ends goes through: arguments, streams, signals, exit code.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

const NAME = `@callwright/cli-${process.platform}-${process.arch}`;

let binary;
try {
  binary = createRequire(import.meta.url).resolve(`${NAME}/bin/callwright`);
} catch {
  console.error(
    `callwright: the package ${NAME} is not installed. There are packages for Linux and macOS, on x64 and arm64; ` +
      "npm leaves them out with --omit=optional, and where node_modules were copied from another system.",
  );
  // What a shell says of a command that it does not find.
  process.exit(127);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"]) {
  process.on(signal, () => {
    // At a terminal a key reaches the command as well: told twice, it would not end in order.
    const isByKey = process.stdin.isTTY && (signal === "SIGINT" || signal === "SIGQUIT");
    if (!isByKey) {
      child.kill(signal);
    }
  });
}
child.on("error", (error) => {
  console.error(`callwright: ${binary} does not start: ${error.message}`);
  process.exit(126);
});
child.on("exit", (code, signal) => {
  process.exit(signal === null ? code : 128 + constants.signals[signal]);
});
