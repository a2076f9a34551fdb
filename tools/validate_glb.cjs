// Runs the Khronos glTF validator on GLB files: node tools/validate_glb.cjs FILE...
// NODE_PATH names the folder that holds the npm package gltf-validator.
// Prints the counts and the findings grouped by code; exits with 1 where a file has errors.
'use strict';
const fs = require('fs');
const path = require('path');
const validator = require('gltf-validator');

async function check(file) {
  const bytes = new Uint8Array(fs.readFileSync(file));
  const report = await validator.validateBytes(bytes, { uri: path.basename(file), maxIssues: 100000 });
  const { numErrors, numWarnings, numInfos, numHints, messages } = report.issues;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} infos, ${numHints} hints`);
  const groups = new Map();
  for (const m of messages) {
    const group = groups.get(m.code) || { count: 0, first: m };
    group.count += 1;
    groups.set(m.code, group);
  }
  for (const [code, { count, first }] of groups) {
    console.log(`  ${count} x ${code} (severity ${first.severity}): ${first.message} at ${first.pointer || first.offset}`);
  }
  return numErrors;
}

(async () => {
  let errors = 0;
  for (const file of process.argv.slice(2)) {
    errors += await check(file);
  }
  process.exit(errors > 0 ? 1 : 0);
})().catch((e) => {
  console.error(String(e));
  process.exit(1);
});
