/** `npm run mcp`. Compiling several hundred sources takes half the start, so the result is cached. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Same settings, data and skills as server.js, wherever a client starts it.
process.chdir(join(import.meta.dirname, '../../../..'));
enableCompileCache('node_modules/.cache/compiled');
await (await import('./serve-stdio.ts')).serveStdio('mcp');
