// A server of files, a browser without a window, a list of what was right.
//
// Chromium: Debian's package `chromium`, or another one by CHROMIUM=path. Packages of npm are found through NODE_PATH.

import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';

const require = createRequire(import.meta.url);
export const { PNG } = require('pngjs');
const puppeteer = require('puppeteer-core').default ?? require('puppeteer-core');

// The folder of a package; some hide their own description, by which it is usually found.
export function packageFolder(name) {
  const found = require.resolve.paths(name).map((f) => join(f, name)).find((f) => existsSync(f));
  if (!found) throw new Error(`no package ${name} on NODE_PATH`);
  return found;
}

const counts = { passed: 0, failed: 0 };

export function report(isGood, text) {
  counts[isGood ? 'passed' : 'failed'] += 1;
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${text}`);
}

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm' };

// Serves a folder, three.js under /three/, and what `own` has: path -> content. `change(path, bytes)` may alter what is on its way.
async function serve(folder, own, change) {
  const answer = (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    const file = path.startsWith('/three/') ? join(packageFolder('three'), path.slice(7)) : join(folder, path);
    try {
      const found = own(path) ?? readFileSync(file);
      const type = TYPES[extname(path)] ?? 'application/octet-stream';
      response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' });
      response.end(change(path, found));
    } catch (error) {
      if (path !== '/favicon.ico') console.log(`       ${path}: ${error.message}`);
      response.writeHead(path === '/favicon.ico' ? 204 : 404).end();
    }
  };
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  return server;
}

// Runs `checks({ page, base })` in a browser whose page has `width` and `height` pixels and which sees the files of a folder, then says how many
// were right; that is the exit code, too.
export async function inBrowserOn(folder, { width, height }, checks, { own = () => null, change = (_, bytes) => bytes, onMessage = () => {} } = {}) {
  const server = await serve(folder, own, change);
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
      '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan', '--force-color-profile=srgb'],
  });
  try {
    const page = await browser.newPage();
    page.on('console', (message) => onMessage(message.type(), message.text()));
    page.on('pageerror', (error) => onMessage('error', error.message));
    await page.setViewport({ width, height });
    await checks({ page, base: `http://127.0.0.1:${server.address().port}` });
  } catch (error) {
    report(false, error.stack);
  } finally {
    await browser.close();
    server.close();
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
}
