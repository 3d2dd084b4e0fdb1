import { flushSync } from 'svelte';
import { describe, expect, test } from 'vitest';
import { sampleSummary } from '../../../../tests/support/sample-skills.ts';
import type { SkillSummary } from '../../shared/skills.ts';
import { CompletionMenu } from './completion.svelte.ts';

const named = (name: string): SkillSummary => sampleSummary({ id: name, name, mode: 'auto', status: 'ready' });

function setup(skills: () => SkillSummary[] = () => []) {
	let library = $state.raw(skills());
	const menu = new CompletionMenu({ commands: () => [], skills: () => library, readFiles: async () => [] });
	return {
		menu,
		arrive(more: SkillSummary[]) {
			library = more;
			flushSync();
		}
	};
}

describe('F7: the list of names', () => {
	test('has its first name ready, though the skills come after it was written', () => {
		const { menu, arrive } = setup();
		menu.look('use $keep', 9);
		expect(menu.isOpen).toBe(false);
		arrive([named('word-keeper'), named('other-keeper')]);
		expect(menu.list).toHaveLength(2);
		expect(menu.active).toBe(menu.list[0]);
	});

	test('goes round, and begins anew with another name', () => {
		const { menu } = setup(() => [named('word-keeper'), named('other-keeper')]);
		menu.look('$keep', 5);
		menu.move('next');
		expect(menu.activeIndex).toBe(1);
		menu.move('next');
		expect(menu.activeIndex).toBe(0);
		menu.visit(1);
		menu.look('$keepe', 6);
		expect(menu.activeIndex).toBe(0);
	});
});
