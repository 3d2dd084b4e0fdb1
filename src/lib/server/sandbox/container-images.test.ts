import { describe, expect, test } from 'vitest';
import { allowedImages, fullImageName, imageOf, normalizeImage, type ContainerImages } from './container-arguments.ts';

const defaults: ContainerImages = { one: null, allowed: [] };

describe('D34: an image that is not on the list is refused', () => {
	test.each([
		'ubuntu:24.04',
		'',
		' ',
		'node',
		'node:22-alpine@sha256:0000',
		'node:22-alpine ubuntu',
		'evil.example/node:22-alpine',
		'--privileged',
		'NODE:22-alpine'
	])('%j', (image) => {
		expect(() => normalizeImage(image, allowedImages(defaults))).toThrow(
			/isn’t allowed\. Allowed: node:22-alpine, python:3\.12-alpine, alpine:3\.20\. Add more with SKILLS_ALLOWED_SANDBOX_IMAGES/
		);
	});
});

test('D34: the operator’s images are merged with the defaults, each once', () => {
	const images = { one: null, allowed: ['myorg/sandbox:1.0', 'node:22-alpine', 'docker.io/library/alpine:3.20'] };
	expect(allowedImages(images)).toEqual(['node:22-alpine', 'python:3.12-alpine', 'alpine:3.20', 'myorg/sandbox:1.0']);
	expect(normalizeImage(' myorg/sandbox:1.0 ', allowedImages(images))).toBe('myorg/sandbox:1.0');
});

test.each([
	['docker.io/library/node:22-alpine', 'node:22-alpine'],
	['index.docker.io/library/alpine:3.20', 'alpine:3.20'],
	['library/python:3.12-alpine', 'python:3.12-alpine']
])('D34: %s is another name of %s', (image, name) => {
	expect(normalizeImage(image, allowedImages(defaults))).toBe(name);
});

test('D34: an image without a tag is its latest, also behind a registry with a port', () => {
	const allowed = ['registry.example:5000/sandbox'];
	expect(normalizeImage('registry.example:5000/sandbox:latest', allowed)).toBe('registry.example:5000/sandbox:latest');
	expect(() => normalizeImage('registry.example:5000/sandbox:2', allowed)).toThrow('isn’t allowed');
});

test.each([
	['node', 'node:22-alpine'],
	['python3', 'python:3.12-alpine'],
	['python', 'python:3.12-alpine'],
	['/usr/bin/python3.12', 'python:3.12-alpine'],
	['sh', 'alpine:3.20'],
	['nodemon', 'alpine:3.20']
])('D30: %s runs in %s', (program, image) => {
	expect(imageOf(program, defaults)).toBe(image);
});

test('D34: one image for all takes the place of the others, and is allowed by being named', () => {
	const images = { one: 'localhost/mine', allowed: [] };
	expect(['node', 'python3', 'sh'].map((program) => imageOf(program, images))).toEqual(
		Array.from({ length: 3 }, () => 'localhost/mine:latest')
	);
});

test('the name for fetching has the registry in it', () => {
	expect(
		['node:22-alpine', 'myorg/sandbox:1.0', 'ghcr.io/x/y:1', 'localhost/x:latest', 'host:5000/x:1'].map(fullImageName)
	).toEqual([
		'docker.io/library/node:22-alpine',
		'docker.io/myorg/sandbox:1.0',
		'ghcr.io/x/y:1',
		'localhost/x:latest',
		'host:5000/x:1'
	]);
});
