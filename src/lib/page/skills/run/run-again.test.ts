import { expect, test } from 'vitest';
import { sampleDetail, sampleExecution } from '../../../../../tests/support/sample-skills.ts';
import { namedInHash, presetOf, purposeOf, runnablesOf, runPage, runScriptPage } from './scripts.ts';
import { tabOf } from '../skill-words.ts';

const skill = sampleDetail({ skillId: 'installed/demo', scripts: ['scripts/a/b.sh', 'scripts/x.sh'], tools: ['add'] });

test('F6: an address names a run by its id, and the tab of the form', () => {
	const { pathname, hash } = new URL(runPage('installed/demo', 'e 1&x'), 'http://host');
	expect([pathname, tabOf(hash), namedInHash(hash, 'execution')]).toEqual(['/skills/installed/demo', 'run', 'e 1&x']);
	expect(runPage('demo')).toBe('/skills/demo#run');
	const hashes = ['', '#run', '#run?execution=', '#run?script=rm', '#run?execution=%'];
	expect(hashes.map((each) => namedInHash(each, 'execution'))).toEqual([null, null, null, null, '%']);
	const script = new URL(runScriptPage('demo', 'scripts/a b.sh'), 'http://host');
	expect([tabOf(script.hash), namedInHash(script.hash, 'script')]).toEqual(['run', 'scripts/a b.sh']);
});

test('F6: the form begins as the run did', () => {
	const argv = ['two words', '7'];
	expect(presetOf(sampleExecution({ argv }), skill)).toEqual({ index: 0, text: 'two words\n7' });
	const tool = sampleExecution({ tool: 'add', script: null, input: '{"a":1}' });
	expect(presetOf(tool, skill)).toEqual({ index: 2, text: '{\n  "a": 1\n}' });
});

test('F6: scripts come as SKILL.md names them, those it doesn’t name last', () => {
	const text = 'Run `scripts/tide.mjs HH:MM`. Then scripts/broken.mjs. No a.mjs here.';
	const scripts = ['scripts/and.a.mjs', 'scripts/broken.mjs', 'scripts/tide.mjs'];
	const named = sampleDetail({ scripts, files: [{ path: 'SKILL.md', bytes: text.length, text }] });
	expect(runnablesOf(named).map(({ name }) => name)).toEqual([
		'scripts/tide.mjs',
		'scripts/broken.mjs',
		'scripts/and.a.mjs'
	]);
});

test('F6: what other scripts import isn’t offered, unless there is nothing else', () => {
	const named = (scripts: string[]) => runnablesOf(sampleDetail({ scripts, tools: [] })).map(({ name }) => name);
	const parts = ['lib/chart.mjs', 'scripts/_shared.py', 'scripts/lib/read.py', 'scripts/utils.py', 'vendor/x.mjs'];
	expect(named([...parts, 'scripts/office/unpack.py', 'scripts/run.py'])).toEqual([
		'scripts/run.py',
		'scripts/office/unpack.py'
	]);
	expect(named(['helpers/a.py', 'run.py'])).toEqual(['run.py']);
	expect(named(['lib/chart.mjs'])).toEqual(['lib/chart.mjs']);
});

test('F6: a run of unsaved text is one of its skill', () => {
	expect(presetOf(sampleExecution({ skillId: 'unsaved.installed/demo', argv: ['a'] }), skill)?.text).toBe('a');
});

test.each([
	['an argument of two lines', { argv: ['a\nb'] }],
	['an empty argument', { argv: ['a', ''] }],
	['a sign that nobody sees', { argv: ['a\u202eb'] }],
	['an input that was cut off', { tool: 'add', input: '{"a": "x' }]
])('F6: %s is left to be written', (_, more) => {
	expect(presetOf(sampleExecution(more), skill)?.text).toBeNull();
});

test('F6: a run of another skill, and of what is there no more, is none to begin with', () => {
	expect(presetOf(sampleExecution({ skillId: 'other/demo' }), skill)).toBeNull();
	expect(presetOf(sampleExecution({ script: 'scripts/gone.sh' }), skill)).toBeNull();
});

test.each([
	[
		'x.mjs',
		'#!/usr/bin/env node\n/** Draws a chart of a `CSV` file. It is fast. */\nimport "x";',
		'Draws a chart of a CSV file.'
	],
	['x.mjs', '// @ts-check\n// Draws a chart,\n// and more.\n\n// Another thought here.', 'Draws a chart, and more.'],
	['x.sh', '#!/bin/sh\n# x.sh - copies a folder\n# Usage: x.sh FROM TO\nset -e', 'copies a folder'],
	['x.sh', '#!/bin/sh\n# Exit on the first error\nset -e\n# Copies a folder', ''],
	[
		'x.py',
		'# -*- coding: utf-8 -*-\n# /// script\n# dependencies = ["a b c"]\n# ///\n"""\nCopyright 2026 by some people.\n\nReads all the tables.\n"""',
		'Reads all the tables.'
	],
	['x.py', 'import argparse\np = argparse.ArgumentParser(description="Joins two tables")', 'Joins two tables'],
	['x.py', 'import sys\n# Reads what it is given\nprint(1)', ''],
	['x.py', `"""${'word '.repeat(100)}"""`, '']
])('what %s says that it does, in a sentence, or nothing', (path, text, purpose) => {
	expect(purposeOf([{ path, bytes: text.length, text }], path)).toBe(purpose);
});
