import { expect, test } from 'vitest';
import { containerFailure, type ContainerStart } from './container.ts';
import type { LaunchResult } from './launch/launcher.ts';
import { failed } from './running.ts';

const start: ContainerStart = { runtime: { kind: 'docker' }, image: 'node:22-alpine', isForwarded: false };
const result = (exitCode: number, stderr: string): LaunchResult => ({ ...failed(''), ended: 'exit', exitCode, stderr });

test.each([
	`Unable to find image 'node:22-alpine' locally\ndocker: Error response from daemon: No such image: node:22-alpine.`,
	`docker: Error response from daemon: No such image: node:22-alpine\n\nRun 'docker run --help' for more information`,
	'Error: node:22-alpine: image not known'
])('D34: an image that is not there is recognised in what the clients say: %j', (words) => {
	expect(containerFailure(result(125, words), start)).toMatch(/isn’t on this computer.*docker pull node:22-alpine$/);
	expect(containerFailure(result(125, words), { ...start, runtime: { kind: 'podman' } })).toMatch(
		/podman pull docker\.io\/library\/node:22-alpine$/
	);
});
test.each([
	[1, 'ERROR (catatonit:2): failed to exec pid1: No such file or directory'],
	[127, '[FATAL tini (7)] exec ruby failed: No such file or directory'],
	[127, 'docker: Error response from daemon: failed to create task: exec: "ruby": executable file not found in $PATH']
])('D13: so is a program that the image lacks: %i, %j', (exitCode, words) => {
	expect(containerFailure(result(exitCode, words), start)).toBe(
		`The image node:22-alpine doesn’t have this program: ${words}`
	);
	expect(containerFailure(result(exitCode, words), { ...start, isForwarded: true })).toContain('has no Node.js');
});
test('D13: a client that could not start the container is not a script that failed', () => {
	const words = 'Error: runc: runc create failed: error setting rlimits: operation not permitted';
	expect(containerFailure(result(126, words), start)).toBe(words);
});
test.each([
	[125, 'no'],
	[126, 'sh: /tmp/x: Permission denied'],
	[127, 'sh: 1: ruby: not found'],
	[1, 'Error: wrong'],
	[0, 'docker: fine']
])('D13: exit code %i with %j is the script’s own', (exitCode, words) => {
	expect(containerFailure(result(exitCode, words), start)).toBeNull();
});
test('D10: what was ended is not taken for a failure to start', () => {
	expect(containerFailure({ ...result(125, 'Error: no such container'), ended: 'timeout' }, start)).toBeNull();
});
