import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mcpToolOf } from '../../shared/names.ts';
import { toolName } from './listing.ts';

test('E36: a tool is called by its server and its own name', () => {
	expect(toolName('github', 'create_issue')).toBe('mcp__github__create_issue');
	expect(mcpToolOf('mcp__github__create_issue')).toEqual({ server: 'github', tool: 'create_issue' });
	expect(mcpToolOf('use_skill')).toBeNull();
});

test('E36: a name that is too long or odd is shortened, the same each time', () => {
	const name = toolName('a-server', 'x'.repeat(200));
	expect(name).toHaveLength(64);
	expect(toolName('a-server', 'x'.repeat(200))).toBe(name);
	expect(toolName('a-server', 'x'.repeat(201))).not.toBe(name);
	expect(toolName('s', 'über die/welt')).toMatch(/^mcp__s___ber_die_welt_[0-9a-f]{8}$/);
});

test('E36: no two tools have one name, and every name is one that models’ servers take', () => {
	expect(toolName('a__b', 'c')).not.toBe(toolName('a', 'b__c'));
	expect(toolName('a_', 'b')).not.toBe(toolName('a', '_b'));
	const server = fc.string({ unit: fc.constantFrom('a', 'b', '_', '-'), minLength: 1, maxLength: 6 });
	const tool = fc.string({ unit: fc.constantFrom('a', 'b', '_', '-', '.', 'é'), minLength: 1, maxLength: 6 });
	fc.assert(
		fc.property(server, tool, server, tool, (serverA, toolA, serverB, toolB) => {
			const [a, b] = [toolName(serverA, toolA), toolName(serverB, toolB)];
			expect(a).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
			expect(a === b).toBe(serverA === serverB && toolA === toolB);
		})
	);
});
