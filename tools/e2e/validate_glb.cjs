// Runs the Khronos validator: node validate_glb.cjs FILE...   (NODE_PATH must lead to gltf-validator)
// Prints a line of counts per file; exit status 1 where a file has errors, 2 where one cannot be read.
"use strict";
const fs = require("fs");
const path = require("path");
const validator = require("gltf-validator");

const SHOWN = 5;

async function validate(file) {
  const folder = path.dirname(file);
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
    uri: path.basename(file),
    maxIssues: 0, // all
    externalResourceFunction: (uri) =>
      Promise.resolve(new Uint8Array(fs.readFileSync(path.join(folder, decodeURIComponent(uri))))),
  });
  const n = report.issues;
  console.log(
    `${file}: ${n.numErrors} errors, ${n.numWarnings} warnings, ${n.numInfos} infos, ${n.numHints} hints`
  );
  const byCode = new Map();
  for (const issue of n.messages.filter((m) => m.severity <= 1)) {
    const seen = byCode.get(issue.code) || { count: 0, issue };
    seen.count += 1;
    byCode.set(issue.code, seen);
  }
  for (const { count, issue } of [...byCode.values()].slice(0, SHOWN)) {
    const kind = issue.severity === 0 ? "error" : "warning";
    console.log(`  ${kind} ${issue.code} x${count}, first at ${issue.pointer}: ${issue.message}`);
  }
  return n.numErrors;
}

(async () => {
  const files = process.argv.slice(2);
  if (files.length === 0) {
    console.error("usage: node validate_glb.cjs FILE...");
    process.exit(2);
  }
  let errors = 0;
  for (const file of files) {
    errors += await validate(file);
  }
  process.exit(errors > 0 ? 1 : 0);
})().catch((error) => {
  console.error(String(error));
  process.exit(2);
});
