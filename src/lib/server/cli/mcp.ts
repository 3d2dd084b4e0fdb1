/** `npm run mcp`. Reading some hundred sources takes half of its start: compiled once, they are kept. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '../../../../node_modules/.cache/compiled'));
await import('./serve-mcp.ts');
