/** docs/running.md: its tables have every setting, with the default from .env.example. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('docs/running.md has every setting of .env.example once, with its default, and no others', () => {
	const settings = [...read('.env.example').matchAll(/^# ([A-Z][A-Z0-9_]+)=(.*)$/gm)];
	const rows = [...read('docs/running.md').matchAll(/^\| `([A-Z][A-Z0-9_]+)` \| (?:`(.*?)`)? ?\| \S.*\|$/gm)];
	const byName = (found: RegExpMatchArray[]) => found.map(([, name, value = '']) => `${name}=${value}`).toSorted();
	expect(settings.length).toBeGreaterThan(50);
	expect(byName(rows)).toEqual(byName(settings));
});
