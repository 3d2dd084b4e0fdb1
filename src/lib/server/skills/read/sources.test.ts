import { expect, test } from 'vitest';
import { labelRoots } from './folder-walk.ts';

test('A27: roots have labels of their own, that say where they are', () => {
	const labels = (roots: Parameters<typeof labelRoots>[0]) => labelRoots(roots).map(({ source }) => source);
	expect(labels(['/p/skills', '/p/.agents/skills', '/p/.claude/skills'])).toEqual(['skills', 'agents', 'claude']);
	expect(labels(['/a/skills', '/b/skills', '/b/.claude/skills', '/home/.claude/skills'])).toEqual([
		'skills',
		'skills-2',
		'claude',
		'claude-2'
	]);
	expect(labels([{ path: '/x', source: 'mine' }, '/mine'])).toEqual(['mine', 'mine-2']);
	expect(labels(['/mine', { path: '/x', source: 'mine' }])).toEqual(['mine-2', 'mine']);
	expect(labels(['/', '/my skills@home'])).toEqual(['root', 'my-skills-home']);
});
test('A27, E2: no label is that of the server’s own skills of a key’s or of a draft, nor a sign of ids', () => {
	const labels = labelRoots([
		'/builtin',
		'/a/builtin',
		'/key.0123456789abcdef01234567',
		'/draft.trial',
		'/unsaved.mine',
		'/draft',
		'/~install',
		'/a/install',
		'/~'
	]);
	expect(labels.map(({ source }) => source)).toEqual([
		'builtin-2',
		'builtin-3',
		'key-0123456789abcdef01234567',
		'draft-trial',
		'unsaved-mine',
		'draft',
		'install',
		'install-2',
		'root'
	]);
});
