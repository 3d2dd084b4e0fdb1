/** `npm run mcp`. Reading some hundred sources takes half of its start: compiled once, they are kept. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Wherever a client starts it from: it has the settings, data and skills that server.js has.
process.chdir(join(import.meta.dirname, '../../../..'));
enableCompileCache('node_modules/.cache/compiled');
await import('./serve-mcp.ts');
